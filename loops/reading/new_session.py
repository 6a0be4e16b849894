"""The form of a new session: its choices, the proven bound and what was seen before the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet

from loops.engine.bounds import worst_case
from loops.engine.values import Pattern, State
from loops.forms import NewSessionForm
from loops.models import Agent, Session
from loops.pages.new_session import BoundPart, NewSessionPage, PreflightPart
from loops.pages.states import POSSIBLE_ENDS, end_chip
from loops.reading import links
from tracker import services as tracker
from tracker.models import Project
from tracker.pages.atoms import CheckLine, met, unmet
from tracker.pages.words import duration, plural

SHORT = 7
_DEFAULTS = {"iterations": 40, "hours": 8, "no_progress": 6, "review_every": 3}


def new_session_form(
    projects: QuerySet[Project],
    project: Project,
    data: Mapping[str, Any] | None = None,
    initial: Mapping[str, Any] | None = None,
) -> NewSessionForm:
    """projects: where the person may start one. project: whose requirements can be chosen."""
    needs = [one for one in tracker.requirements(project) if not one.session_ref]
    documents = sorted({one.document for one in needs if one.document})
    agents = Agent.objects.order_by("name").values_list("name", flat=True)
    return NewSessionForm(
        data,
        projects=[(one.name, one.name) for one in projects],
        bases=[("", "HEAD of the repository")],
        agents=[(name, name) for name in agents],
        documents=[(one, f"{one}, {_count(needs, one)}") for one in documents],
        requirements=[(one.key, f"{one.key} {_first_line(one.current.text)}") for one in needs],
        initial={"project": project.name, **_first_agents(list(agents)), **(initial or {})},
    )


def _count(needs: list[Any], document: str) -> str:
    return plural(sum(one.document == document for one in needs), "requirement")


def _first_line(text: str) -> str:
    first = text.strip().splitlines()[0]
    return first if len(first) <= 70 else f"{first[:69]}…"


def _first_agents(names: list[str]) -> dict[str, str]:
    """Agents whose name says their role; else the first for worker and reviewer."""
    found = {}
    for role in ("worker", "reviewer", "coach"):
        named = next((name for name in names if role in name), "")
        found[role] = named or (names[0] if names and role != "coach" else "")
    return found


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
        preflight=preflight_part(project, look),
        ends=tuple(
            replace(end_chip(end), loud=False) for end in POSSIBLE_ENDS[Pattern.SINGLE_THREAD]
        ),
        family=_family(form),
        look=token,
        new_agent=links.NEW_AGENT,
    )


def bound_part(form: NewSessionForm) -> BoundPart:
    """From the values as they stand in the form; what is no number counts as its default."""
    most = _value(form, "iterations")
    hours = _value(form, "hours")
    limits = [
        ("Review", f"after {plural(_value(form, 'review_every'), 'work turn')}"),
        ("Time", f"at most {duration(hours * 3600)}"),
        ("Without a change", f"{_value(form, 'no_progress')} in a row"),
        ("Tokens", _open_limit(form, "tokens", "million")),
        ("Money", _open_limit(form, "money", "dollars")),
    ]
    return BoundPart(
        number=worst_case(most, 0),
        formula=f"the limit of {plural(most, 'iteration')}; worker, reviewer and coach all count",
        rows=tuple(limits),
    )


def _value(form: NewSessionForm, name: str) -> int:
    text = str(form[name].value() or "")
    is_number = text.isascii() and text.isdigit() and 0 < len(text) < 7
    return int(text) if is_number and int(text) else _DEFAULTS[name]


def _open_limit(form: NewSessionForm, name: str, unit: str) -> str:
    text = str(form[name].value() or "")
    return f"at most {text} {unit}, one call can pass it" if text.isdigit() else "not bounded"


def _family(form: NewSessionForm) -> CheckLine | None:
    """A warning only: what family a command belongs to is not known."""
    worker, reviewer = form["worker"].value(), form["reviewer"].value()
    if not worker or worker != reviewer:
        return None
    text = "Worker and reviewer are the same agent. Their mistakes may agree."
    return CheckLine(tone="warn", icon="warn", text=text)


def preflight_part(project: Project, look: Mapping[str, Any] | None) -> PreflightPart:
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
        lines=(*_found(project, look), *queue),
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


def _found(project: Project, look: Mapping[str, Any]) -> list[CheckLine]:
    lines = [met("The repository can be read", fact=look["head"][:SHORT])]
    lines += [_command(name, look[name]) for name in ("prepare", "check") if look.get(name)]
    if not project.check_command:
        sub = "The reviewer judges by reading and running what it finds."
        lines.append(CheckLine(tone="off", icon="stall", text="No check command is set", sub=sub))
    lines += [CheckLine(tone="warn", icon="warn", text=text) for text in look["warnings"]]
    if look["instruction_files"]:
        names = ", ".join(look["instruction_files"])
        sub = "The prompt says that the loop's rules win. The reviewer does not load it."
        lines.append(CheckLine(tone="off", icon="doc", text=f"The worker loads {names}", sub=sub))
    if look["leftovers"]:
        names = ", ".join(look["leftovers"][:5])
        sub = "Accept them in the project, or the worker has to commit or remove them."
        lines.append(
            CheckLine(tone="warn", icon="doc", text=f"Checks leave {names} behind", sub=sub)
        )
    return lines


def _command(name: str, ran: Mapping[str, Any]) -> CheckLine:
    if ran["exit_code"] == 0:
        return met(f"{name} ran", fact=duration(ran["seconds"]))
    code = "cut off" if ran["exit_code"] is None else f"exit {ran['exit_code']}"
    sub = "These failures are shown apart and do not count against the worker."
    return CheckLine(
        tone="warn", icon="warn", text=f"{name} fails at the base already", fact=code, sub=sub
    )
