"""The other pages of the story: index, queue, tracker, spec, new session, messages."""

from __future__ import annotations

from dataclasses import replace

from escalations.forms import DecisionForm, EditForm
from escalations.pages import queue as q
from escalations.pages.edit import EditedFile, EditPage
from loops.engine.values import Choice, EndReason, Outcome, Pattern, Role, State
from loops.pages import index as i
from loops.pages import new_session as n
from loops.pages.limits import budget
from loops.pages.output import DiffPart, diff_files
from loops.pages.plain import AccountPage, ErrorPage, LinkPage, NoLinkPage
from loops.pages.states import POSSIBLE_ENDS, end_chip, state_chip
from loops.session_forms import NewSessionForm
from tests.browser import story
from tests.browser.story_session import log
from tests.browser.story_texts import DIFF
from tracker.forms import ProjectForm
from tracker.pages.atoms import Act, CheckLine, Chip, Empty, Filter, Link, met, unmet
from tracker.pages.project import NewProjectPage


def _iterations(used: int, most: int) -> object:
    return budget(
        "Iterations", used=used, most=most, used_words=f"{used}", most_words=f"{most} it."
    )


def index() -> i.IndexPage:
    night = [(turn.role, turn.outcome) for turn in story.turns()]
    work, review = (Role.WORKER, Outcome.WORK), (Role.REVIEWER, Outcome.REVIEW_BUGS)
    row = i.LoopRow(
        ref="S-41", title="Importer core", href="/sessions/41/", project="csvlane",
        chip=state_chip(State.RUNNING), now="Worker · iteration 58", sub="Output 2 s ago",
        remains="2 bugs, 1 task", cost="$64.18", strip=i.mini_strip(night), streak=0,
        limit=_iterations(58, 90),
    )  # fmt: skip
    active = (
        row,
        replace(row, ref="S-46", title="Tile cache eviction", project="geotiles", chip=state_chip(State.RUNNING, is_quiet=True), now="Reviewer · iteration 9", sub="Quiet 4 min, 15 allowed", remains="1 bug", cost="$3.12", strip=i.mini_strip([work, work, work, review, work, work, (Role.WORKER, Outcome.DONE), review, (Role.REVIEWER, None)]), streak=1, limit=_iterations(9, 40)),
        replace(row, ref="S-42", title="Streaming reader for pipes and sockets", project="rowkit", chip=state_chip(State.WAITING_HUMAN), now="E-7 · waits 12 min", sub="Clocks and spend stopped", remains="1 blocked", cost="$11.90", strip=i.mini_strip([work, review, work, work], is_waiting=True), limit=_iterations(40, 40)),
        replace(row, ref="S-45", title="Schema migration", project="ledgersync", chip=state_chip(State.RUNNING, held_until="07:10"), now="Agent limit resets 07:10", sub="Goes on by itself", remains="1 bug", cost="$12.06", strip=i.mini_strip(night[30:42])),
        replace(row, ref="S-36", title="Vector export", project="maps", chip=state_chip(State.PAUSED), now="Paused 05:50 by you", sub="After iteration 11", remains="3 bugs", cost="not priced", strip=i.mini_strip(night[:11]), limit=_iterations(11, 35)),
        replace(row, ref="S-44", title="Encoding detection", chip=state_chip(State.QUEUED), now="Behind S-41", sub="One loop per project", remains="not begun", cost="$0.00", strip=None, streak=None, limit=_iterations(0, 40)),
    )  # fmt: skip
    ended = (
        replace(row, ref="S-40", title="Byte order marks", chip=end_chip(EndReason.DONE), now="Proved at iteration 23", sub="Ended 21:40", remains="proved", cost="$18.20", strip=i.mini_strip(night[20:29]), streak=2, limit=_iterations(23, 40)),
        replace(row, ref="S-39", title="Benchmark harness", chip=end_chip(EndReason.STOPPED), now="Stopped by you", sub="Ended 19:02", remains="4 bugs", cost="$9.00", limit=_iterations(31, 40)),
        replace(row, ref="S-38", title="Tokenizer", project="rowkit", chip=end_chip(EndReason.FAILED), now="Workspace is unusable", sub="The disk was full", remains="1 task", cost="$0.40", strip=i.mini_strip([work]), limit=_iterations(1, 40)),
    )  # fmt: skip
    return i.IndexPage(
        headline="1 loop waits for a decision, 3 are running",
        lead="Two questions are open, the longest for 2 h 5 min. One of them holds a loop up.",
        groups=(i.LoopGroup("Active", active), i.LoopGroup("Ended in the last 24 h", ended)),
        questions=(
            i.QuestionRow(ref="E-7", title="6 worker iterations in a row changed nothing. Is the goal still reachable?", facts="rowkit · Streaming reader for pipes and sockets · no progress", href="/queue/7/", waited="12 min", blocks=True),
            i.QuestionRow(ref="E-6", title="B-28 is blocked: “Header check” needs a decision on upper case", facts="csvlane · Importer core · blocked, other work is left", href="/queue/6/", waited="2 h 5 min", blocks=False),
        ),
        projects=(
            i.ProjectRow(name="csvlane", facts="18 requirements, 5 open entries", tracker="/p/csvlane/tracker/", spec="/p/csvlane/specs/"),
            i.ProjectRow(name="geotiles", facts="7 requirements, 1 open entry", tracker="/p/geotiles/tracker/", spec="/p/geotiles/specs/"),
            i.ProjectRow(name="rowkit", facts="no requirement yet", tracker="/p/rowkit/tracker/", spec="/p/rowkit/specs/"),
        ),
        parts_url="/parts/",
        new_session="/sessions/new/",
        new_project="/projects/new/",
        queue=Link("Open queue", "/queue/"),
        spent=i.Spent(total="$118.86", rows=(("Worker", "$92.10"), ("Reviewer", "$24.26"), ("Coach", "$2.50")), note="3.1 M tokens ran on a subscription and are not priced. They are not in this sum."),
    )  # fmt: skip


