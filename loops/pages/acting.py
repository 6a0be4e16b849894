"""What a person can do to a session from its page: commands, second steps, delivery."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm

from tracker.pages.atoms import Act, CheckLine, Chip


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A button that posts. word: "Pause"; more: "after 58"; key: its single key."""

    post: str
    word: str
    icon: str
    more: str = ""
    key: str = ""
    title: str = ""
    primary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StopStep:
    """The second step before a stop, naming the object: what is cut off, what stays."""

    post: str
    question: str
    sentence: str
    lines: tuple[CheckLine, ...]
    form: BaseForm
    button: str
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveStep:
    """The second step before a session goes on on another host."""

    post: str
    question: str
    sentence: str
    form: BaseForm
    button: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionsPart:
    """commands: what the state allows now (pause, resume, step). stop: None when it has ended.
    move: None while it has to stay on its host."""

    commands: tuple[Command, ...] = ()
    links: tuple[Act, ...] = ()
    stop: StopStep | None = None
    move: MoveStep | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRow:
    """One try to hand the result over. said: words of the remote or of the command."""

    chip: Chip
    text: str
    fact: str
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushStep:
    """The second step before a push, naming the object."""

    post: str
    question: str
    sentence: str
    form: BaseForm
    button: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverPart:
    """Handing over what an ended session leaves. label: what it is worth ("Proved."). command: the
    stored pull-request command, "" = none. reason_not: why nothing can be delivered. push,
    pull_request, patch: None for who may only look."""

    branch: str
    commit: str
    label: str
    reason_not: str = ""
    command: str = ""
    push: PushStep | None = None
    pull_request: Command | None = None
    patch: Command | None = None
    rows: tuple[DeliveryRow, ...] = ()
