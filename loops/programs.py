"""Coding CLIs on this machine: which are there, and what version they say."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from django.conf import settings

from loops import moment
from loops.agent_settings import CLIS
from loops.agents.cli import find
from loops.models import Agent, Program


@dataclass(frozen=True, slots=True)
class Found:
    """name: of an adapter, or the path that an agent names."""

    name: str
    path: str = ""
    version: str = ""
    fault: str = ""


def look() -> tuple[Found, ...]:
    """Ask every CLI on PATH, and every one that an agent names, for its version; kept as rows.

    Takes as long as the slowest of them needs to start, once for each installation.
    """
    wanted = dict.fromkeys(CLIS, "") | {path: path for path in _own_paths()}
    with ThreadPoolExecutor(max_workers=4) as pool:
        found = tuple(pool.map(lambda one: _ask(*one), wanted.items()))
    at = moment.now()
    for one in found:
        told = {"path": one.path, "version": one.version, "fault": one.fault, "seen_at": at}
        Program.objects.update_or_create(host=settings.HOST, name=one.name, defaults=told)
    gone = Program.objects.filter(host=settings.HOST)
    gone.exclude(name__in=[one.name for one in found]).delete()
    return found


def known() -> dict[str, Program]:
    """What was found, by name: on this host, else where it was looked for last."""
    rows: Iterable[Program] = Program.objects.order_by("seen_at")
    here: dict[str, Program] = {row.name: row for row in rows}
    return here | {row.name: row for row in rows if row.host == settings.HOST}


def program_of(agent: dict[str, str], found: dict[str, Program]) -> Program | None:
    """The program that an agent's settings lead to, as it was found; None for no CLI, and before
    anybody looked."""
    return found.get(agent.get("program") or agent.get("adapter", ""))


def _own_paths() -> set[str]:
    named = Agent.objects.filter(adapter__in=CLIS).values_list("settings", flat=True)
    return {one["program"] for one in named if one.get("program")}


def _ask(name: str, program: str) -> Found:
    """program: the path that an agent names, "" for what is on PATH."""
    path = find.find(name, program)
    if path is None:
        return Found(name)
    version = find.version(path)
    fault = "" if version else f"{path} --version named no version."
    return Found(name, str(path), version, fault)
