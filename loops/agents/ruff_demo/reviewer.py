"""The demo's reviewer: what the requirements say, as far as ruff can judge it."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

from loops.agents.ruff_demo import findings
from loops.agents.ruff_demo.findings import Finding
from loops.agents.scripted.honest import is_lost
from loops.agents.scripted.tools import Failed, Tools

Entry = dict[str, Any]
TO_DO = ("OPEN", "REOPENED", "IN_PROGRESS")
PLACES_NAMED = 8


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of ruff that one line of a requirement names; found: what it finds now."""

    requirement: str
    line: int
    words: str
    code: str
    found: tuple[Finding, ...]


@dataclass(slots=True)
class Judged:
    """What became of a requirement. open: findings nobody excused. cannot: why ruff can't tell."""

    key: str
    open: list[Rule] = field(default_factory=list)
    excused: list[str] = field(default_factory=list)
    cannot: str = ""


def review(tools: Tools) -> None:
    """Judge what was fixed, file what ruff finds, mark what holds, and say truthfully which."""
    rules: list[Rule] = []
    judged = [Judged(requirement["key"]) for requirement in tools.ask("req", "list")]
    for each in judged:
        try:
            rules += _rules(tools, each.key)
        except Failed as failure:
            each.cannot = str(failure)
    entries = tools.ask("bug", "list", "--all")
    changes = [_judge(tools, entry, rules) for entry in entries]
    if any(changes):
        entries = tools.ask("bug", "list", "--all")
    of_key = {each.key: each for each in judged}
    for rule in rules:
        if rule.found:
            _face(tools, rule, entries, of_key[rule.requirement])
    for each in judged:
        _mark(tools, each, entries)
    _verdict(tools, judged)


def _rules(tools: Tools, key: str) -> list[Rule]:
    """The rules that a requirement names, with their findings. Raises Failed if it names none."""
    lines = str(tools.ask("req", "show", key)["text"]).split("\n")
    codes = findings.codes_in("\n".join(lines))
    if not codes:
        raise Failed(f"{key} names no rule of ruff, such as F401")
    found = findings.find(tools, codes)
    for code in codes:
        tools.say(f"{key}: ruff {code} finds {len(findings.of_rule(code, found))}")
    return [
        Rule(key, number, line.strip(), code, findings.of_rule(code, found))
        for number, line in enumerate(lines, 1)
        for code in findings.codes_in(line)
    ]


def _judge(tools: Tools, entry: Entry, rules: list[Rule]) -> bool:
    """Close, confirm or reopen an entry that waits for judgement. False: it does not wait."""
    key, state = entry["key"], entry["state"]
    if is_lost(tools, entry):
        tools.say(f"{key}: reopened, its commit {entry['commit'][:12]} is not in HEAD")
        tools.loopwatch("bug", "reopen", key, "--why", "Its commit is not in HEAD.")
        return True
    if state not in ("FIXED", "STALE"):
        return False
    code = code_of(tools, entry)
    left = findings.find(tools, [code]) if code else []
    words = _words_about(entry, code, rules)
    if not left or (state == "STALE" and not words):
        tools.say(f"{key}: closed, ruff finds nothing that the requirements forbid")
        tools.loopwatch("bug", "close", key)
    elif state == "STALE":
        tools.say(f"{key}: the new text still forbids it")
        tools.loopwatch("bug", "confirm", key, "--quote", words)
    else:
        tools.say(f"{key}: reopened, ruff still finds {len(left)}")
        why = f"ruff still finds {len(left)}, the first at {left[0].place}."
        tools.loopwatch("bug", "reopen", key, "--why", why)
    return True


def code_of(tools: Tools, entry: Entry) -> str:
    """The rule that an entry is about, "" if its words name none."""
    in_title = findings.codes_in(str(entry["title"]))
    whole = in_title or findings.codes_in(str(tools.ask("bug", "show", entry["key"])["text"]))
    return next(iter(whole), "")


def _words_about(entry: Entry, code: str, rules: list[Rule]) -> str:
    """The line of the cited requirement that names the rule now, "" if none does any more."""
    key = str(entry["cites"]).partition(".")[0]
    return next((r.words for r in rules if r.requirement == key and r.code == code), "")


