"""How `loopwatch` is typed by agents: verbs, their arguments, help. What they do is in verbs.py."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from loops.engine.values import Role
from loops.interface.words import shown
from tracker.errors import Invalid, NotAllowed, NotFound

MOST_WORDS = 64
PEOPLE = ("agent", "clock", "escalation", "login-link", "project", "session", "task", "up")


class Help(Exception):
    """Help was asked for; the text is the answer."""


class Parser(argparse.ArgumentParser):
    """Raises instead of printing and leaving."""

    def error(self, message: str) -> NoReturn:
        raise Invalid(f"{shown(message, 300)}.\n{self.format_usage().rstrip()}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Invalid(shown(message or "Nothing to do.", 300))

    def print_help(self, file: object = None) -> NoReturn:
        raise Help(self.format_help())


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One verb. roles: who is shown it. owner: the one role that may use it; None: the tracker
    decides. arguments: adds them to a parser. run: carries it out (see verbs.py). stdin: schema of
    the JSON that it reads from standard input, None where it reads none."""

    words: tuple[str, ...]
    help: str
    example: str
    roles: frozenset[Role]
    run: Callable[..., Any]
    owner: Role | None = None
    arguments: Callable[[Parser], None] = lambda parser: None
    stdin: Callable[[], dict[str, Any]] | None = None

    @property
    def name(self) -> str:
        return " ".join(self.words)


def find(verbs: Sequence[Verb], argv: Sequence[str], role: Role) -> tuple[Verb, list[str]]:
    """The verb that `argv` starts with (of two, the one shown to `role`), and the words after it.

    Raises Help, NotAllowed for a command of people or of another role, NotFound for no verb.
    """
    if len(argv) > MOST_WORDS:
        raise Invalid(f"At most {MOST_WORDS} words; put text in quotes or send it with `-`.")
    named = [verb for verb in verbs if tuple(argv[: len(verb.words)]) == verb.words]
    if not named:
        raise _no_verb(verbs, argv, role)
    verb = next((verb for verb in named if role in verb.roles), named[0])
    if verb.owner not in (None, role):
        raise NotAllowed(f"Only the {verb.owner} may use `{verb.name}`; you are the {role.value}.")
    if role is Role.VERIFIER and role not in verb.roles:
        raise NotAllowed("A verifier judges by the criteria and by what it runs itself.")
    return verb, list(argv[len(verb.words) :])


def _no_verb(verbs: Sequence[Verb], argv: Sequence[str], role: Role) -> Exception:
    first = argv[0] if argv else "--help"
    mine = [verb for verb in verbs if role in verb.roles]
    if first in ("--help", "-h", "help"):
        return Help(overview(mine, role))
    group = [verb for verb in mine if verb.words[0] == first]
    if group and (len(argv) == 1 or argv[1] in ("--help", "-h")):
        return Help(overview(group, role))
    if first in PEOPLE or list(argv[:2]) == ["req", "edit"]:
        return NotAllowed(
            f"`loopwatch {shown(first)}` is a command of people; agents may not use it."
        )
    said = shown(" ".join(argv[:2]))
    return NotFound(f"There is no command `{said}`; `loopwatch --help` lists yours.")


def parse(verb: Verb, words: Sequence[str]) -> argparse.Namespace:
    """The arguments as attributes, `json` among them. Raises Help and Invalid (with the usage)."""
    return _parser(verb).parse_args(list(words))


@cache
def _parser(verb: Verb) -> Parser:
    parser = Parser(
        prog=f"loopwatch {verb.name}",
        description=verb.help,
        epilog=f"Example: {verb.example}",
        allow_abbrev=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=100),
    )
    verb.arguments(parser)
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    return parser


def overview(verbs: Sequence[Verb], role: Role) -> str:
    lines = [f"Commands of the {role.value}; each takes --json and --help."]
    for verb in verbs:
        lines += [f"  {verb.name:<14} {verb.help}", f"  {'':<14} {verb.example}"]
    return "\n".join(lines) + "\n"
