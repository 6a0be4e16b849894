"""One sentence instead of git's or the disk's traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from loops.workspaces.engine_git import GitFailed
from loops.workspaces.values import Unusable


@contextmanager
def told(what: str) -> Iterator[None]:
    """No traceback of git's or the disk's reaches a person: Unusable with a sentence instead."""
    try:
        yield
    except GitFailed as error:
        raise Unusable(f"{what}: {error}.") from error
    except OSError as error:
        raise Unusable(f"{what}: {error.strerror or error} ({error.filename}).") from error