def no_loops() -> i.IndexPage:
    acts = (
        Act(text="Try the demo", post="/demo/", icon="play", primary=True),
        Act(text="New project", href="/projects/new/"),
    )
    empty = Empty(
        icon="loops",
        fact="No loop has run yet",
        sentence="A loop needs a repository and one agent. The demo needs neither: it asks you a question within 2 minutes and costs nothing.",
        acts=acts,
    )
    return replace(index(), groups=(), questions=(), empty=empty)


def queue(current: str = "", *, is_empty: bool = False) -> q.QueuePart:
    items = (
        q.QueueItem(ref="E-7", title="6 worker iterations in a row changed nothing. Is the goal still reachable?", kind="No progress", href="/queue/7/", waited=Chip("wait", "person", "Waits 12 min"), facts="S-42, rowkit", is_current=current == "E-7"),
        q.QueueItem(ref="E-6", title="B-28 is blocked: “Header check” needs a decision on upper case", kind="Blocked", href="/queue/6/", waited=Chip("off", "clock", "2 h 5 min, loop goes on"), facts="S-41, csvlane", is_current=current == "E-6"),
        q.QueueItem(ref="E-5", title="The limit of 40 iterations is reached", kind="Limit", href="/queue/5/", waited=Chip("ok", "check", "Granted 20 at 04:11"), facts="S-46, geotiles", is_current=current == "E-5"),
    )  # fmt: skip
    return q.QueuePart(
        facts=(q.QueueFact("2", "open"), q.QueueFact("1", "holds a loop up", tone="warn"), q.QueueFact("2 h 5 min", before="longest wait"), q.QueueFact("3", before="decided today")),
        filters=(Filter(text="Open", href="?", count=0 if is_empty else 2, is_current=True), Filter(text="Decided", href="?show=decided", count=5)),
        items=() if is_empty else items[:2],
        open_count=2,
        href="/queue/",
    )  # fmt: skip


def queue_list() -> q.QueuePage:
    return q.QueuePage(queue=queue())


def queue_empty() -> q.QueuePage:
    empty = Empty(
        icon="ok",
        fact="Nobody is waiting for you",
        sentence="Two loops are running. The next question appears here by itself.",
        acts=(Act(text="Decided, 5", href="?show=decided"),),
    )
    return q.QueuePage(queue=queue(is_empty=True), empty=empty)


OPTIONS = (
    q.Option(choice=Choice.GRANT, word="Allow more tries", why="The count starts anew; at most this many more iterations can run without a change.", button="Grant {} more, resume S-42", key="4"),
    q.Option(choice=Choice.AMEND, word="Amend a requirement", why="Saves a new version; S-42 reads it with iteration 41, its streak is 0.", button="Save the requirement, resume S-42", key="7"),
    q.Option(choice=Choice.APPROVE, word="Approve as it is", why="Ends S-42 as “Approved by a person”, labelled not proved.", button="Approve, end S-42", key="1"),
    q.Option(choice=Choice.EDIT, word="Edit, then approve", why="Your commit goes on top and S-42 ends as edited by a person.", button="Open the editor", key="3", page="/queue/7/edit/"),
    q.Option(choice=Choice.STOP, word="Stop the session", why="Stops S-42. The branch is kept, nothing is pushed.", button="Stop S-42", key="x"),
)  # fmt: skip


