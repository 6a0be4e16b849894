"""New session: the form, and beside it the proven bound and preflight (loops/new_session.html)."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm

from tracker.pages.atoms import CheckLine, Chip, Empty


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundPart:
    """The proven bound (part loops/_bound.html). number: at most so many of `unit`, such as
    "iteration"; formula: how it comes about; rows: what follows from it, such as time at most."""

    number: int
    unit: str
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
class TemplatesPart:
    """What was kept of earlier set-ups. names: to choose from. name: the one that is loaded, or the
    one that is typed to save under. error: why it was not saved. notes: what of the loaded one is
    not there any more. may_delete: it can be deleted from here; asks: that was begun."""

    names: tuple[str, ...] = ()
    name: str = ""
    typed: str = ""
    error: str = ""
    notes: tuple[str, ...] = ()
    may_delete: bool = False
    asks: bool = False
    save: str = ""
    load: str = ""
    delete: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunPart:
    """What a start would do (part loops/_dry_run.html); nothing was started.

    first: the directive that comes first, in words; rule: its number. asks: the question that is
    put to a person before it. roles: (who, command line) of the frozen configuration; settings:
    (name, value) of the rest. prompt: what `reader` would read.
    """

    first: str
    rule: str
    reader: str
    prompt: str
    roles: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    asks: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSessionPage:
    """ends: how such a session can end. family: lines about who judges whom. preview: URL of bound
    and preflight for the form as it stands. look: what the preflight found, signed, so that it
    stays with the form. new_agent: where agents are added. dry_run: URL; rehearsed: its result."""

    form: BaseForm
    post: str
    preview: str
    index: str
    bound: BoundPart
    preflight: PreflightPart
    ends: tuple[Chip, ...]
    family: tuple[CheckLine, ...] = ()
    templates: TemplatesPart = TemplatesPart()
    dry_run: str = ""
    rehearsed: DryRunPart | None = None
    look: str = ""
    new_agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSessionPage:
    """The same page where a session cannot be made yet: no project, or no agent."""

    index: str
    empty: Empty
