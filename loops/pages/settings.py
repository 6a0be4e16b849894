"""Settings: agents and prices, one agent, prices, one secret (templates/loops/settings/)."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm

from tracker.pages.atoms import CheckLine, Chip, Link


@dataclass(frozen=True, slots=True)
class Entry:
    """A page of the settings, in the list at the left; only pages that exist."""

    word: str
    icon: str
    href: str
    is_current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """How the last try went. chip: in a word; sub: time and age. sentence: of the fault, or what
    it used. lines: what the agent did and said, readable. is_under_way: it is being tried now."""

    chip: Chip
    sub: str = ""
    sentence: str = ""
    lines: tuple[str, ...] = ()
    is_under_way: bool = False
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class Confined:
    """What confines an agent: in a word, and in a sentence."""

    chip: Chip
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRow:
    """version: "2.1.332, in range"; warning: how it lies outside the range. used: where it plays.
    post: tries it, "" where that makes no sense."""

    name: str
    href: str
    version: str
    used: str
    tried: Tried
    confined: Confined
    warning: str = ""
    post: str = ""


@dataclass(frozen=True, slots=True)
class Unused:
    """A coding CLI that was found here and that no agent uses yet."""

    word: str
    version: str
    warning: str
    add: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsPart:
    """The list (part loops/settings/_agents.html), drawn anew when a try ends. looked: when it was
    looked for programs; is_busy: something is under way."""

    rows: tuple[AgentRow, ...]
    unused: tuple[Unused, ...]
    looked: str
    is_busy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRow:
    """note: instead of prices, "subscription, not priced"."""

    model: str
    family: str
    input: str = ""
    cached: str = ""
    output: str = ""
    note: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRow:
    name: str
    users: str
    set: str
    used: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRow:
    """who: the judge, and where; models: "gpt-5.5 over opus-4.8"."""

    who: str
    models: str
    chip: Chip
    sub: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsPage:
    """summary: how many can work. source: name of the price table; can_take: some agent names a
    model. may_read: (role, what it is shown)."""

    entries: tuple[Entry, ...]
    summary: str
    agents: AgentsPart
    roles: BaseForm
    prices: tuple[PriceRow, ...]
    source: str
    secrets: tuple[SecretRow, ...]
    judges: tuple[JudgeRow, ...]
    changes: tuple[CheckLine, ...]
    may_read: tuple[tuple[str, str], ...]
    parts_url: str
    add: str
    look: str
    propose: str
    change_prices: str
    take_prices: str
    add_secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterChoice:
    """An adapter on the form of an agent. found: what of its program was found here."""

    name: str
    word: str
    found: str
    is_there: bool
    logins: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPage:
    """loops/settings/agent.html: a new agent, or one that is there (then name is not ""). back: the
    page that it was opened from. asks: removing was begun."""

    form: BaseForm
    post: str
    crumbs: tuple[Link, ...]
    adapters: tuple[AdapterChoice, ...]
    name: str = ""
    back: str = ""
    tried: Tried | None = None
    try_post: str = ""
    confined: Confined | None = None
    used: str = ""
    remove: str = ""
    asks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PricesPage:
    """loops/settings/prices.html. rows: (model, family, since, fields of the form)."""

    form: BaseForm
    post: str
    take: str
    source: str
    crumbs: tuple[Link, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPage:
    """loops/settings/secret.html: a new secret, or another value for one. users: which agents name
    it: while there are any it is not removed."""

    form: BaseForm
    post: str
    crumbs: tuple[Link, ...]
    name: str = ""
    users: tuple[str, ...] = ()
    remove: str = ""
    asks: bool = False
