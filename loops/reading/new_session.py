"""The form of a new session: its choices, the proven bound and what was seen before the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet

from loops import agent_services
from loops.agent_settings import AgentConfig
from loops.engine.values import Pattern, State
from loops.independence import Grade, Mind, mind
from loops.models import Agent, Session
from loops.pages.new_session import NewSessionPage, PreflightPart
from loops.pages.states import POSSIBLE_ENDS, end_chip
from loops.reading import confined, links
from loops.reading.bound import bound_part
from loops.reading.judges import CHIPS, sentence
from loops.session_forms import NewSessionForm
from tracker import services as tracker
from tracker.models import Project
from tracker.pages.atoms import CheckLine, met, unmet
from tracker.pages.words import duration, plural

SHORT = 7
MOST_PROPOSED = 5


def new_session_form(
    projects: QuerySet[Project],
    project: Project,
    data: Mapping[str, Any] | None = None,
    initial: Mapping[str, Any] | None = None,
) -> NewSessionForm:
    """projects: where the person may start one. project: whose requirements can be chosen."""
    needs = [one for one in tracker.requirements(project) if not one.session_ref]
    documents = sorted({one.document for one in needs if one.document})
    stored = dict(Agent.objects.order_by("name").values_list("name", "settings"))
    agents = list(stored)
    return NewSessionForm(
        data,
        projects=[(one.name, one.name) for one in projects],
        bases=[("", "HEAD of the repository")],
        agents=[(name, name) for name in agents],
        documents=[(one, f"{one}, {_count(needs, one)}") for one in documents],
        requirements=[(one.key, f"{one.key} {_first_line(one.current.text)}") for one in needs],
        minds={name: _mind(name, settings) for name, settings in stored.items()},
        initial={"project": project.name, **_first_agents(agents), **(initial or {})},
    )


def _mind(name: str, settings: dict[str, Any]) -> Mind:
    """Two agents are one only if they are the same stored one."""
    return replace(mind(AgentConfig.model_validate(settings)), agent=name)


def _count(needs: list[Any], document: str) -> str:
    return plural(sum(one.document == document for one in needs), "requirement")


def _first_line(text: str) -> str:
    first = text.strip().splitlines()[0]
    return first if len(first) <= 70 else f"{first[:69]}…"


def _first_agents(names: list[str]) -> dict[str, Any]:
    """The agents that people chose for the roles; else those whose name says their role; else the
    first. A coach only where one was chosen or says so."""
    chosen = agent_services.proposals()

    def named(*words: str) -> list[str]:
        picked = [chosen[word] for word in words if word in chosen]
        return picked or [name for name in names if any(word in name for word in words)]

    first = names[:1] or [""]
    workers = named("worker")[:MOST_PROPOSED] or first
    verifiers = named("verifier")[:MOST_PROPOSED] or named("reviewer")[:1] or first
    return {
        "worker": workers[0],
        "reviewer": (named("reviewer") or first)[0],
        "coach": (named("coach") or [""])[0],
        "thinker": (named("thinker") or first)[0],
        "maker": (named("maker") or workers)[0],
        "pool": _rows(workers, "worker"),
        "verifiers": _rows(verifiers, "verifier"),
    }


def _rows(agents: list[str], what: str) -> list[dict[str, Any]]:
    """One agent plays under the role's name, several under their own."""
    names = [what] if len(agents) == 1 else agents
    return [{"name": name, "agent": agent} for name, agent in zip(names, agents, strict=True)]


def new_session_page(
    form: NewSessionForm,
    project: Project,
    *,
    look: Mapping[str, Any] | None,
    token: str = "",
) -> NewSessionPage:
    """look: what was found in the repository, None = not looked yet. token: the same, signed."""
    return NewSessionPage(
        form=form,
        post=links.NEW_SESSION,
        preview=links.PREVIEW,
        index=links.INDEX,
        bound=bound_part(form),
        preflight=_preflight(form, project, look),
        ends=tuple(replace(end_chip(end), loud=False) for end in POSSIBLE_ENDS[form.pattern_now]),
        family=independence(form),
        look=token,
        new_agent=links.NEW_AGENT,
        dry_run=links.DRY_RUN,
    )


