"""The first run: agents found and tried, the repository, the first session."""

from __future__ import annotations

from loops import first_run, hosts, programs
from loops.adapters import KINDS, outside
from loops.agent_settings import CLIS, AgentConfig
from loops.engine.values import Fault
from loops.first_run import Repository, Team
from loops.independence import grade, mind
from loops.models import Agent, Program, Session
from loops.pages.settings import Tried
from loops.pages.welcome import FoundAgent, FoundPart, RepositoryStep, WelcomePage
from loops.reading import links
from loops.reading.agent import logins_there
from loops.reading.agents import version_words
from loops.reading.confined import confined
from loops.reading.judges import CHIPS
from loops.reading.trials import tried
from loops.trying import is_built_in
from loops.welcome_forms import GoalForm, RepositoryForm
from tracker import services as tracker
from tracker.models import Project
from tracker.pages.atoms import CheckLine, Chip, met, unmet
from tracker.pages.words import duration, plural

SHORT = 7
_SILENT = 30.0


def welcome_page(
    repository: RepositoryForm, goal: GoalForm, found: Repository | None = None
) -> WelcomePage:
    """found: what was seen in the folder that the form names, None before a look."""
    players, project = first_run.team(), newest_project()
    number = (Session.objects.order_by("-pk").values_list("pk", flat=True).first() or 0) + 1
    limits = first_run.config_of(players)["limits"] if players else {}
    can_start = players is not None and project is not None
    return WelcomePage(
        agents=found_part(),
        repository=_repository(repository, found, project),
        form=goal,
        ref=f"S-{number}",
        iterations=first_run.ITERATIONS,
        limits=_limits(has_money="money" in limits),
        players=_players(players),
        judged=_judged(players),
        before=_before(players),
        button=f"Start S-{number} on {project.name}" if can_start and project else "",
        why_not="" if can_start else _why_not(players),
        parts_url=links.WELCOME_PARTS,
        post_repository=links.REPOSITORY,
        post_start=links.FIRST_SESSION,
        demo=links.DEMO,
        index=links.INDEX,
    )


def _limits(*, has_money: bool) -> str:
    money = f", or ${first_run.MONEY}" if has_money else ""
    return f"or {first_run.HOURS} h{money}"


def newest_project() -> Project | None:
    """The one that the first session is about; the demo has a button of its own."""
    return Project.objects.exclude(name="demo").order_by("-pk").first()


# --- agents ----------------------------------------------------------------------------------


def found_part() -> FoundPart:
    found = programs.known()
    agents = [one for one in Agent.objects.order_by("pk") if not is_built_in(one)]
    rows = [_agent(one, found) for one in agents]
    taken = {one.adapter for one in agents}
    rows += [
        _program(found[name])
        for name in CLIS
        if name not in taken and name in found and found[name].path
    ]
    return FoundPart(
        rows=tuple(rows),
        is_done=any(row.tried.chip.tone == "ok" for row in rows),
        is_busy=not found or any(row.tried.is_under_way for row in rows),
        look=links.LOOK,
        add=f"{links.NEW_AGENT}?back={links.WELCOME}",
    )


def _agent(agent: Agent, found: dict[str, Program]) -> FoundAgent:
    version, warning = version_words(agent, found)
    kind, done = KINDS[agent.adapter], tried(agent)
    fault = (agent.trial or {}).get("fault", "")
    logins = logins_there(kind)
    return FoundAgent(
        key=agent.name,
        name=agent.name,
        version=version,
        warning=warning,
        tried=done,
        post=links.try_found(agent.name) if kind.is_cli else links.try_agent(agent.name),
        settings=f"{links.agent(agent.name)}?back={links.WELCOME}",
        hint=_hint(fault, kind.key) if done.has_failed else "",
        logins=", ".join(f"~/{one}" for one in logins),
        lends=bool(agent.settings.get("logins")),
    )


def _hint(fault: str, key: str) -> str:
    if fault != Fault.AUTH.value:
        return ""
    named = f" ({key})" if key else ""
    return f"Give it a key{named} or lend it your sign-in, or go on with another agent."


