"""New session: the form, and beside it the proven bound and preflight (loops/new_session.html)."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm

from tracker.pages.atoms import CheckLine, Chip, Empty


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundPart:
    """The proven bound (part loops/_bound.html). number: iterations at most; formula: how it comes
    about; rows: what follows from it, such as reviews and time at most."""

    number: int
    formula: str
    rows: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightPart:
    """What was looked at before the start (part loops/_preflight.html).

    failed_command and tail: a check that fails at base, its last 20 lines. button: what starting
    does ("Start", "Queue behind S-41"); can_start False: refused, the lines say why.
    """

    lines: tuple[CheckLine, ...]
    button: str
    can_start: bool = True
    failed_command: str = ""
    tail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSessionPage:
    """ends: how such a session can end. family: a line about the model families of worker and
    reviewer. preview: URL of bound and preflight for the form as it stands. look: what the
    preflight found, signed, so that it stays with the form. new_agent: where agents are added."""

    form: BaseForm
    post: str
    preview: str
    index: str
    bound: BoundPart
    preflight: PreflightPart
    ends: tuple[Chip, ...]
    family: CheckLine | None = None
    look: str = ""
    new_agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSessionPage:
    """The same page where a session cannot be made yet: no project, or no agent."""

    index: str
    empty: Empty


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAgentPage:
    """loops/new_agent.html. back: the page that it was opened from."""

    form: BaseForm
    post: str
    index: str
    back: str = ""
