"""Fork, replay and export on the command line. A mixin of the command that steers sessions."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from loops import exports, forks, replays, services
from loops.replays import Difference, Said
from tracker.commands import Answer, Options, by_name, number_or_none, reference
from tracker.pages.words import plural
from tracker.services import By


class SessionVerbs:
    by: By

    def add_session_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        fork = verb("fork", self.fork, "Go on from a recorded iteration as a session of its own.")
        fork.add_argument("id", type=reference("S"))
        fork.add_argument("--at", type=int, required=True, metavar="N", help="after iteration N")
        fork.add_argument("--limit", action="append", default=[], metavar="LIMIT=N")
        fork.add_argument("--agent", action="append", default=[], metavar="ROLE=NAME")
        replay = verb("replay", self.replay, "Fold the log again under today's rules.")
        replay.add_argument("id", type=reference("S"))
        export = verb("export", self.export, "Write log, iterations, output and patch.")
        export.add_argument("id", type=reference("S"))
        export.add_argument("--to", required=True, metavar="FILE.zip|FOLDER")

    def fork(self, options: Options) -> Answer:
        parent = services.get_session(options["id"])
        limits = by_name(options["limit"], "LIMIT=N")
        agents = by_name(options["agent"], "ROLE=NAME")
        new = forks.fork(
            parent,
            options["at"],
            self.by,
            limits={name: number_or_none(text) for name, text in limits.items()},
            agents={role: services.agent_config(name) for role, name in agents.items()},
        )
        told = forks.differences(parent, forks.point_of(parent, options["at"]))
        lines = [
            f"{new.ref} goes on from {parent.ref} after iteration {options['at']} and is queued.",
            *(f"Tracker, {one.key}: {one.text}." for one in told),
        ]
        data = {
            "id": new.pk,
            "forked_from": parent.pk,
            "forked_at": options["at"],
            "state": new.state,
            "differences": [asdict(one) for one in told],
        }
        return Answer(data, "\n".join(lines))

    def replay(self, options: Options) -> Answer:
        session = services.get_session(options["id"])
        found = replays.replay(session)
        compared = f"{plural(found.iterations, 'iteration')} of {session.ref}"
        if found.is_same:
            text = f"{compared}: today's rules say the same."
        else:
            left = found.changed - len(found.differences)
            lines = [f"{compared}: {plural(found.changed, 'difference')}."]
            lines += [_difference(one) for one in found.differences]
            text = "\n".join([*lines, *([f"and {left} more"] if left else [])])
        data = {
            "session": session.pk,
            "iterations": found.iterations,
            "changed": found.changed,
            "differences": [asdict(one) for one in found.differences],
        }
        return Answer(data, text, code=0 if found.is_same else 1)

    def export(self, options: Options) -> Answer:
        session = services.get_session(options["id"])
        target = Path(options["to"])
        if target.suffix == ".zip":
            exports.to_zip(session, target)
        else:
            exports.to_folder(session, target)
        return Answer({"session": session.pk, "to": str(target)}, f"{session.ref} is in {target}.")


def _difference(one: Difference) -> str:
    where = "end" if one.iteration is None else str(one.iteration)
    return f"  {where:>5}  recorded: {_words(one.recorded)}  now: {_words(one.now)}"


def _words(said: Said) -> str:
    outcome = f" -> {said.outcome}" if said.outcome else ""
    return f"{said.what} ({said.rule}){outcome}"
