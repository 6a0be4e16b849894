"""Sessions, from the shell of the machine that holds the data. Here, and not in loops, because a
session's row says which escalations it waits for."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from escalations import records
from loops import deliveries, moving, services
from loops import records as sessions
from loops.engine.values import Pattern
from loops.management.session_verbs import SessionVerbs
from loops.models import Delivery, Session
from tracker import services as tracker
from tracker.commands import (
    Answer,
    Options,
    PersonCommand,
    by_name,
    number_or_none,
    pair,
    read_text,
    reference,
)
from tracker.errors import Conflict, Invalid
from tracker.scope import Scope

_VERBS = {
    "pause": (services.pause, "pauses after the iteration that runs now"),
    "resume": (services.resume, "goes on"),
    "step": (services.step, "runs one iteration and pauses again"),
    "stop": (services.stop, "is stopping; what it changed stays on its branch"),
}


class Command(SessionVerbs, PersonCommand):
    help = "Start, watch and steer sessions: supervised loops on a project."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        start = verb("start", self.start, "Start a session on a project.")
        start.add_argument("project")
        start.add_argument("--goal", default="", help="what it is to reach (- = standard input)")
        start.add_argument("--agent", action="append", default=[], metavar="ROLE=NAME")
        start.add_argument("--pattern", choices=[pattern.value for pattern in Pattern])
        start.add_argument("--pool", action="append", default=[], metavar="WORKER=NAME")
        start.add_argument(
            "--verifier",
            action="append",
            default=[],
            metavar="VERIFIER=NAME[,WORD]",
            help="WORD: advising, reserve (asked when the others are unsure), mechanical",
        )
        start.add_argument("--budget", action="append", default=[], metavar="BUDGET=N")
        start.add_argument("--gate", action="append", default=[], metavar="ROLE", help="ask first")
        start.add_argument("--limit", action="append", default=[], metavar="LIMIT=N")
        start.add_argument("--document", action="append", default=[], help="only this document")
        start.add_argument("--only", action="append", default=[], metavar="R-N", help="only this")
        start.add_argument(
            "--judges-itself",
            action="store_true",
            help="a verifier may run the model that it judges; you know that it judges itself",
        )
        start.add_argument("--config", metavar="FILE", help="JSON; the options above win over it")
        verb("list", self.list, "List sessions, newest first.")
        verb("show", self.show, "Show one session.").add_argument("id", type=reference("S"))
        deliver = verb("deliver", self.deliver, "Hand over the result of a session that ended.")
        deliver.add_argument("id", type=reference("S"))
        how = deliver.add_mutually_exclusive_group(required=True)
        how.add_argument(
            "--push",
            nargs="?",
            const="",
            metavar="REMOTE_OR_URL",
            help="push its branch, never by force (default: origin, or the only remote)",
        )
        how.add_argument(
            "--pull-request",
            action="store_true",
            help="run the project's pull-request command in a fresh checkout of the branch",
        )
        how.add_argument("--patch", metavar="FILE", help="write the patch (- = standard output)")
        for name, (_, does) in _VERBS.items():
            verb(name, self.steer, f"The session {does}.").add_argument("id", type=reference("S"))
        self.add_session_verbs(verb)
        move = verb("move", self.move, "Go on on another host, from the last snapshot.")
        move.add_argument("id", type=reference("S"))
        move.add_argument("--to", required=True, metavar="HOST", help="a host that lives")

    def start(self, options: Options) -> Answer:
        project = tracker.get_project(options["project"])
        scope = Scope(documents=tuple(options["document"]), requirements=tuple(options["only"]))
        goal = read_text("-") if options["goal"] == "-" else options["goal"]
        session = services.launch(
            project, by=self.by, config=_config(options), goal=goal, scope=scope
        )
        warnings = [f"Note: {warning}" for warning in (session.preflight or {})["warnings"]]
        return Answer(_whole(session), "\n".join([f"{session.ref} is queued.", *warnings]))

    def list(self, options: Options) -> Answer:
        found = Session.objects.select_related("project").order_by("-pk")
        rows = [sessions.line(s) | {"waiting_for": records.open_of(s)} for s in found]
        lines = [
            f"S-{r['id']}  {r['project']}  {_state(r)}  "
            f"{r['iteration_count']} iterations{_asked(r)}{_waits(r)}"
            for r in rows
        ]
        return Answer(rows, "\n".join(lines) or "There are no sessions.")

    def show(self, options: Options) -> Answer:
        session = services.get_session(options["id"])
        data = _whole(session)
        lines = [
            f"{session.ref} on {data['project']}: {_state(data)}{_asked(data)}{_waits(data)}",
            *([data["host_lost"]] if data["host_lost"] else []),
            *([data["end_sentence"]] if data["end_sentence"] else []),
            *(
                f"  {i['number']:>3} {i['role']:<9} {i['outcome'] or '…'}"
                for i in data["iterations"]
            ),
            *(f"Not done: {why['text']}" for why in data["why_not_done"]),
            *_result(data),
        ]
        return Answer(data, "\n".join(lines))

    def deliver(self, options: Options) -> Answer:
        session = services.get_session(options["id"])
        to_stdout = options["patch"] == "-"
        if options["push"] is not None:
            kind, target = Delivery.Kind.PUSH, _address(options["push"])
        elif options["pull_request"]:
            kind, target = Delivery.Kind.PULL_REQUEST, ""
        else:
            kind = Delivery.Kind.PATCH
            target = "" if to_stdout else _new_file(options["patch"])
        done = deliveries.deliver(session, self.by, kind, target)
        if not done.row.ok:
            raise Conflict(f"Not delivered. {done.row.said}")
        if to_stdout and not options["json"]:
            self.stdout.buffer.write(done.patch)
            return Answer({}, "")
        return Answer(sessions.delivery(done.row), _delivered(session, done.row))

    def steer(self, options: Options) -> Answer:
        session = services.get_session(options["id"])
        act, does = _VERBS[options["verb"]]
        act(session, self.by)
        session.refresh_from_db()
        return Answer(_whole(session), f"{session.ref} {does}.")

    def move(self, options: Options) -> Answer:
        session = services.get_session(options["id"])
        moving.move(session, options["to"], str(self.by.actor))
        session.refresh_from_db()
        return Answer(_whole(session), f"{session.ref} goes on on host {session.host}.")


def _address(text: str) -> str:
    """A folder named relative to where the person stands, in full; anything else as it is."""
    return str(Path(text).resolve()) if text and Path(text).is_dir() else text


def _delivered(session: Session, row: Delivery) -> str:
    where = {
        Delivery.Kind.PUSH: f"The branch {deliveries.branch(session)} is pushed to {row.target}",
        Delivery.Kind.PULL_REQUEST: "The pull-request command ran",
        Delivery.Kind.PATCH: f"The patch is in {row.target}",
    }[Delivery.Kind(row.kind)]
    lines = [f"{where} ({row.commit[:12]}). {deliveries.label(session)}", row.said]
    return "\n".join(filter(None, lines))


def _result(data: dict[str, Any]) -> list[str]:
    result = data["result"]
    if result is None or not result["commit"]:
        return []
    lines = [f"Result: {data['branch']} at {result['commit']}. {result['label']}".rstrip()]
    for row in data["deliveries"]:
        how = "delivered" if row["ok"] else "NOT delivered"
        lines.append(f"  {row['at']} {row['kind']} {row['target']}: {how} by {row['by']}")
    return lines


def _whole(session: Session) -> dict[str, Any]:
    return sessions.whole(session) | {"waiting_for": records.open_of(session)}


def _state(row: dict[str, Any]) -> str:
    return str(row["end_reason"] or row["state"])


def _asked(row: dict[str, Any]) -> str:
    return "".join(f"; E-{w['escalation']} waits ({w['kind']})" for w in row["waiting_for"])


def _waits(row: dict[str, Any]) -> str:
    return f"; {row['waits_for']}" if row["waits_for"] else ""


def _config(options: Options) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if options["config"]:
        try:
            config = json.loads(read_text(options["config"]))
        except (ValueError, RecursionError) as fault:
            raise Invalid(f"{options['config']} is no JSON: {fault}.") from None
        if not isinstance(config, dict):
            raise Invalid(f"{options['config']} holds no JSON object.")
    agents = by_name(options["agent"], "ROLE=NAME")
    limits = {
        name: number_or_none(amount)
        for name, amount in by_name(options["limit"], "LIMIT=N").items()
    }
    named = {role: services.agent_config(name) for role, name in agents.items()}
    budgets = by_name(options["budget"], "BUDGET=N")
    config |= {name: number_or_none(amount) for name, amount in budgets.items()}
    if options["pattern"]:
        config["pattern"] = options["pattern"]
    if options["judges_itself"]:
        config["judges_itself"] = True
    if options["gate"]:
        config["gates"] = options["gate"]
    if options["pool"]:
        pool = (pair(text, "WORKER=NAME") for text in options["pool"])
        config["pool"] = [{"name": w, "agent": services.agent_config(name)} for w, name in pool]
    if options["verifier"]:
        config["verifiers"] = list(map(_verifier, options["verifier"]))
    return config | {
        "agents": {**config.get("agents", {}), **named},
        "limits": {**config.get("limits", {}), **limits},
    }


def _verifier(text: str) -> dict[str, Any]:
    name, agent = pair(text, "VERIFIER=NAME[,WORD]")
    agent, *words = agent.split(",")
    for word in words:
        if word not in ("required", "advising", "reserve", "mechanical"):
            raise Invalid(
                f"A verifier is required, advising, reserve or mechanical; {word!r} is none."
            )
    policies = [word for word in words if word != "mechanical"]
    return {
        "name": name,
        "agent": services.agent_config(agent),
        "policy": policies[-1] if policies else "required",
        "mechanical": "mechanical" in words,
    }


def _new_file(path: str) -> str:
    """The whole path; what stands there already is not written over."""
    whole = Path(path).expanduser().resolve()
    if whole.is_file():
        raise Conflict(f"There is a file {whole} already; name another one.")
    return str(whole)