def _decision_form(*, data: dict[str, str] | None = None, **initial: str) -> DecisionForm:
    form = DecisionForm(
        data,
        offered=[option.choice for option in OPTIONS],
        limit="no_progress",
        limit_label="Iterations without a change",
        requirements=[("R-14", "R-14 Bounded memory, v2"), ("R-8", "R-8 Row numbers, v2")],
        document="A file of any size is read with at most 64 MB of memory.\nAfter a bad row the caller can restart behind the last good row.\n",
        initial={"version": "3", "evidence": "b21c9e0", **initial},
    )  # fmt: skip
    return form


def _question(form: DecisionForm | None) -> q.QuestionPart:
    return q.QuestionPart(
        ref="E-7",
        kind="No progress",
        question="6 worker iterations in a row changed nothing. Is the goal still reachable?",
        why="the worker tries to seek() on a pipe and gives up each time. R-14 does not say whether pipes are in scope.",
        effect="S-42 stands still until somebody decides. Its clocks and its spending have stopped.",
        session=Link("S-42 Streaming reader for pipes and sockets", "/sessions/42/"),
        meta=("rowkit", "iteration 40 of 40", "$11.90 so far", "opened 06:30"),
        waited=Chip("wait", "person", "Waits 12 min"),
        version=3,
        post="/queue/7/decide/",
        options=OPTIONS,
        form=form,
        checks=(
            unmet("1 code bug is open", links=(Link("B-52", "/p/rowkit/tracker/B-52/"),), sub="Reopened twice"),
            unmet("No clean review of this tree"),
            met("Tree is committed", fact="b21c9e0"),
        ),
        requirements=(q.RequirementText("R-14", "Bounded memory", 2, (("R-14.1", "A file of any size is read with at most 64 MB of memory."), ("R-14.2", "After a bad row the caller can restart behind the last good row without reading the file again from the start.")), "/p/rowkit/specs/R-14/"),),
        diff=DiffPart(files=diff_files(DIFF), against="base 3f02d7a"),
        log=log(is_following=False),
    )  # fmt: skip


def question() -> q.QueuePage:
    return q.QueuePage(queue=queue("E-7"), question=_question(_decision_form(choice="grant")))


def edit() -> EditPage:
    text = "".join(
        f"def read_row_{n}(self, stream, *, limit=64 * 1024 * 1024):\n    return self.buffer.replay(stream, limit)\n\n\n"
        for n in range(30)
    )
    return EditPage(
        ref="E-7",
        question="6 worker iterations in a row changed nothing. Is the goal still reachable?",
        session=Link("S-42 Streaming reader for pipes and sockets", "/sessions/42/"),
        back="/queue/7/",
        post="/queue/7/edit/",
        form=EditForm(initial={"version": "3", "evidence": "b21c9e0"}),
        files=(
            EditedFile(path="src/rowkit/reader.py", is_current=True, is_edited=False),
            EditedFile(path="src/rowkit/buffers/a_module_with_a_very_long_name.py", is_current=False, is_edited=True),
            EditedFile(path="tests/test_pipes.py", is_current=False, is_edited=False),
        ),
        path="src/rowkit/reader.py",
        text=text,
        kept=(("src/rowkit/buffers/a_module_with_a_very_long_name.py", "x = 1\n"),),
        version=3,
        lines=(
            CheckLine(tone="off", icon="pencil", text="1 file edited so far"),
            met("Your commit goes on top of the result of S-42"),
            CheckLine(tone="warn", icon="warn", text="Labelled “Approved with edits”, not proved", sub="The verifiers do not run on your edit."),
            CheckLine(tone="off", icon="branch", text="Nothing is pushed"),
        ),
        button="Commit and approve, end S-42",
    )  # fmt: skip


def question_refused() -> q.QueuePage:
    form = _decision_form(
        data={
            "choice": "grant",
            "version": "3",
            "amount_grant": "",
            "text_grant": "Pipes are in scope.",
        }
    )
    form.is_valid()
    return q.QueuePage(
        queue=queue("E-7"), question=_question(form), evidence_changed="Evidence changed at 06:44."
    )


def question_decided() -> q.QueuePage:
    decided = q.Decided(
        word="Amend a requirement",
        by="on-call reviewer",
        when="06:41",
        text="Pipes are in scope; keep a replay buffer of 8 MB.",
        taken_up="S-42 took it up at 06:41:24 and goes on with iteration 41.",
    )
    part = replace(_question(None), decided=decided, waited=Chip("ok", "check", "Decided 06:41"))
    draft = q.Draft(
        word="Grant 6 more, resume S-42", text="Pipes are in scope. Do not seek.", version=3
    )
    return q.QueuePage(queue=queue("E-7"), question=part, draft=draft)


