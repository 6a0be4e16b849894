"""Agents of the patterns with verifiers: thinker, builder (worker or maker) and verifier."""

from __future__ import annotations

import json
from typing import Any

from loops.agents.scripted import checks
from loops.agents.scripted.tools import Tools

Report = dict[str, Any]


def planner(tools: Tools) -> None:
    """Thinker: one criterion for each requirement, for --worker (else the first of the pool)."""
    submit_plan(tools, plan(tools))


def restless_planner(tools: Tools) -> None:
    """Thinker: as the planner, but always wants to think again first."""
    submit_plan(tools, {**plan(tools), "requires_self_call": True})


def plan(tools: Tools) -> Report:
    pool = tools.named("pool")
    chosen = tools.options.worker or pool[0]
    return {
        "summary": f"Plan {tools.turn()}: make every requirement hold.",
        "decomposition": ["Look at what is wrong", "Put it right", "Commit"],
        "success_criteria": [
            {"text": f"{need['key']} holds", "traces": need["key"]}
            for need in tools.ask("req", "list")
        ],
        "selected_worker": chosen,
        "alternative_workers": [name for name in pool if name != chosen],
    }


def submit_plan(tools: Tools, packet: Report) -> None:
    tools.loopwatch("plan", "submit", "-", stdin=json.dumps(packet))


def builder(tools: Tools) -> None:
    """Worker or maker: makes every --check hold and commits."""
    build(tools, most=1000)


def slow_builder(tools: Tools) -> None:
    """Worker or maker: makes one --check hold in each attempt."""
    build(tools, most=1)


def build(tools: Tools, most: int) -> None:
    wrong = [check for check in checks.checks(tools) if not check.holds(tools)]
    for check in wrong[:most]:
        check.make_hold(tools)
        tools.commit(f"{check.key}: {check.title}")


def checker(tools: Tools) -> None:
    """Verifier: runs the --check that each criterion traces to, and shows what it saw."""
    submit_report(tools, judged(tools))


def judged(tools: Tools) -> Report:
    evidence = [_judgement(tools, criterion) for criterion in tools.ask("criteria", "list")]
    wrong = [one for one in evidence if one["status"] == "FAIL"]
    return {
        "status": "FAIL" if wrong else "OK",
        "score": max(1, 10 - 3 * len(wrong)),
        "feedback": "; ".join(one["evidence"] for one in wrong),
        "evidence": evidence,
        "failure_type": "quality",
        "recommended_action": "RETRY" if wrong else "FINISH",
    }


def _judgement(tools: Tools, criterion: dict[str, str]) -> dict[str, str]:
    mine = [check for check in checks.checks(tools) if check.key == criterion["traces"]]
    wrong = [check for check in mine if not check.holds(tools)]
    said = [f"{check.place(tools)}: it is not so that {check.title}" for check in wrong] or [
        f"{check.place(tools)}: {check.title}" for check in mine
    ]
    status = "FAIL" if wrong else "OK"
    evidence = ", ".join(said) or "looked at every file, nothing contradicts it"
    return {"criterion": criterion["key"], "status": status, "evidence": evidence}


def submit_report(tools: Tools, report: Report) -> None:
    tools.loopwatch("verdict", "submit", "-", stdin=json.dumps(report))
