"""The queue and one question in it (templates/escalations/list.html, detail.html)."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm
from django.forms.boundfield import BoundField

from loops.engine.values import Choice
from loops.pages.judging import Matrix
from loops.pages.output import DiffPart, LogPart
from tracker.pages.atoms import CheckLine, Chip, Empty, Filter, Link


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """waited: chip with how long it has waited, or how it was decided. facts: project, session."""

    ref: str
    title: str
    kind: str
    href: str
    waited: Chip
    facts: str
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class QueueFact:
    """A figure of the head: value before or after its words ("5 open", "oldest 7 h")."""

    value: str
    after: str = ""
    before: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePart:
    facts: tuple[QueueFact, ...]
    filters: tuple[Filter, ...]
    items: tuple[QueueItem, ...]
    open_count: int
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A decision offered for this kind (RULES 6). why: what it will do to the loop. page: where it
    is made, if on a page of its own.

    button: the words of the one button when it is chosen; in them "{}" stands for the number typed.
    button_none: its words when that number is 0. growth: how far the bound grows with it.
    """

    choice: Choice
    word: str
    why: str
    button: str
    key: str = ""
    reason_not: str = ""
    growth: str = ""
    button_none: str = ""
    page: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionFields:
    """An option with its bound fields, as the template writes it down."""

    option: Option
    is_chosen: bool
    amount: BoundField | None
    disposition: BoundField | None
    requirement: BoundField | None
    document: BoundField | None
    text: BoundField | None
    attempts: BoundField | None = None
    worker: BoundField | None = None
    agents: tuple[BoundField, ...] = ()
    limits: tuple[BoundField, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The final word, once there is one. void: the session ended first, nobody decided. details:
    what was given or changed with it."""

    word: str
    by: str
    when: str
    text: str = ""
    taken_up: str = ""
    is_void: bool = False
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequirementText:
    key: str
    title: str
    version: int
    lines: tuple[tuple[str, str], ...]
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPart:
    """question: the sentence asked; why: why it came to a person; effect: what waits meanwhile.

    evidence sections are shown in this order when they are there: matrix, checks, entry,
    requirements, diff, log. version: of the evidence, named in the decision. shown: what the diff
    is of ("attempt 3 by coder").
    """

    ref: str
    kind: str
    question: str
    why: str
    effect: str
    session: Link
    meta: tuple[str, ...]
    waited: Chip
    version: int
    post: str
    options: tuple[Option, ...] = ()
    form: BaseForm | None = None
    checks: tuple[CheckLine, ...] = ()
    entry: Link | None = None
    entry_text: str = ""
    matrix: Matrix | None = None
    shown: str = ""
    diff: DiffPart | None = None
    requirements: tuple[RequirementText, ...] = ()
    log: LogPart | None = None
    decided: Decided | None = None

    @property
    def choices(self) -> tuple[OptionFields, ...]:
        """The options, each with the fields that the form has for it."""
        if self.form is None:
            return ()
        chosen = self.form["choice"].value()
        return tuple(_with_fields(option, self.form, chosen) for option in self.options)


def _with_fields(option: Option, form: BaseForm, chosen: str | None) -> OptionFields:
    def field(name: str) -> BoundField | None:
        full = f"{name}_{option.choice}"
        return form[full] if full in form.fields else None

    def group(kind: str) -> tuple[BoundField, ...]:
        first, last = f"{kind}_", f"_{option.choice}"
        return tuple(
            form[one] for one in form.fields if one.startswith(first) and one.endswith(last)
        )

    return OptionFields(
        option=option,
        is_chosen=chosen == option.choice.value,
        amount=field("amount"),
        disposition=field("disposition"),
        requirement=field("requirement"),
        document=field("document"),
        text=field("text"),
        attempts=field("attempts"),
        worker=field("worker"),
        agents=group("agent"),
        limits=group("limit"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a person was about to decide when somebody was faster (409); kept, never applied."""

    word: str
    text: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePage:
    """question: None on the list alone. empty: nobody waits. draft: shown beside the decision.

    parts_url: base of the parts of a question's page.
    """

    queue: QueuePart
    question: QuestionPart | None = None
    empty: Empty | None = None
    draft: Draft | None = None
    evidence_changed: str = ""
    parts_url: str = ""
