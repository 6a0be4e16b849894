"""The way from nothing to a first session: what a repository holds, a project of it, who plays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from loops import agent_services, ledger
from loops.agent_settings import CLIS, AgentConfig
from loops.configuration import parse
from loops.independence import ORDER, grade, mind
from loops.models import Agent, Session
from loops.trying import is_built_in
from loops.workspaces import look
from loops.workspaces.source import Source
from tracker import services as tracker
from tracker.errors import Conflict, Invalid
from tracker.models import Project
from tracker.services import By

ITERATIONS, HOURS, MONEY = 20, 2, 10
MOST_STATEMENTS, LONGEST_STATEMENT = 200, 4000
_DOCUMENTS = ("REQUIREMENTS.md", "requirements.md", "SPEC.md", "docs/REQUIREMENTS.md")
_ITEM = re.compile(r"^ {0,3}(?:\d{1,3}[.)]|[-*]?\s*R-?\d{1,3}[:.])\s+(?P<text>\S.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """What a look at a folder found. refusal: why no project can be made of it, then the rest is
    empty. checks: how its tests seem to be run, "" if nothing says so. document: which file holds
    numbered statements; warnings: as of the preflight."""

    path: Path
    refusal: str = ""
    head: str = ""
    branch: str = ""
    checks: str = ""
    document: str = ""
    statements: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def is_empty() -> bool:
    """Whether there is nothing to come back to yet: neither a project nor a session."""
    return not (Project.objects.exists() or Session.objects.exists())


def inspect(text: str) -> Repository:
    """Look at a folder without running anything of it."""
    path = Path(text.strip() or ".")
    try:
        path = path.expanduser()
        if not path.is_absolute():
            return Repository(
                path=path, refusal=f"{path} is not a full path; it begins with / or ~."
            )
        path = path.resolve()
        found = look(path)
    except (OSError, RuntimeError, ValueError) as fault:
        words = str(getattr(fault, "strerror", "") or fault).lower() or type(fault).__name__
        return Repository(path=path, refusal=f"{path} cannot be read: {words}.")
    if found.refusals:
        return Repository(path=path, refusal=" ".join(found.refusals))
    source = Source(path)
    document, statements = _statements(source)
    return Repository(
        path=path,
        head=found.head,
        branch=source.text("symbolic-ref", "-q", "--short", "HEAD"),
        checks=_checks(source),
        document=document,
        statements=statements,
        warnings=found.warnings,
    )


def _statements(source: Source) -> tuple[str, tuple[str, ...]]:
    for name in _DOCUMENTS:
        if text := source.text("show", f"HEAD:{name}"):
            return name, statements_in(text)
    return "", ()


def statements_in(text: str) -> tuple[str, ...]:
    """The numbered items of a document ("1. ...", "R-1: ..."), each with the lines that go on with
    it."""
    found: list[list[str]] = []
    is_open = False
    for line in text.splitlines():
        if item := _ITEM.match(line):
            found.append([item["text"]])
            is_open = True
        elif is_open and line[:1] in (" ", "\t") and line.strip():
            found[-1].append(line.strip())
        else:
            is_open = False
    every = ("\n".join(lines)[:LONGEST_STATEMENT] for lines in found)
    return tuple(every)[:MOST_STATEMENTS]


def _checks(source: Source) -> str:
    names = set(source.text("ls-tree", "--name-only", "HEAD").splitlines())
    if names & {"pytest.ini", "conftest.py", "tox.ini"} or _names_pytest(source, names):
        return "python -m pytest -q"
    if "package.json" in names and _npm_tests(source):
        return "npm test"
    for file, command in (("Cargo.toml", "cargo test"), ("go.mod", "go test ./...")):
        if file in names:
            return command
    makefile = source.text("show", "HEAD:Makefile") if "Makefile" in names else ""
    return "make test" if re.search(r"^test\s*:", makefile, re.M) else ""


def _names_pytest(source: Source, names: set[str]) -> bool:
    held = [name for name in ("pyproject.toml", "setup.cfg") if name in names]
    return any("pytest" in source.text("show", f"HEAD:{name}") for name in held)


def _npm_tests(source: Source) -> bool:
    try:
        scripts = json.loads(source.text("show", "HEAD:package.json"))["scripts"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    said = str(scripts.get("test", "")) if isinstance(scripts, dict) else ""
    return bool(said) and "no test specified" not in said


def make_project(found: Repository, *, name: str, check: str, takes_over: bool, by: By) -> Project:
    """A project of the repository; takes_over: its statements become requirements R-1, R-2 ..."""
    with transaction.atomic():
        project = tracker.create_project(
            name=name, repo_path=str(found.path), check_command=check, by=by
        )
        for text in found.statements if takes_over else ():
            document = Path(found.document).stem.lower()
            tracker.edit_requirement(project, None, text=text, document=document, by=by)
    return project


def free_name(path: Path) -> str:
    """A name for a project of that folder."""
    name = re.sub(r"[^a-z0-9_-]+", "-", path.name.lower()).strip("-_")[:50] or "project"
    if not Project.objects.filter(name=name).exists():
        return name
    taken = Project.objects.filter(name__startswith=name).count()
    return f"{name}-{taken + 1}"


# --- who plays -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Team:
    worker: Agent
    reviewer: Agent


def team() -> Team | None:
    """Who plays in the first session: role defaults, else agents that answered, the reviewer as far
    from the worker as there is one. None without an agent that answered."""
    ready = [agent for agent in _with_tools() if (agent.trial or {}).get("state") == "answered"]
    if not ready:
        return None
    named = {agent.name: agent for agent in ready}
    proposed = agent_services.proposals()
    worker = named.get(proposed.get("worker", ""), ready[0])
    reviewer = named.get(proposed.get("reviewer", "")) or _furthest(worker, ready)
    return Team(worker, reviewer)


def _with_tools() -> Sequence[Agent]:
    """In the order in which they were added: what cannot act on a repository plays no part here."""
    agents = Agent.objects.filter(adapter__in=(*CLIS, "command")).order_by("pk")
    return [agent for agent in agents if not is_built_in(agent)]


def _furthest(worker: Agent, ready: Sequence[Agent]) -> Agent:
    made_by = mind(_settings(worker))
    return min(ready, key=lambda one: ORDER.index(grade(made_by, mind(_settings(one)))))


def _settings(agent: Agent) -> AgentConfig:
    return AgentConfig.model_validate(agent.settings)


def config_of(players: Team) -> dict[str, Any]:
    """Worker and reviewer with small limits; money only where all of it is priced."""
    config: dict[str, Any] = {
        "pattern": "single_thread",
        "agents": {"worker": players.worker.settings, "reviewer": players.reviewer.settings},
        "limits": {"iterations": ITERATIONS, "wall_seconds": HOURS * 3600, "no_progress": 6},
    }
    if ledger.are_priced(parse(config)):
        config["limits"]["money"] = MONEY
    return config


def refuse_unready(project: Project | None, players: Team | None) -> None:
    """Raises Conflict or Invalid with what to do first."""
    if players is None:
        raise Conflict("No agent has answered yet: try one first (step 1).")
    if project is None:
        raise Invalid("There is no project yet: look at a repository first (step 2).")
