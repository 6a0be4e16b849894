"""Entries of the tracker, from the shell of the machine that holds the data."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable

from tracker import services
from tracker.commands import Answer, Options, PersonCommand
from tracker.engine.rules import PRIORITIES, Kind, State
from tracker.models import Bug
from tracker.records import bug_record, move_record


class Command(PersonCommand):
    help = "Read and settle tracker entries: code bugs, tasks, spec bugs."

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        listing = verb("list", self.list, "List entries in the order they were filed.")
        listing.add_argument("project")
        listing.add_argument("--state", action="append", choices=[s.value for s in State])
        listing.add_argument("--kind", action="append", choices=[k.value for k in Kind])
        _on_entry(verb("show", self.show, "Show one entry with its history."))
        for name, method, word, help in (
            ("dismiss", self.dismiss, "reason", "Close an entry without a fix."),
            ("reopen", self.reopen, "why", "Say that a fix is not good."),
            ("answer", self.answer, "text", "Answer a BLOCKED entry; it is OPEN again."),
            ("dispute", self.dispute, "why", "Say that the citation does not carry it."),
            ("comment", self.comment, "text", "Add a comment."),
        ):
            _on_entry(verb(name, method, help)).add_argument("words", metavar=word.upper())
        close = _on_entry(verb("close", self.close, "Judge a fix as good."))
        close.add_argument("words", metavar="WHY", nargs="?", default="")
        task = _on_entry(verb("task", self.task, "Turn a code or spec bug into a task."))
        task.add_argument("words", metavar="TEXT", nargs="?", default="")
        priority = _on_entry(verb("priority", self.priority, "Set the priority."))
        priority.add_argument("words", metavar="PRIORITY", choices=PRIORITIES)

    def list(self, options: Options) -> Answer:
        project = services.get_project(options["project"])
        found = services.bugs(project, states=options["state"], kinds=options["kind"])
        lines = [f"{b.key}  {b.state}  {b.priority}  {b.title[:100]}" for b in found]
        return Answer([bug_record(bug) for bug in found], "\n".join(lines) or "No entries.")

    def show(self, options: Options) -> Answer:
        bug = self._bug(options)
        moves = services.history(bug)
        data = bug_record(bug) | {"history": [move_record(move) for move in moves]}
        return Answer(data, "\n".join(_lines(data)))

    def dismiss(self, options: Options) -> Answer:
        return _now(services.dismiss(self._bug(options), self.by, options["words"]))

    def reopen(self, options: Options) -> Answer:
        return _now(services.reopen(self._bug(options), self.by, options["words"]))

    def answer(self, options: Options) -> Answer:
        return _now(services.unblock(self._bug(options), self.by, options["words"]))

    def close(self, options: Options) -> Answer:
        return _now(services.close(self._bug(options), self.by, options["words"]))

    def dispute(self, options: Options) -> Answer:
        return _now(services.dispute(self._bug(options), self.by, options["words"]))

    def comment(self, options: Options) -> Answer:
        return _now(services.comment(self._bug(options), self.by, options["words"]))

    def priority(self, options: Options) -> Answer:
        return _now(services.set_priority(self._bug(options), self.by, options["words"]))

    def task(self, options: Options) -> Answer:
        task = services.turn_into_task(self._bug(options), self.by, options["words"])
        return Answer(bug_record(task), f"{options['key'].upper()} was turned into {task.key}.")

    def _bug(self, options: Options) -> Bug:
        return services.get_bug(services.get_project(options["project"]), options["key"])


def _on_entry(parser: ArgumentParser) -> ArgumentParser:
    parser.add_argument("project")
    parser.add_argument("key", help="B-7, T-7 or Q-7")
    return parser


def _now(bug: Bug) -> Answer:
    return Answer(bug_record(bug), f"{bug.key} is {bug.state}, priority {bug.priority}.")


def _lines(data: dict) -> list[str]:
    lines = [f"{data['key']}  {data['state']}  {data['priority']}  {data['title']}"]
    if data["cites"]:
        cites = data["cites"]
        line = f".{cites['line']}" if cites["line"] else ""
        lines.append(f"Cites {cites['key']}{line}, version {cites['version']}.")
    lines += [f"> {line}" for line in data["quote"].splitlines()]
    lines += [text for text in (data["contradiction"], data["place"], data["text"]) if text]
    return lines + [
        f"{m['at']}  {m['verb']} by {m['by']}{': ' + m['note'] if m['note'] else ''}"
        for m in data["history"]
    ]