def new_session(data: dict[str, str] | None = None) -> n.NewSessionPage:
    form = NewSessionForm(
        data,
        projects=[("csvlane", "csvlane"), ("geotiles", "geotiles")],
        bases=[("", "main, 3f02d7a"), ("40", "S-40, ended done, 4be0d12")],
        agents=[("claude", "claude-code · opus-4.8"), ("codex", "codex · gpt-5.5")],
        documents=[("reader", "reader.md, 11 requirements"), ("cli", "cli.md, 7 requirements")],
        requirements=[("R-3", "R-3 Byte order mark"), ("R-4", "R-4 Encodings"), ("R-12", "R-12 Quoted fields")],
        initial={"goal": "Detect the encoding of a file from its first 64 kB and report how sure the guess is.", "scope": "chosen", "requirements": ["R-3", "R-4"], "coach": "claude"},
    )  # fmt: skip
    form.is_valid()
    return n.NewSessionPage(
        form=form,
        post="/sessions/new/",
        preview="/sessions/new/preview/",
        index="/",
        bound=n.BoundPart(number=40, unit="iteration", formula="the limit of 40 iterations; 8 h is reached first at 12 min each", rows=(("Reviews", "at most 20"), ("Time", "at most 8 h"), ("Without a change", "6 in a row"), ("Cost", "not bounded by money"))),
        preflight=n.PreflightPart(
            lines=(
                met("Repository is clean", fact="3f02d7a"),
                met("Worker and reviewer answer", fact="4 s"),
                met("prepare ran", fact="12 s"),
                CheckLine(tone="warn", icon="warn", text="check fails at the base already", fact="exit 1", sub="These failures are shown apart and do not count against the worker."),
                CheckLine(tone="off", icon="doc", text="The worker loads AGENTS.md", sub="The prompt says that the loop’s rules win. The reviewer does not load it."),
                CheckLine(tone="warn", icon="clock", text="S-41 holds this project", sub="This session starts when S-41 ends."),
            ),
            button="Queue behind S-41",
            failed_command="pytest -q",
            tail="tests/test_cli.py F.......                                   [100%]\nFAILED tests/test_cli.py::test_auto_delimiter - KeyError: 'auto'\n1 failed, 213 passed, 1 skipped in 70.91s",
        ),
        ends=tuple(replace(end_chip(end), loud=False) for end in POSSIBLE_ENDS[Pattern.SINGLE_THREAD]),
        family=(
            CheckLine(tone="ok", icon="shield", text="Reviewer is of another family than worker: gpt-5.5 over claude-opus-4-8."),
        ),
        dry_run="/sessions/new/dry-run/",
        templates=n.TemplatesPart(names=("nightly", "two verifiers"), save="/sessions/templates/", load="/sessions/new/"),
    )  # fmt: skip


def new_session_refused() -> n.NewSessionPage:
    page = new_session(
        {
            "project": "csvlane",
            "goal": "",
            "scope": "none",
            "pattern": "single_thread",
            "worker": "claude",
            "reviewer": "claude",
            "review_every": "3",
            "coach_every": "8",
            "done_mode": "script",
            "iterations": "0",
            "hours": "8",
            "no_progress": "6",
        }
    )
    lines = (unmet("Coach after 8 turns, but no coach is chosen"),)
    return replace(
        page,
        preflight=n.PreflightPart(lines=lines, button="Not ready to start", can_start=False),
        family=(
            CheckLine(
                tone="warn",
                icon="warn",
                text="Worker and reviewer are the same agent. Their mistakes may agree.",
            ),
        ),
    )


def new_project() -> NewProjectPage:
    return NewProjectPage(form=ProjectForm(), post="/projects/new/", index="/")


ERRORS = {
    "403": ErrorPage(title="E-7", crumb="Queue", icon="lock", headline="You may look at E-7, not decide it", sentence="Deciding in rowkit needs the role operator. You have viewer. An admin of rowkit can grant it.", acts=(Act(text="Back to the queue", href="/queue/"),)),
    "404": ErrorPage(title="S-410", crumb="Loops", icon="q", headline="There is no S-410", sentence="Sessions run from S-1 to S-46. It may be a typing slip, or the session is in a project that you do not see.", acts=(Act(text="S-41 Importer core", href="/sessions/41/"), Act(text="All loops", href="/"))),
    "409": ErrorPage(title="S-41", crumb="Loops", icon="person", headline="S-41 was stopped before", sentence="on-call reviewer stopped it at 06:41. Your pause was not applied.", acts=(Act(text="Open S-41", href="/sessions/41/"),)),
}  # fmt: skip
LINK = LinkPage(post="/login/abc/", name="you", back="S-41")
USED = NoLinkPage(
    headline="This link was used",
    sentence="A login link works once. This one was used at 22:01.",
    back="E-7",
)
ACCOUNT = AccountPage(
    name="you",
    sentence="You may operate every project. Sign out ends this browser’s session only.",
    log_out="/logout/",
)
