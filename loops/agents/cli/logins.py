"""Sign-ins that a person consented to lend: files of the person's HOME, copied into an agent's.

A CLI renews its sign-in while it works and thereby ends the old one, so what it renewed goes back,
unless the person's own file changed meanwhile: that one is newer and stays. The lock is held while
files are copied, not while agents run.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loops.agents.cli import homes

_SHORTEST_TOKEN = 12  # characters: what is shorter is a word such as "oauth"


@dataclass(frozen=True, slots=True, kw_only=True)
class Logins:
    """names: relative to `person`, the HOME they belong to. lock: a file of ours."""

    person: Path
    names: Sequence[str]
    lock: Path

    def values(self) -> tuple[str, ...]:
        """What the files hold and no output may show."""
        found: list[str] = []
        for name in self.names:
            data = homes.read(self.person, name)
            found += _tokens(data) if data else []
        return tuple(dict.fromkeys(found))

    @contextlib.contextmanager
    def lent(self, home: Path) -> Iterator[None]:
        """In `home` while the call runs. Raises OSError where a file cannot be copied."""
        with self._locked():
            lent = {name: homes.read(self.person, name) for name in self.names}
        for name, data in lent.items():
            if data is not None:
                homes.write(home, name, data)
        try:
            yield
        finally:
            self._take_back(home, lent)

    def _take_back(self, home: Path, lent: Mapping[str, bytes | None]) -> None:
        with self._locked():
            for name, data in lent.items():
                new = homes.read(home, name)
                is_renewed = data is not None and new is not None and new != data
                if is_renewed and homes.read(self.person, name) == data and _is_like(new, data):
                    homes.write(self.person, name, new)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        handle = os.open(self.lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _is_like(new: bytes | None, old: bytes | None) -> bool:
    """An agent can write into its HOME: only a sign-in of the same form goes back."""
    one, other = _json(new), _json(old)
    return isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys()


def _json(data: bytes | None) -> Any:
    try:
        return json.loads(data or b"")
    except (ValueError, RecursionError):
        return None


def _tokens(data: bytes) -> list[str]:
    """Long texts of a JSON file, or the whole of another one."""
    value = _json(data)
    if value is None:
        return [data.decode("utf-8", "replace").strip()]
    return [text for text in _texts(value) if len(text) >= _SHORTEST_TOKEN]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
