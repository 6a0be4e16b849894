"""First run: three steps, then a loop runs (templates/loops/welcome.html)."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm

from loops.pages.settings import Tried
from tracker.pages.atoms import CheckLine, Chip


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAgent:
    """A coding CLI of this machine, or an agent that is there already. post: tries it, and makes
    it an agent first. logins: sign-in files that may be lent to it. hint: the way on after a fault.
    """

    key: str
    name: str
    version: str
    tried: Tried
    post: str
    settings: str = ""
    warning: str = ""
    hint: str = ""
    logins: str = ""
    lends: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPart:
    """Step 1 (part loops/_found_agents.html). add: where any other agent is added."""

    rows: tuple[FoundAgent, ...]
    is_done: bool
    is_busy: bool
    look: str
    add: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryStep:
    """form: the path; with what was found also name, check and what is taken over. project: the one
    that was made, "" before."""

    form: BaseForm
    facts: tuple[CheckLine, ...] = ()
    statements: int = 0
    document: str = ""
    project: str = ""
    project_facts: str = ""
    spec: str = ""
    has_looked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WelcomePage:
    """ref: of the session that comes first. players: (role, who); judged: how far apart they are.
    button: what the start does, "" while it cannot. parts_url, and posts of the three steps."""

    agents: FoundPart
    repository: RepositoryStep
    form: BaseForm
    ref: str
    iterations: int
    limits: str
    players: tuple[tuple[str, str], ...]
    before: tuple[CheckLine, ...]
    parts_url: str
    post_repository: str
    post_start: str
    demo: str
    index: str
    judged: Chip | None = None
    button: str = ""
    why_not: str = ""
