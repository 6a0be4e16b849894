"""What is known of each adapter before an agent of it runs: what people call it, and what of its
program was tested."""

from __future__ import annotations

import re
from dataclasses import dataclass

from loops.agent_settings import CLIS, ENDPOINTS
from loops.agents.cli.known import ADAPTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """word: what people call it. program: its name on PATH, "" for what is none. tested: first and
    last version that the tests ran against. logins: files under a person's HOME that hold a
    sign-in. own_sandbox: a sentence on what its own does, "" = it has none. key: how its maker
    calls the API key. vendor: whose models it runs unless it is told otherwise, "" = anybody's.
    """

    name: str
    word: str
    program: str = ""
    tested: tuple[str, str] = ("", "")
    logins: tuple[str, ...] = ()
    own_sandbox: str = ""
    key: str = ""
    vendor: str = ""

    @property
    def is_cli(self) -> bool:
        return self.name in CLIS

    @property
    def is_endpoint(self) -> bool:
        return self.name in ENDPOINTS


def _cli(name: str, word: str, key: str = "", vendor: str = "") -> Kind:
    adapter = ADAPTERS[name]
    return Kind(
        name=name,
        word=word,
        program=name,
        tested=adapter.tested,
        logins=adapter.logins,
        own_sandbox=adapter.own_sandbox,
        key=key,
        vendor=vendor,
    )


_KINDS = (
    _cli("claude", "Claude Code", "ANTHROPIC_API_KEY", "anthropic"),
    _cli("codex", "Codex", "OPENAI_API_KEY", "openai"),
    _cli("gemini", "Gemini CLI", "GEMINI_API_KEY", "google"),
    _cli("opencode", "opencode"),
    _cli("qwen", "Qwen Code", "OPENAI_API_KEY", "qwen"),
    _cli("pi", "pi"),
    Kind(name="openai", word="OpenAI-compatible endpoint", key="OPENAI_API_KEY"),
    Kind(name="anthropic", word="Anthropic endpoint", key="ANTHROPIC_API_KEY", vendor="anthropic"),
    Kind(name="command", word="Any command"),
)
KINDS = {kind.name: kind for kind in _KINDS}
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)+")


def range_words(tested: tuple[str, str]) -> str:
    """ "2.1.197 to 2.1.332"; "" where nothing was tested."""
    first, last = tested
    return first if first == last else f"{first} to {last}"


def outside(version: str, tested: tuple[str, str]) -> str:
    """How a version lies outside what was tested, in words ("newer than 2.1.332"); "" for one that
    lies in it, and where either is not known."""
    first, last = (_parts(one) for one in tested)
    now = _parts(version)
    if not (first and last and now):
        return ""
    if now < first:
        return f"older than {tested[0]}"
    return f"newer than {tested[1]}" if now > last else ""


def _parts(version: str) -> tuple[int, ...]:
    found = _NUMBERS.search(version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()
