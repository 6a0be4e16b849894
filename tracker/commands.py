"""What all commands for people share: who it is, sentences or JSON, refusals, exit codes."""

from __future__ import annotations

import getpass
import json
import logging
import os
import pwd
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import psutil
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from tracker.errors import DomainError, Invalid, NotAllowed
from tracker.services import By, person

MARKS = ("RUN_MARK", "LOOPWATCH_TOKEN")
"""Variables that the engine sets for agents, and only for them."""

# What Django gives every command; ours leave it out of their help.
DJANGO_OPTIONS = frozenset(
    {"--version", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color"}
    | {"--force-color", "--skip-checks"}
)
Options = dict[str, Any]
log = logging.getLogger("loopwatch.commands")


@dataclass(frozen=True)
class Answer:
    """What a verb says: plain data for --json, a sentence (or lines) for people. code: exit code;
    1 where the answer itself is "no", as when a replay differs."""

    data: Any
    text: str
    code: int = 0


class PersonCommand(BaseCommand):
    """A command that acts as the person who runs it. Derive from it, one method per verb.

    Exit codes: 0, 1 failed unexpectedly (one sentence; the traceback is in the log file),
    2 refused with a sentence. It refuses to run inside an agent's process tree (RULES 5).
    """

    requires_system_checks: list[str] = []
    suppressed_base_arguments = DJANGO_OPTIONS

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        refuse_in_one_sentence(parser)
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

        def verb(name: str, method: Callable[[Options], Answer], help: str) -> ArgumentParser:
            sub = verbs.add_parser(name, help=help, description=help)
            refuse_in_one_sentence(sub)
            sub.add_argument("--json", action="store_true", help="print JSON")
            sub.set_defaults(method=method)
            return sub

        self.add_verbs(verb)

    def add_verbs(self, verb: Callable[..., ArgumentParser]) -> None:
        """Call `verb(name, method, help)` for each verb and add arguments to what it returns."""
        raise NotImplementedError

    @cached_property
    def by(self) -> By:
        return person(user_name())

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_agents()
        answer = options["method"](options)
        if options["json"]:
            self.stdout.write(json.dumps(answer.data, ensure_ascii=False))
        elif answer.text:
            self.stdout.write(answer.text)
        if answer.code:
            sys.exit(answer.code)

    def execute(self, *args: Any, **options: Any) -> None:
        try:
            super().execute(*args, **options)
        except DomainError as refusal:
            self._end(str(refusal), 2, refusal)
        except DatabaseError as fault:
            log_traceback()
            self._end(f"The data in {settings.DATA} could not be used: {fault}.", 1, fault)
        except CommandError:
            raise
        except Exception as fault:
            log_traceback()
            self._end(f"Failed unexpectedly ({type(fault).__name__}: {fault}).", 1, fault)

    def _end(self, sentence: str, code: int, cause: Exception) -> None:
        # Django puts the exception's class before the sentence; people should not see that.
        if self._called_from_command_line:
            self.stderr.write(sentence)
            sys.exit(code)
        raise CommandError(sentence, returncode=code) from cause


def refuse_in_one_sentence(parser: CommandParser) -> None:
    """Wrong words get a sentence and exit code 2, without the usage, which --help shows."""

    def error(message: str) -> NoReturn:
        sentence = f"{message[:1].upper()}{message[1:]}. See: {parser.prog} --help"
        if parser.called_from_command_line:
            parser.exit(2, " ".join(sentence.split()) + "\n")
        raise CommandError(sentence, returncode=2)

    parser.error = error  # type: ignore[method-assign]


def user_name() -> str:
    """Return the name of the user of the operating system (not what the environment claims)."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return getpass.getuser()


def read_text(source: str) -> str:
    """Return the text of a file, or of standard input for "-"."""
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        return data.decode("utf-8")
    except OSError as fault:
        raise Invalid(f"{source} cannot be read: {fault.strerror}.") from None
    except UnicodeDecodeError:
        raise Invalid(f"{source} is no UTF-8 text.") from None


def refuse_agents() -> None:
    """Raise NotAllowed inside an agent's process tree.

    An agent can clean its own environment but not that of its ancestors. Processes of other users
    cannot be read; they are no agents of ours.
    """
    if any(name in os.environ for name in MARKS) or any(map(_is_agents, _ancestors())):
        raise NotAllowed(
            "This command is for people; it does not run inside an agent's process tree. Agents use"
            " the loopwatch command on their own PATH."
        )


def _ancestors() -> list[psutil.Process]:
    try:
        return psutil.Process().parents()
    except psutil.Error:
        return []


def _is_agents(process: psutil.Process) -> bool:
    try:
        environment = process.environ()
    except (psutil.Error, OSError):
        return False
    return any(name in environment for name in MARKS)


def log_traceback() -> None:
    """Write the current exception to logs/commands.log in the data folder, if that can be done."""
    path = Path(settings.DATA) / "logs" / "commands.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(path)
    except OSError:
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log.propagate = False
    log.addHandler(handler)
    try:
        log.exception("a command failed")
    finally:
        log.removeHandler(handler)
        handler.close()


def reference(prefix: str) -> Callable[[str], int]:
    """For an argument that people write as 7 or, as every page does, as E-7."""

    def number(text: str) -> int:
        digits = text.upper().removeprefix(f"{prefix}-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
            raise ArgumentTypeError(f"{text!r} is no number such as 7 or {prefix}-7")
        return int(digits)

    return number


def pair(text: str, form: str) -> tuple[str, str]:
    """The two sides of "name=value". form: how it reads, for the refusal."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise Invalid(f"{text!r} does not read {form}.")
    return name, value


def by_name(texts: list[str], form: str) -> dict[str, str]:
    """Several of them; a name given twice is refused, for one of the two would be lost."""
    found: dict[str, str] = {}
    for text in texts:
        name, value = pair(text, form)
        if name in found:
            raise Invalid(f"{name} is named twice: {found[name]} and {value}. Leave one out.")
        found[name] = value
    return found


def number_or_none(text: str) -> float | None:
    """A limit or budget as it is typed; "none" is None."""
    if text == "none":
        return None
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise Invalid(f"{text!r} is no number; a limit is one, or none.") from None
