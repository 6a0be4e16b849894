"""Questions to people, from the shell of the machine that holds the data."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from escalations import records, services
from escalations.models import Escalation, Status
from escalations.word import DISPOSITIONS, Word
from loops.engine.values import Choice, LimitName
from tracker.commands import (
    Answer,
    Options,
    PersonCommand,
    by_name,
    number_or_none,
    read_text,
    reference,
)
from tracker.errors import Invalid

# What the example of a grant says, in the limit's own units.
_AMOUNTS = {
    LimitName.ITERATIONS: 20,
    LimitName.WALL_SECONDS: 3600,
    LimitName.NO_PROGRESS: 6,
    LimitName.TOKENS: 1_000_000,
    LimitName.MONEY: 10,
}


class Command(PersonCommand):
    help = "List, show and decide the questions that wait for a person."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        verb("list", self.list, "List the open questions.")
        show = verb("show", self.show, "Show one question, and what each decision would do.")
        show.add_argument("id", type=reference("E"))
        decide = verb("decide", self.decide, "Settle a question for good.")
        decide.add_argument("id", type=reference("E"))
        choice = decide.add_mutually_exclusive_group(required=True)
        choice.add_argument(
            "--approve", action="store_true", help="end the session; needs --evidence"
        )
        choice.add_argument(
            "--edit",
            action="append",
            metavar="PATH",
            help="your text of this file of the result, then approve; needs --file each, "
            "and --evidence",
        )
        choice.add_argument("--reject", metavar="REASON")
        choice.add_argument("--answer", metavar="TEXT", help="words for the next prompts")
        choice.add_argument("--amend", metavar="R-N", help="edit a requirement; needs --file")
        choice.add_argument("--grant", action="append", metavar="LIMIT=N", help="iterations=20")
        choice.add_argument("--replan", metavar="TEXT", help="what the new plan must heed")
        choice.add_argument("--reassign", metavar="WORKER", help="who tries next")
        choice.add_argument("--allow", action="store_true", help="let it through")
        choice.add_argument("--deny", metavar="REASON", help="keep it out")
        choice.add_argument(
            "--change", action="store_true", help="with --agent and --limit: from the next step"
        )
        choice.add_argument("--retry", action="store_true", help="run the same step again")
        choice.add_argument("--stop", action="store_true", help="end the session as stopped")
        decide.add_argument("--evidence", default="", metavar="HASH", help="what you looked at")
        decide.add_argument(
            "--attempts",
            type=int,
            default=1,
            help="with --reject: more attempts (1); 0 ends the session as exhausted",
        )
        decide.add_argument("--note", default="", metavar="TEXT", help="words for the next prompt")
        decide.add_argument("--agent", action="append", default=[], metavar="ROLE=NAME")
        decide.add_argument("--limit", action="append", default=[], metavar="LIMIT=N")
        decide.add_argument(
            "--file",
            action="append",
            default=[],
            help="with --amend, --edit: the new text (- = standard input)",
        )
        entry = decide.add_mutually_exclusive_group()
        entry.add_argument(
            "--dismiss", action="store_true", help="with --answer: dismiss the entry"
        )
        entry.add_argument("--reopen", action="store_true", help="with --answer: reopen the entry")
        entry.add_argument("--task", action="store_true", help="with --answer: make it a task")

    def list(self, options: Options) -> Answer:
        found = Escalation.objects.filter(status=Status.OPEN.value).order_by("pk")
        lines = [
            f"{e}  S-{e.session_id}  {e.kind}  {'waits' if e.blocking else 'aside'}  {e.question}"
            for e in found
        ]
        return Answer(
            [records.record(e) for e in found], "\n".join(lines) or "Nobody is waiting for you."
        )

    def show(self, options: Options) -> Answer:
        escalation = services.get_escalation(options["id"])
        data = records.whole(escalation)
        lines = [
            f"{escalation} ({escalation.kind}) of S-{escalation.session_id}: {escalation.question}",
            f"Evidence: {escalation.evidence or 'none'}, version {escalation.version}",
        ]
        if made := data["decided"]:
            words = f": {made['text']}" if made["text"] else "."
            lines += [f"Decided by {made['by']}, {made['choice']}{words}"]
        effects = data["effects"] if escalation.status == Status.OPEN.value else {}
        for choice, effect in effects.items():
            lines += [f"  {choice}: {effect}"]
            lines += [f"      {command}" for command in _commands(escalation, Choice(choice))]
        return Answer(data, "\n".join(lines))

    def decide(self, options: Options) -> Answer:
        escalation = services.get_escalation(options["id"])
        word = _word(options)
        decision = services.decide(escalation, word, self.by)
        escalation.refresh_from_db()
        return Answer(
            records.whole(escalation),
            f"{escalation} decided: {decision.choice}. S-{escalation.session_id} takes it up now.",
        )


def _commands(escalation: Escalation, choice: Choice) -> list[str]:
    """Whole commands that decide it so, to copy; words in capitals are for the person to fill."""
    name = escalation.limit or "iterations"
    options = {
        Choice.APPROVE: [f"--approve --evidence {escalation.evidence}"],
        Choice.EDIT: [f"--edit PATH --file NEW-TEXT --evidence {escalation.evidence}"],
        Choice.REJECT: ['--reject "REASON" --attempts 1'],
        Choice.REPLAN: ['--replan "WORDS"'],
        Choice.REASSIGN: ["--reassign WORKER"],
        Choice.ALLOW: ["--allow"],
        Choice.DENY: ['--deny "REASON"'],
        Choice.CHANGE: ["--change --agent ROLE=NAME"],
        Choice.ANSWER: [f'--answer "WORDS" --{name}' for name in DISPOSITIONS],
        Choice.AMEND: ["--amend R-N --file NEW-TEXT.md"],
        Choice.GRANT: [f"--grant {name}={_AMOUNTS[name]}"],
        Choice.RETRY: ["--retry"],
        Choice.STOP: ["--stop"],
    }
    typed = sys.argv[0]  # it may be on no PATH
    program = typed if Path(typed).name == "loopwatch" else "loopwatch"
    words = f"{program} escalation decide {escalation.pk}"
    return [f"{words} {word}" for word in options.get(choice, ())]


def _word(options: Options) -> Word:
    if options["approve"]:
        return Word(choice=Choice.APPROVE, evidence=options["evidence"])
    if options["edit"]:
        return Word(
            choice=Choice.EDIT,
            evidence=options["evidence"],
            edits=_edits(options["edit"], options["file"]),
            text=options["note"],
        )
    if options["reject"] is not None:
        return Word(choice=Choice.REJECT, text=options["reject"], attempts=options["attempts"])
    if options["answer"] is not None:
        chosen = [name for name in DISPOSITIONS if options[name]]
        return Word(
            choice=Choice.ANSWER, text=options["answer"], disposition=(chosen or ["reopen"])[0]
        )
    if options["amend"]:
        document = read_text(options["file"][0]) if options["file"] else ""
        return Word(choice=Choice.AMEND, requirement=options["amend"], document=document)
    if options["grant"]:
        return Word(choice=Choice.GRANT, grants=dict(map(_grant, options["grant"])))
    if options["replan"] is not None:
        return Word(choice=Choice.REPLAN, text=options["replan"])
    if options["reassign"]:
        return Word(choice=Choice.REASSIGN, worker=options["reassign"], text=options["note"])
    if options["deny"] is not None:
        return Word(choice=Choice.DENY, text=options["deny"])
    if options["change"]:
        limits = {
            name: number_or_none(amount)
            for name, amount in by_name(options["limit"], "LIMIT=N").items()
        }
        agents = by_name(options["agent"], "ROLE=NAME")
        return Word(choice=Choice.CHANGE, agents=agents, limits=limits, text=options["note"])
    plain = {"allow": Choice.ALLOW, "retry": Choice.RETRY, "stop": Choice.STOP}
    chosen = next(choice for name, choice in plain.items() if options[name])
    return Word(choice=chosen, text=options["note"])


def _edits(paths: list[str], files: list[str]) -> dict[str, str]:
    if len(paths) != len(files):
        raise Invalid("Each --edit PATH needs one --file with the new text, in the same order.")
    return {path: read_text(file) for path, file in zip(paths, files, strict=True)}


def _grant(text: str) -> tuple[str, int]:
    name, _, amount = text.partition("=")
    try:
        return name, int(amount)
    except ValueError:
        raise Invalid(
            f"A grant reads LIMIT=NUMBER, for example iterations=20; {text!r} does not."
        ) from None
