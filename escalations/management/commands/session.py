"""Sessions, from the shell of the machine that holds the data. Here, and not in loops, because a
session's row says which escalations it waits for."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from escalations import records
from loops import records as sessions
from loops import services
from loops.management.session_verbs import SessionVerbs
from loops.models import Session
from tracker import services as tracker
from tracker.commands import Answer, Options, PersonCommand, read_text
from tracker.errors import Invalid
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
        start.add_argument("--limit", action="append", default=[], metavar="LIMIT=N")
        start.add_argument("--document", action="append", default=[], help="only this document")
        start.add_argument("--only", action="append", default=[], metavar="R-N", help="only this")
        start.add_argument("--config", metavar="FILE", help="JSON; the options above win over it")
        verb("list", self.list, "List sessions, newest first.")
        verb("show", self.show, "Show one session.").add_argument("id", type=int)
        for name, (_, does) in _VERBS.items():
            verb(name, self.steer, f"The session {does}.").add_argument("id", type=int)
        self.add_session_verbs(verb)

    def start(self, options: Options) -> Answer:
        project = tracker.get_project(options["project"])
        scope = Scope(documents=tuple(options["document"]), requirements=tuple(options["only"]))
        goal = read_text("-") if options["goal"] == "-" else options["goal"]
        session = services.create_session(
            project, by=self.by, config=_config(options), goal=goal, scope=scope
        )
        look = services.check(session)
        services.start(session, self.by)
        session.refresh_from_db()
        warnings = [f"Note: {warning}" for warning in look["warnings"]]
        return Answer(_whole(session), "\n".join([f"{session.ref} is queued.", *warnings]))

    def list(self, options: Options) -> Answer:
        found = Session.objects.select_related("project").order_by("-pk")
        rows = [sessions.line(s) | {"waiting_for": records.open_of(s)} for s in found]
        lines = [
            f"S-{r['id']}  {r['project']}  {_state(r)}  "
            f"{r['iteration_count']} iterations{_asked(r)}"
            for r in rows
        ]
        return Answer(rows, "\n".join(lines) or "There are no sessions.")

    def show(self, options: Options) -> Answer:
        session = services.get_session(options["id"])
        data = _whole(session)
        lines = [
            f"{session.ref} on {data['project']}: {_state(data)}{_asked(data)}",
            *([data["end_sentence"]] if data["end_sentence"] else []),
            *(
                f"  {i['number']:>3} {i['role']:<9} {i['outcome'] or '…'}"
                for i in data["iterations"]
            ),
            *(f"Not done: {why['text']}" for why in data["why_not_done"]),
        ]
        return Answer(data, "\n".join(lines))

    def steer(self, options: Options) -> Answer:
        session = services.get_session(options["id"])
        act, does = _VERBS[options["verb"]]
        act(session, self.by)
        session.refresh_from_db()
        return Answer(_whole(session), f"{session.ref} {does}.")


def _whole(session: Session) -> dict[str, Any]:
    return sessions.whole(session) | {"waiting_for": records.open_of(session)}


def _state(row: dict[str, Any]) -> str:
    return str(row["end_reason"] or row["state"])


def _asked(row: dict[str, Any]) -> str:
    return "".join(f"; E-{w['escalation']} waits ({w['kind']})" for w in row["waiting_for"])


def _config(options: Options) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if options["config"]:
        try:
            config = json.loads(read_text(options["config"]))
        except (ValueError, RecursionError) as fault:
            raise Invalid(f"{options['config']} is no JSON: {fault}.") from None
        if not isinstance(config, dict):
            raise Invalid(f"{options['config']} holds no JSON object.")
    agents = dict(_pair(text, "ROLE=NAME") for text in options["agent"])
    limits = {
        name: _number(amount) for name, amount in (_pair(x, "LIMIT=N") for x in options["limit"])
    }
    named = {role: services.agent_config(name) for role, name in agents.items()}
    return config | {
        "agents": {**config.get("agents", {}), **named},
        "limits": {**config.get("limits", {}), **limits},
    }


def _pair(text: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise Invalid(f"{text!r} does not read {form}.")
    return name, value


def _number(text: str) -> float | None:
    if text == "none":
        return None
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise Invalid(f"{text!r} is no number; a limit is one, or none.") from None
