"""Ruff, as the demo's agents use it: rule codes in a text, findings in the folder, fixes."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loops.agents.scripted.tools import Failed, Ran, Tools

MISSING = "The demo's agents need ruff; install it beside Loopwatch: pip install ruff."
NO_PYTHON = "syntax"
_CODE = re.compile(r"\b[A-Z]{1,6}[0-9]{3,4}\b")


@dataclass(frozen=True, slots=True)
class Finding:
    """path: relative to the folder. line: from 1."""

    code: str
    message: str
    path: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


def codes_in(text: str) -> list[str]:
    """The codes of ruff's rules that a text names, each once, in its order."""
    return list(dict.fromkeys(_CODE.findall(text)))


def command() -> list[str]:
    """How to start ruff: beside this Python, else on the PATH. Raises Failed if it is missing."""
    beside = Path(sys.executable).with_name("ruff")
    found = str(beside) if beside.is_file() else shutil.which("ruff")
    if found is None:
        raise Failed(MISSING)
    return [found]


def find(tools: Tools, codes: Sequence[str]) -> list[Finding]:
    """What these rules find in the folder. Raises Failed when ruff cannot judge."""
    if not codes:
        return []
    ran = _check(tools, codes, "--output-format", "json")
    if ran.code not in (0, 1):
        raise Failed(f"ruff cannot check {', '.join(codes)}: {_last_line(ran.err)}")
    root = tools.folder.resolve()
    return [
        Finding(
            code=row["code"] if _CODE.fullmatch(row["code"] or "") else NO_PYTHON,
            message=" ".join(row["message"].split()),
            path=Path(row["filename"]).resolve().relative_to(root).as_posix(),
            line=row["location"]["row"],
        )
        for row in json.loads(ran.out)
    ]


def of_rule(code: str, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those of one rule; a file that is no Python breaks every rule."""
    return tuple(each for each in found if each.code in (code, NO_PYTHON))


def fix(tools: Tools, code: str) -> None:
    """Let ruff make the changes that it holds to be safe; what is left, `find` tells."""
    _check(tools, [code], "--fix", "--quiet")


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Those of the file with the most of them first, each file's from its top."""
    found = list(findings)
    per_file = Counter(each.path for each in found)
    return sorted(found, key=lambda each: (-per_file[each.path], each.path, each.line))


def _check(tools: Tools, codes: Sequence[str], *options: str) -> Ran:
    # isolated: only the requirements say which rules count, no file in the repository does
    fixed = ("check", "--isolated", "--no-cache", "--select", ",".join(codes))
    return tools.run(*command(), *fixed, *options, ".")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"
