"""The last prompt of each role, kept once however many iterations read the same."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from loops import statements
from loops.engine.values import Role


class Brief(NamedTuple):
    text: str
    digest: str


class Briefs:
    """Roles take turns, and each often reads what it read last time."""

    def __init__(self) -> None:
        self._last: dict[Role, Brief] = {}

    def keep(self, role: Role, text: str) -> Brief:
        """In the claim's transaction: the text is a row afterwards."""
        brief = self._last.get(role)
        if brief is None or brief.text != text:
            brief = self._last[role] = Brief(text, sha256(text.encode()).hexdigest())
            statements.keep_prompt(brief.digest, text)
        return brief

    def text(self, role: Role) -> str:
        return self._last[role].text
