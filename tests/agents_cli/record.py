"""Records what real CLIs print, for parser tests that need no install.

    LOOPWATCH_TEST_CLIS=FOLDER python -m tests.agents_cli.record claude codex

Writes recorded/<cli>/<case>.jsonl. Paths and ports of the machine become fixed words.
"""

from __future__ import annotations

import argparse
import importlib
import re
import tempfile
from pathlib import Path

from loops.agents.cli.adapter import Adapter
from tests.agents_cli.clis import find
from tests.agents_cli.launching import Bench, Ran
from tests.stub_llm import StubServer

NAMES = ("claude", "codex", "gemini", "opencode", "qwen", "pi")
CASES = {  # case: the stub's scenario
    "ok": "ok",
    "limit": "429",
    "hiccup": "500once",
    "auth": "401",
    "context": "400ctx",
    "killed": "orphan",
}
MODELS = {"claude": "claude-stub-1", "gemini": "gemini-2.5-pro"}
RECORDED = Path(__file__).parent / "recorded"
LONGEST_SECONDS = 90


def adapter(name: str) -> Adapter:
    found: Adapter = getattr(importlib.import_module(f"loops.agents.cli.{name}"), name.upper())
    return found


def model(name: str) -> str:
    return MODELS.get(name, "stub-model")


def record(name: str, case: str) -> Ran:
    with tempfile.TemporaryDirectory(prefix="record") as folder, StubServer() as stub:
        bench = Bench(Path(folder) / "bench")
        ran = bench.run(
            adapter(name),
            seconds=LONGEST_SECONDS,
            until=(lambda line: "time.sleep" in line) if case == "killed" else None,
            base_url=stub.url(CASES[case], "run"),
            model=model(name),
        )
        words = {bench.clone: "/clone", bench.home: "/home/agent", bench.tmp: "/tmp/agent"}
        path = RECORDED / name / f"{case}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{_portable(line, words, name)}\n" for line in ran.lines)
        path.write_text(text, encoding="utf-8")
    return ran


def _portable(line: str, words: dict[Path, str], name: str) -> str:
    for place, word in words.items():
        line = line.replace(str(place), word)
        # Some name a folder after the workspace's path.
        line = line.replace(re.sub(r"[/_.]", "-", str(place)), word.replace("/", "-"))
    if exe := find(name):
        line = line.replace(str(exe.parents[2]), "/programs")
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8399", line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", choices=NAMES)
    parser.add_argument("--case", choices=CASES, action="append")
    options = parser.parse_args()
    for name in options.names:
        for case in options.case or CASES:
            ran = record(name, case)
            print(f"{name} {case}: exit code {ran.exit_code}, {ran.seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
