"""Sessions with verifiers as real rows: they ran in memory, their agents wrote real sentences."""

from __future__ import annotations

from collections.abc import Callable

from django.utils import timezone

from loops import clockwork, runner
from loops import services as loops
from loops.engine.values import Role
from loops.models import Session
from tests.loops import verified as v
from tests.loops.world import MemoryWorkspace, Tools, World
from tracker import services as tracker
from tracker.models import Project

GOAL = "Restart after a bad row when the input is a pipe"
LONG = "a_name_that_has_no_place_to_break_" + "x" * 60
PLAN = {
    "summary": "Keep the rows since the last good one in a small buffer, so that a restart needs "
    "no seek. The reader then works on pipes and on files alike.",
    "decomposition": [
        "Measure how much of the source a restart needs",
        "Keep that much in a buffer of at most 8 MB",
        "Restart from the buffer; raise BadRow when the row does not fit",
    ],
    "risks": [
        f"A row longer than the buffer, as in {LONG}.",
        "The buffer doubles the peak memory.",
    ],
    "thinker_notes": "src/csvlane/stream.py holds the reader. Do not touch the public names.",
}
SAYS = {
    "tests": [
        ("FAIL", 3, "2 of 214 tests fail: test_restart_on_pipe, test_restart_twice."),
        ("OK", 8, ""),
        ("OK", 9, ""),
    ],
    "contract": [
        ("FAIL", 4, "restart() seeks, and R-2 says “without reading the file again”."),
        ("FAIL", 5, "The buffer has no bound: a file of one row is kept whole."),
        ("UNCERTAIN", 6, "R-2 does not say whether pipes are in scope."),
    ],
    "style": [("OK", 9, "Reads well."), ("OK", 9, ""), ("UNCERTAIN", 7, f"Is {LONG} public?")],
}


def make_project(name: str) -> Project:
    you = tracker.person("you")
    made = tracker.create_project(name=name, repo_path=f"/srv/{name}", by=you)
    for text in (
        "A file of any size is read with at most 64 MB of memory.",
        "After a bad row the caller can restart behind the last good row without reading the file "
        "again from the start.",
    ):
        tracker.edit_requirement(made, None, text=text, by=you, document="reader.md")
    return made


def _says(name: str) -> Callable[[Tools], None]:
    told = iter(SAYS[name])

    def say(tools: Tools) -> None:
        status, score, feedback = next(told)
        evidence = [
            {"criterion": "C-1", "status": "OK", "evidence": "peak of 58 MB over a file of 4 GB"},
            {"criterion": "C-2", "status": status, "evidence": f"{feedback} stream.py:63".strip()},
        ]
        fails = {"recommended_action": "FINISH"} if status == "FAIL" else {}
        v.submit_report(
            tools, status=status, score=score, feedback=feedback, evidence=evidence, **fails
        )

    return say


def _thinker(tools: Tools) -> None:
    v.submit_plan(tools, **PLAN)


def _builder(tools: Tools) -> None:
    number = len(tools.workspace.commits)
    tools.workspace.files["stream.py"] = f"version {number}"
    tools.workspace.commit()
    tools.control.output(b"I keep the pending rows in a buffer now.\n214 passed in 71.20s\n")


VERIFIERS = [
    v.verifier("tests", mechanical=True),
    v.verifier("contract"),
    v.verifier("style", "advising"),
]


def _behaviours() -> dict:
    return {
        Role.THINKER: _thinker,
        Role.WORKER: _builder,
        Role.MAKER: _builder,
        **{name: _says(name) for name in SAYS},
    }


def start(project: Project, config: dict) -> Session:
    you = tracker.person("you")
    session = loops.create_session(project, by=you, config=config, goal=GOAL)
    Session.objects.filter(pk=session.pk).update(preflight={"refusals": []})
    session.refresh_from_db()
    loops.start(session, you)
    return session


def waiting(name: str) -> Session:
    """Thinker-Worker-Verifier: attempt 3 is left uncertain by its verifiers."""
    session = start(make_project(name), v.feedback_config("coder", "analyst", verifiers=VERIFIERS))
    runner.advance(session.pk, World(_behaviours(), MemoryWorkspace()))
    return Session.objects.get(pk=session.pk)


def ceiling(name: str) -> Session:
    """Maker-Verifier: both allowed attempts were rejected."""
    config = v.maker_config(verifiers=VERIFIERS[:2], attempts=2)
    session = start(make_project(name), config)
    runner.advance(session.pk, World(_behaviours(), MemoryWorkspace()))
    return Session.objects.get(pk=session.pk)


def gate(name: str) -> Session:
    config = v.feedback_config("coder", "analyst", verifiers=VERIFIERS, gates=["worker"])
    session = start(make_project(name), config)
    runner.advance(session.pk, World(_behaviours(), MemoryWorkspace()))
    return Session.objects.get(pk=session.pk)


def broken(name: str) -> Session:
    """The maker crashed again and again: agents and limits can be changed."""
    loops.save_agent("strict-maker", {"argv": ["true"]})
    session = start(make_project(name), v.maker_config(verifiers=VERIFIERS[:2]))
    world = World({**_behaviours(), Role.MAKER: v.crashing}, MemoryWorkspace())
    for _ in range(4):
        Session.objects.filter(pk=session.pk).update(not_before=None)
        runner.advance(session.pk, world)
    return Session.objects.get(pk=session.pk)


def during(name: str, look_at: Callable[[Session], None]) -> None:
    """Call look_at in the middle of a second attempt of Thinker-Worker-Verifier."""
    session = start(make_project(name), v.feedback_config("coder", "analyst", verifiers=VERIFIERS))

    def worker(tools: Tools) -> None:
        _builder(tools)
        if session.iterations.filter(role="worker").count() == 2:
            clockwork.beat(timezone.now())
            look_at(session)

    world = World({**_behaviours(), Role.WORKER: worker}, MemoryWorkspace())
    runner.advance(session.pk, world, iterations=6)