def _preflight(
    form: NewSessionForm, project: Project, look: Mapping[str, Any] | None
) -> PreflightPart:
    """With what confines each agent that was chosen."""
    found = preflight_part(project, look, form.pattern_now)
    adapters = dict(Agent.objects.filter(name__in=form.chosen).values_list("name", "adapter"))
    lines = tuple(confined.line(name, adapters[name]) for name in form.chosen if name in adapters)
    return replace(found, lines=(*found.lines, *lines)) if found.can_start else found


def independence(form: NewSessionForm) -> tuple[CheckLine, ...]:
    """Who judges whom, by the families of their models; the strongest is said too."""
    lines = []
    for pair in form.pairs:
        if text := sentence(pair):
            chip = CHIPS[pair.grade]
            is_odd = pair.grade is Grade.UNKNOWN
            lines.append(CheckLine(
                tone="warn" if is_odd else chip.tone,
                icon="warn" if is_odd else chip.icon,
                text=text,
            ))  # fmt: skip
    return tuple(lines)


def preflight_part(
    project: Project, look: Mapping[str, Any] | None, pattern: Pattern = Pattern.SINGLE_THREAD
) -> PreflightPart:
    """look: the plain values of loops.workspaces.Preflight."""
    ahead = Session.objects.filter(project=project, holds_project=True).first() or (
        Session.objects.filter(project=project, state=State.QUEUED.value).order_by("pk").first()
    )
    button = f"Queue behind {ahead.ref}" if ahead else "Start"
    queue = (_behind(ahead),) if ahead else ()
    if look is None:
        unseen = CheckLine(
            tone="off", icon="queued", text="Not looked at yet",
            sub="Start looks at the repository first. Look now to see what it finds.",
        )  # fmt: skip
        return PreflightPart(lines=(unseen, *queue), button=button)
    if look["refusals"]:
        lines = tuple(unmet(sentence) for sentence in look["refusals"])
        return PreflightPart(lines=lines, button="Not ready to start", can_start=False)
    failed = next((ran for ran in _ran(look) if ran["exit_code"] != 0), None)
    return PreflightPart(
        lines=(*_found(project, look, pattern), *queue),
        button=button,
        failed_command=failed["command"] if failed else "",
        tail=failed["tail"] if failed else "",
    )


def _behind(ahead: Session) -> CheckLine:
    return CheckLine(
        tone="warn", icon="clock", text=f"{ahead.ref} holds this project",
        sub=f"This session starts when {ahead.ref} ends.",
    )  # fmt: skip


def _ran(look: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [ran for ran in (look.get("prepare"), look.get("check")) if ran]


def _found(project: Project, look: Mapping[str, Any], pattern: Pattern) -> list[CheckLine]:
    judge = "reviewer" if pattern is Pattern.SINGLE_THREAD else "verifier"
    maker = "maker" if pattern is Pattern.MAKER_VERIFIER else "worker"
    lines = [met("The repository can be read", fact=look["head"][:SHORT])]
    lines += [_command(name, look[name], maker) for name in ("prepare", "check") if look.get(name)]
    if not project.check_command:
        sub = f"The {judge} judges by reading and running what it finds."
        lines.append(CheckLine(tone="off", icon="stall", text="No check command is set", sub=sub))
    lines += [CheckLine(tone="warn", icon="warn", text=text) for text in look["warnings"]]
    if look["instruction_files"]:
        names = ", ".join(look["instruction_files"])
        sub = f"The prompt says that the loop's rules win. The {judge} does not load it."
        lines.append(CheckLine(tone="off", icon="doc", text=f"The {maker} loads {names}", sub=sub))
    if look["leftovers"]:
        names = ", ".join(look["leftovers"][:5])
        sub = f"Accept them in the project, or the {maker} has to commit or remove them."
        lines.append(
            CheckLine(tone="warn", icon="doc", text=f"Checks leave {names} behind", sub=sub)
        )
    return lines


def _command(name: str, ran: Mapping[str, Any], maker: str) -> CheckLine:
    if ran["exit_code"] == 0:
        return met(f"{name} ran", fact=duration(ran["seconds"]))
    code = "cut off" if ran["exit_code"] is None else f"exit {ran['exit_code']}"
    sub = f"These failures are shown apart and do not count against the {maker}."
    return CheckLine(
        tone="warn", icon="warn", text=f"{name} fails at the base already", fact=code, sub=sub
    )