def _program(program: Program) -> FoundAgent:
    kind = KINDS[program.name]
    note = outside(program.version, kind.tested)
    chip = Chip("warn", "warn", f"{note[:1].upper()}{note[1:]}") if note else None
    not_yet = Tried(chip=chip or Chip("off", "queued", "Not tried"))
    return FoundAgent(
        key=program.name,
        name=kind.word,
        version=program.version or "version not known",
        warning="It can be used, but this version was not tested." if note else "",
        tried=not_yet,
        post=links.try_found(program.name),
        logins=", ".join(f"~/{one}" for one in logins_there(kind)),
    )


# --- repository ------------------------------------------------------------------------------


def _repository(
    form: RepositoryForm, found: Repository | None, project: Project | None
) -> RepositoryStep:
    if found is None and project is not None and not form.is_bound:
        needs = plural(len(tracker.requirements(project)), "requirement")
        check = f"checked by {project.check_command}" if project.check_command else "no check"
        return RepositoryStep(
            form=form,
            project=project.name,
            project_facts=f"{project.repo_path} · {needs} · {check}",
            spec=links.spec(project),
        )
    if found is None or found.refusal:
        return RepositoryStep(form=form)
    return RepositoryStep(
        form=form,
        facts=_facts(found),
        statements=len(found.statements),
        document=found.document,
        has_looked=True,
    )


def _facts(found: Repository) -> tuple[CheckLine, ...]:
    branch = f"Git, branch {found.branch}" if found.branch else "Git, no branch"
    lines = [CheckLine(tone="ok", icon="branch", text=branch, fact=found.head[:SHORT])]
    if found.checks:
        lines.append(CheckLine(tone="ok", icon="task", text="Tests found", fact=found.checks))
    else:
        lines.append(CheckLine(tone="off", icon="task", text="No tests recognised"))
    if found.document:
        count = f"{len(found.statements)} numbered"
        lines.append(CheckLine(tone="ok", icon="doc", text=found.document, fact=count))
    else:
        lines.append(CheckLine(tone="off", icon="doc", text="No REQUIREMENTS.md"))
    lines += [CheckLine(tone="warn", icon="warn", text=one) for one in found.warnings]
    return tuple(lines)


# --- start -----------------------------------------------------------------------------------


def _players(players: Team | None) -> tuple[tuple[str, str], ...]:
    if players is None:
        return (("Worker", "no agent answered yet"), ("Reviewer", "no agent answered yet"))
    both = (("Worker", players.worker), ("Reviewer", players.reviewer))
    return tuple((role, _who(agent)) for role, agent in both)


def _who(agent: Agent) -> str:
    return " · ".join(filter(None, (agent.name, agent.settings.get("model", ""))))


def _judged(players: Team | None) -> Chip | None:
    if players is None:
        return None
    made, judged = (
        mind(AgentConfig.model_validate(one.settings)) for one in (players.worker, players.reviewer)
    )
    return CHIPS[grade(made, judged)]


def _before(players: Team | None) -> tuple[CheckLine, ...]:
    age = hosts.age_seconds()
    if age is None or age > _SILENT:
        lines = [unmet("The engine does not run", sub="A session that is started waits for it.")]
    else:
        lines = [met("Engine runs", fact=duration(age))]
    if players is not None:
        both = {one.pk: one for one in (players.worker, players.reviewer)}.values()
        held = sum(confined(one.adapter).chip.tone == "ok" for one in both)
        if held == len(both):
            lines.append(met("Agents are confined", fact=f"{held} of {len(both)}"))
        else:
            sub = "An agent could act as you: no sandbox works on this machine."
            lines.append(CheckLine(
                tone="warn", icon="warn", text="Agents are not confined",
                fact=f"{held} of {len(both)}", sub=sub,
            ))  # fmt: skip
    return tuple(lines)


def _why_not(players: Team | None) -> str:
    return "Make a project first (step 2)" if players else "Try an agent first (step 1)"
