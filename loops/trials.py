"""Trying an agent: one tiny call in a scratch folder, and what came of it."""

from __future__ import annotations

import os
import secrets as randomness
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings

from loops import ledger, players
from loops.agent_settings import ENDPOINTS, AgentConfig
from loops.agents.base import Call, Places, ProcessIdentity, Reply
from loops.agents.cli.run import CliAgent
from loops.agents.output import plain
from loops.agents.redact import redact
from loops.engine.values import Fault, Role
from loops.folders import PACKAGES, hidden_from
from loops.interface import install
from loops.workspaces.engine_git import git_path, scrubbed_environment
from tracker.errors import DomainError

SECONDS = 60.0
LATE_SECONDS = SECONDS + 60.0  # beyond it, whoever carried the try out is gone
MOST_LINES, LONGEST_LINE = 40, 300
_MOST_BYTES = 256 * 1024
PROMPT = "This is a test of the connection. Answer with the one word: ready. Use no tools.\n"
_REPORT = (
    "This is a test of the connection; there is nothing to judge. Hand in the report with status "
    'OK, score 10 and the feedback "ready".\n'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How a try stands. state: waiting (for a worker), running, answered, failed. lines: what the
    agent did and said, readable. sentence: of the fault. money: dollars by our prices, None = not
    priced. seconds: that it took."""

    state: str
    id: str = ""
    seconds: float = 0.0
    lines: list[str] = field(default_factory=list)
    tokens: int | None = None
    money: float | None = None
    version: str = ""
    fault: str = ""
    sentence: str = ""
    exit_code: int | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Trial:
        return cls(**kept)


def trial(agent: AgentConfig) -> Trial:
    """Make the call, which takes up to SECONDS; never raises for a fault of the agent."""
    began = time.monotonic()
    ear = _Ear()
    try:
        env, withheld = players.secret_values(agent)
        with _scratch() as places:
            call = _call(agent, places, env, withheld)
            reply = _player(agent, places).run(call, ear)
        hidden = call.confidential
    except DomainError as refusal:  # a person's to mend
        reply, hidden = Reply(fault=Fault.CANNOT_START, detail=str(refusal)), ()
    tokens, money = _usage(reply, agent)
    return Trial(
        state="failed" if reply.fault else "answered",
        seconds=round(time.monotonic() - began, 1),
        lines=_lines(ear.text, hidden),
        tokens=tokens,
        money=money,
        version=reply.version,
        fault=reply.fault.value if reply.fault else "",
        sentence=redact(reply.detail, hidden),
        exit_code=reply.exit_code,
    )


class _Ear:
    """Hears the call; nobody cuts it off but its own limits."""

    def __init__(self) -> None:
        self._data = bytearray()

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")

    def started(self, process: ProcessIdentity) -> None:
        pass

    def output(self, data: bytes) -> bool:
        self._data += data[: _MOST_BYTES - len(self._data)]
        return True

    def must_stop(self) -> bool:
        return False


def _player(agent: AgentConfig, places: Places) -> Any:
    """Without the tracker's tools: there is no session to use them in."""
    role = Role.VERIFIER if agent.adapter in ENDPOINTS else Role.REVIEWER
    seat = players.Seat(
        role=role,
        command=places.home.parent / "bin" / "loopwatch",
        resume="",
        remember=lambda conversation: None,
        hand_in=lambda command, text: "",
    )
    found = players.player(agent, seat)
    return replace(found, mcp=()) if isinstance(found, CliAgent) else found


def _call(
    agent: AgentConfig, places: Places, env: Mapping[str, str], withheld: tuple[str, ...]
) -> Call:
    path = f"{places.home.parent / 'bin'}:{os.environ.get('PATH', os.defpath)}"
    is_endpoint = agent.adapter in ENDPOINTS
    return Call(
        session=0,
        iteration=0,
        role=Role.VERIFIER if is_endpoint else Role.REVIEWER,
        prompt=_REPORT if is_endpoint else PROMPT,
        places=places,
        socket=places.socket_dir / "s",
        token=randomness.token_urlsafe(32),
        mark=f"try-{randomness.token_hex(8)}",
        wall_seconds=min(agent.wall_seconds, SECONDS),
        silence_seconds=min(agent.silence_seconds, SECONDS),
        env={"PATH": path, **agent.env},
        secrets=env,
        withheld=withheld,
    )


@contextmanager
def _scratch() -> Iterator[Places]:
    """Folders as a session's, with an empty repository; gone afterwards."""
    root = Path(settings.DATA) / "trials" / randomness.token_hex(8)
    try:
        for name in ("clone", "home", "tmp", "socket"):
            (root / name).mkdir(mode=0o700, parents=True)
        install(root / "bin")
        subprocess.run(
            [git_path(), "init", "-q", str(root / "clone")],
            env=scrubbed_environment(),
            check=True,
            capture_output=True,
        )
        yield Places(
            clone=root / "clone",
            workdir=root / "clone",
            home=root / "home",
            tmp=root / "tmp",
            socket_dir=root / "socket",
            hidden=hidden_from(None),
            readable=(root / "bin", PACKAGES),
        )
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _lines(text: str, hidden: tuple[str, ...]) -> list[str]:
    """The last ones: how it ended says more than how it began."""
    kept = redact(plain(text), hidden).replace("\0", "").splitlines()
    shown = [line[:LONGEST_LINE] for line in kept if line.strip()]
    return shown[-MOST_LINES:]


def _usage(reply: Reply, agent: AgentConfig) -> tuple[int | None, float | None]:
    calls = ledger.priced(players.used(reply.usages, agent))
    if not calls:
        return reply.tokens, None
    costs = [one.money for one in calls]
    known = [cost for cost in costs if cost is not None]
    money = float(sum(known, Decimal(0))) if len(known) == len(costs) else None
    return sum(one.input + one.output for one in calls), money