def _face(tools: Tools, rule: Rule, entries: list[Entry], judged: Judged) -> None:
    """Do what one rule's findings ask for: nothing if known or accepted, else a bug."""
    mine = [entry for entry in entries if _is_about(entry, rule)]
    live = [entry for entry in mine if entry["state"] != "CLOSED"]
    accepted = "" if live else _accepted(tools, rule, mine)
    if live and live[-1]["state"] == "BLOCKED":
        judged.excused.append(f"{live[-1]['key']}, which a person decides")
    elif accepted:
        judged.excused.append(accepted)
    else:
        judged.open.append(rule)
        if not live:
            _file(tools, rule)


def _is_about(entry: Entry, rule: Rule) -> bool:
    cites = str(entry["cites"]).partition(".")[0]
    return cites == rule.requirement and rule.code in findings.codes_in(str(entry["title"]))


def _accepted(tools: Tools, rule: Rule, closed: list[Entry]) -> str:
    """The newest exception that a person made, "" if none. An exception is one from the words that
    it cited: once they are edited it is none any more, and the finding is filed again."""
    for entry in reversed(closed):
        whole = tools.ask("bug", "show", entry["key"])
        if whole["dismiss_reason"] and whole["quote"] == rule.words:
            return f"{entry['key']}, accepted: {whole['dismiss_reason']}"
    return ""


def _file(tools: Tools, rule: Rule) -> None:
    found = findings.worst_first(rule.found)
    title = f"{rule.code}: {shorten(found[0].message, 80, placeholder=' ...')} ({len(found)} x)"
    places = "\n".join(f"{each.place}  {each.message}" for each in found[:PLACES_NAMED])
    more = len(found) - PLACES_NAMED
    text = f"ruff check --select {rule.code} finds {len(found)}:\n{places}"
    text += f"\nand {more} more" if more > 0 else ""
    tools.say(f"{rule.requirement}: filed {title}")
    cited = ("--cites", f"{rule.requirement}.{rule.line}", "--quote", rule.words)
    place = ("--place", found[0].place)
    tools.loopwatch("bug", "file", *cited, *place, "--contradiction", "-", title, stdin=text)


def _mark(tools: Tools, judged: Judged, entries: list[Entry]) -> None:
    if judged.cannot:
        tools.say(f"{judged.key}: cannot be judged: {judged.cannot}")
        _ask_for_better_words(tools, judged, entries)
    elif not judged.open:
        but = f", but for {'; '.join(judged.excused)}" if judged.excused else ""
        where = _where(tools, judged.key, entries)
        tools.say(f"{judged.key}: holds at {where}{but}")
        tools.loopwatch("review", "mark", judged.key, "holds", "--where", where)


def _where(tools: Tools, key: str, entries: list[Entry]) -> str:
    """The place that an entry once complained about shows best that it holds now."""
    mine = [str(entry["place"]) for entry in entries if str(entry["cites"]).startswith(f"{key}.")]
    still_there = [place for place in mine if tools.read(place.partition(":")[0])]
    sources = [path for path in tools.tracked() if path.endswith(".py") and tools.read(path)]
    return next(iter([*still_there, *(f"{path}:1" for path in sources)]), "README.md:1")


def _ask_for_better_words(tools: Tools, judged: Judged, entries: list[Entry]) -> None:
    title = f"{judged.key} cannot be checked with ruff"
    if title not in {entry["title"] for entry in entries}:
        text = f"{judged.cannot}. Name the rules that must hold by their codes."
        tools.loopwatch("bug", "file", "--spec", "--cites", judged.key, "--text", text, title)


def _verdict(tools: Tools, judged: list[Judged]) -> None:
    """No verdict where there is none: bugs are none, but something could not be judged."""
    to_do = [entry for entry in tools.ask("bug", "list") if entry["state"] in TO_DO]
    if to_do:
        tools.say(f"verdict: bugs ({len(to_do)} open)")
        tools.loopwatch("review", "bugs")
    elif not any(each.cannot for each in judged):
        tools.say("verdict: clean")
        tools.loopwatch("review", "clean")
