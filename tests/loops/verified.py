"""Behaviours in memory for the patterns with verifiers, and configurations that name them."""

from __future__ import annotations

import json

from loops.agents.base import Reply
from loops.engine.values import Fault, Role
from tests.loops.world import Tools

AGENT = {"argv": ["true"]}


def verifier(name="judge", policy="required", mechanical=False):
    return {"name": name, "agent": AGENT, "policy": policy, "mechanical": mechanical}


def maker_config(**changes):
    base = {
        "pattern": "maker_verifier",
        "agents": {"maker": AGENT},
        "verifiers": [verifier()],
    }
    return base | changes


def feedback_config(*workers, **changes):
    base = {
        "pattern": "thinker_worker_verifier",
        "agents": {"thinker": AGENT},
        "pool": [{"name": name, "agent": AGENT} for name in workers or ("coder", "writer")],
        "verifiers": [verifier()],
    }
    return base | changes


def submit_plan(tools: Tools, **changes):
    needs = json.loads(tools.loopwatch("req", "list", "--json")[1])
    pool = json.loads(tools.loopwatch("pool", "list", "--json")[1])
    plan = {
        "summary": "Make it hold.",
        "success_criteria": [{"text": n["key"] + " holds", "traces": n["key"]} for n in needs],
        "selected_worker": pool[0]["name"],
        "alternative_workers": [one["name"] for one in pool[1:]],
    }
    return tools.loopwatch("plan", "submit", "-", stdin=json.dumps(plan | changes))


def thinker(tools: Tools) -> None:
    submit_plan(tools)


def builder(tools: Tools) -> None:
    """Puts right one file that holds the word bad, and commits."""
    files = tools.workspace.files
    for path, text in files.items():
        if "bad" in text:
            files[path] = text.replace("bad", "good")
            tools.workspace.commit()
            return


def idle(tools: Tools) -> None:
    """Changes nothing."""


def submit_report(tools: Tools, **report):
    return tools.loopwatch("verdict", "submit", "-", stdin=json.dumps(report))


def judge(tools: Tools) -> None:
    """OK with evidence when no file holds the word bad."""
    keys = [c["key"] for c in json.loads(tools.loopwatch("criteria", "list", "--json")[1])]
    bad = [path for path, text in tools.workspace.files.items() if "bad" in text]
    status = "FAIL" if bad else "OK"
    evidence = [
        {"criterion": k, "status": status, "evidence": f"read {bad or 'all'}"} for k in keys
    ]
    feedback = f"bad in {', '.join(bad)}" if bad else ""
    submit_report(tools, status=status, score=3 if bad else 9, feedback=feedback, evidence=evidence)


def saying(**report):
    def say(tools: Tools) -> None:
        submit_report(tools, **report)

    return say


def failing(action="RETRY", **more):
    return saying(
        status="FAIL", score=4, feedback="Not good enough.", recommended_action=action, **more
    )


unsure = saying(status="UNCERTAIN", score=5, feedback="I cannot tell.")


def crashing(tools: Tools) -> Reply:
    return Reply(fault=Fault.CRASH, detail="It crashed.", exit_code=1)


MAKERS = {Role.MAKER: builder, "judge": judge}
FEEDBACK = {Role.THINKER: thinker, Role.WORKER: builder, "judge": judge}
