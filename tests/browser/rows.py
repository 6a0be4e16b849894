"""The story's tracker and spec as real rows, with a real loop in the middle of an iteration."""

from __future__ import annotations

from collections.abc import Callable

from django.utils import timezone

from loops import hosts, runner
from loops import services as loops
from loops.engine.values import Role
from loops.models import Session
from tests.browser.story_tracker import _NAMES, NEW, OLD
from tests.loops.world import MemoryWorkspace, Tools, World
from tracker import services as tracker
from tracker.models import Project

CONFIG = {"agents": {"worker": {"argv": ["true"]}, "reviewer": {"argv": ["true"]}}}
GOAL = "Read CSV files with quoted fields and mixed line breaks, as R-2 and R-12 say."
DRAFT = NEW
_SAYS = {
    2: "LF, CRLF and CR are all line breaks.\nA file may mix them.",
    8: "The first row of data is row 1.\nA skipped row keeps its number.",
    16: "The last line of the import summary says how many rows were skipped.",
}


def make_project() -> Project:
    you = tracker.person("you")
    made = tracker.create_project(name="csvlane", repo_path="/srv/csvlane", by=you)
    for number, name in enumerate(_NAMES, start=1):
        text = OLD if number == 12 else f"# {name}\n\n{_SAYS.get(number, 'It holds as written.')}\n"
        document = "reader.md" if number <= 14 else "cli.md"
        tracker.edit_requirement(made, None, text=text, by=you, document=document)
    for version in (2, 3, 4):
        text = OLD if version == 4 else f"{OLD}\nSaid in version {version}.\n"
        tracker.edit_requirement(made, "R-12", text=text, by=you)
    return made


def play(project: Project, meanwhile: Callable[[Session], None]) -> Session:
    """Run two iterations: the first leaves a night's entries, in the second `meanwhile` runs."""
    you = tracker.person("you")
    session = loops.create_session(project, by=you, config=CONFIG, goal=GOAL)
    Session.objects.filter(pk=session.pk).update(preflight={"refusals": []})
    session.refresh_from_db()
    loops.start(session, you)

    def worker(tools: Tools) -> None:
        if session.iterations.count() == 1:
            tools.workspace.files["a.txt"] = "changed"
            tools.workspace.commit()
            _night(project, session.ref, tools)
            tools.loopwatch("not-done")
            return
        tools.loopwatch("bug", "start", "B-3")
        hosts.beat(timezone.now())
        meanwhile(session)

    world = World({Role.WORKER: worker}, MemoryWorkspace())
    runner.advance(session.pk, world, iterations=2)
    session.refresh_from_db()
    return session


def _night(project: Project, ref: str, tools: Tools) -> None:
    """What a night leaves behind: entries in every state, marks."""
    you = tracker.person("you")
    reviewer = tracker.agent(project, "reviewer", ref, f"{ref}/1")
    worker = tracker.agent(project, "worker", ref, f"{ref}/1")

    def code(title: str, key: str, quote: str, priority: str) -> object:
        return tracker.file_code_bug(
            project, by=reviewer, title=title, cites=key, quote=quote, priority=priority,
            contradiction="normalise() runs before the quote state is known.",
            place=f"src/csvlane/reader.py:{len(title)}",
        ).bug  # fmt: skip

    holds = "It holds as written."
    rows = code("Row numbers are one too high after a skipped row", "R-8", "row 1", "P2")
    stale = code("Header check ignores upper case", "R-7", holds, "P3")
    code(
        "A CRLF inside a quoted field becomes LF at a chunk border",
        "R-12.5",
        "A line break inside it is kept as written",
        "P0",
    )
    fixed = [
        code("Byte order mark stays in the first header", "R-3", holds, "P2"),
        code("Empty last line counts as a row", "R-8", "skipped row", "P3"),
    ]
    closed = [
        code("Tab is not found as a delimiter", "R-5", holds, "P2"),
        code("Two spaces after a quote crash the reader", "R-12", "A doubled quote", "P1"),
    ]
    tracker.file_task(
        project,
        by=you,
        title="Add “auto” to the delimiter option of the CLI",
        text="The option takes auto.",
        priority="P1",
    )
    stuck = tracker.file_task(
        project, by=you, title="Type hints for the public names", text="All of them."
    )
    tracker.file_spec_bug(
        project,
        by=reviewer,
        title="R-16 does not say how many line numbers to name",
        text="Three? All?",
        cites="R-16",
    )
    for number, bug in enumerate([*fixed, *closed]):
        tracker.mark_fixed(tracker.start(bug, worker), worker, f"4e8d21c{number}")
    for bug in closed:
        tracker.close(bug, reviewer)
    tracker.edit_requirement(
        project, "R-7", text="# Header names\n\nNames are compared as written.\n", by=you
    )
    assert rows.state == stale.state == "OPEN"
    tracker.block(stuck, worker, "The public names are not listed anywhere.")
    for number in (1, 2, 5, 6, 10, 11, 13, 15, 17, 18):
        tracker.add_mark(
            project,
            f"R-{number}",
            by=reviewer,
            place="src/csvlane/reader.py:12",
            blob="b1",
            session_ref=ref,
        )
