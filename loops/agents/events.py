"""What a coding CLI says while it works, in one language for all of them (AGENTS.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    INIT = "init"
    TEXT = "text"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    RETRY = "retry"
    USAGE = "usage"
    ERROR = "error"
    DONE = "done"
    RAW = "raw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or several requests to one model. input: cached ones included. output:
    reasoning included. reported: dollars by the CLI's own table, None where it names none."""

    model: str
    input: int
    output: int
    cached: int = 0
    reasoning: int = 0
    reported: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened.

    text: speech; a tool's name and what it was asked, on a line; a result's text; an error's or a
    retry's sentence; for RAW the line itself. conversation: what resumes it (INIT). ok: of
    TOOL_RESULT and DONE. status: the HTTP status that an ERROR or RETRY names, 0 if none.
    wait_seconds: until the CLI tries again (RETRY), or until the service wants to be asked again
    (ERROR). resets_at: of a usage limit, seconds since the epoch, where an event names it as a
    number.
    """

    kind: Kind
    text: str = ""
    conversation: str = ""
    model: str = ""
    ok: bool = True
    status: int = 0
    wait_seconds: float | None = None
    resets_at: float | None = None
    usage: Usage | None = None
