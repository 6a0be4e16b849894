"""The session page of the story: live, pinned to an iteration, waiting, ended, not begun."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from loops.engine.values import EndReason, Outcome, Role, State
from loops.forms import PushForm, StopForm
from loops.pages import acting
from loops.pages import session as page
from loops.pages.limits import LimitsPart, budget
from loops.pages.output import (
    DiffPart,
    FileRow,
    FilesPart,
    LogLine,
    LogPart,
    PromptPart,
    diff_files,
    fragments,
)
from loops.pages.states import outcome_chip, role_icon, role_word, state_chip
from loops.pages.timeline import timeline
from tests.browser.story import NOW, changes, open_bugs, turns
from tests.browser.story_texts import DIFF, PROMPT, TOLD
from tracker.pages.atoms import Act, CheckLine, Chip, Link, met, unmet
from tracker.pages.words import duration, stopwatch

BASE = "/sessions/41/"
ROLES = (Role.WORKER, Role.REVIEWER, Role.COACH)


def log_lines() -> tuple[LogLine, ...]:
    told = []
    for index, line in enumerate(TOLD.strip().splitlines()):
        at, kind, source, tone, text = line.split("|", 4)
        hour = datetime.strptime(at, "%H:%M:%S").replace(year=2026, month=11, day=30, tzinfo=UTC)
        told.append(
            LogLine(
                seq=400 + index,
                number=1267 + index,
                at=hour,
                kind=kind,
                source=source,
                tone=tone,
                fragments=fragments(text.replace("\\\\", "\\")),
            )
        )
    return tuple(told)


def log(*, is_following: bool = True) -> LogPart:
    return LogPart(
        lines=log_lines(),
        total=1284,
        after_url=f"{BASE}iterations/58/output/",
        raw_url=f"{BASE}iterations/58/raw/",
        older=f"{BASE}iterations/58/output/?before=1267",
        secrets_removed=1,
        is_following=is_following,
    )


def rows(current: int = 58) -> page.IterationRowsPart:
    told = tuple(
        page.IterationRow(
            number=turn.number,
            role=role_word(turn.role),
            role_icon=role_icon(turn.role),
            chip=outcome_chip(turn.outcome, findings=turn.findings, guidance=turn.guidance),
            href=turn.href,
            duration=stopwatch(((turn.ended_at or NOW) - turn.started_at).total_seconds()),
            started_at=None if turn.ended_at else turn.started_at,
            is_current=turn.number == current,
        )
        for turn in reversed(turns())
    )
    return page.IterationRowsPart(rows=told[:40], done=58, most=90, older=f"{BASE}?before=19")


def iteration(tab: page.Tab = "output") -> page.IterationPart:
    base = f"{BASE}iterations/58/"
    names = (
        ("output", "Live output"),
        ("diff", "Diff so far"),
        ("prompt", "Prompt"),
        ("files", "Files"),
    )
    tabs = tuple(
        page.TabLink(
            name=name,
            word=word,
            href=f"{base}?show={name}",
            count=3 if name == "files" else None,
            added=11 if name == "diff" else None,
            removed=1 if name == "diff" else None,
        )
        for name, word in names
    )
    files = FilesPart(
        rows=(
            FileRow(
                path="src/csvlane/reader.py",
                chip=Chip("run", "pencil", "Changed"),
                sub="+6 −1, in the tree",
            ),
            FileRow(
                path="tests/test_reader.py",
                chip=Chip("run", "pencil", "Changed"),
                sub="+5 −0, in the tree",
            ),
            FileRow(
                path=".github/workflows/test.yml",
                chip=Chip("warn", "undo", "Put back"),
                sub="Outside the project’s paths. The engine restored it; the rest is judged as usual.",
            ),
        )
    )
    return page.IterationPart(
        number=58,
        role="Worker",
        role_icon="wrench",
        chip=outcome_chip(None),
        agent="claude-code · opus-4.8",
        tab=tab,
        tabs=tabs,
        spent="6:04",
        limit="15:00",
        usage="412 k tokens · $0.71",
        version="2.1.400",
        warning="claude 2.1.400 is newer than 2.1.332, which was tested last.",
        started_at=NOW - timedelta(seconds=364),
        is_live=True,
        log=log() if tab == "output" else None,
        diff=DiffPart(files=diff_files(DIFF), against="iteration 57") if tab == "diff" else None,
        prompt=PromptPart(text=PROMPT, uses=("spec v23", "guidance v7", "6 entries"))
        if tab == "prompt"
        else None,
        files=files if tab == "files" else None,
    )


def limits(done: int = 58) -> LimitsPart:
    spent = 31_080 * done / 58
    return LimitsPart(
        budgets=(
            budget("Iterations", used=done, most=90, used_words=str(done), most_words="90"),
            budget("Time", used=spent, most=43_200, used_words=duration(spent), most_words="12 h"),
            budget("Tokens", used=41.2, most=60, used_words="41.2 M", most_words="60 M"),
            budget("Money", used=64.18, most=None, used_words="$64.18"),
        ),
        bound_number=90 - done,
        bound=f"At most {90 - done} more iterations can run. No setting or agent reply can raise this; only you can.",
    )


def why() -> page.WhyNotDonePart:
    tracker = "/p/csvlane/tracker/"
    return page.WhyNotDonePart(
        streak=0,
        needed=2,
        lead="Not done yet, because:",
        lines=(
            unmet("2 code bugs are open", links=(Link("B-31", f"{tracker}B-31/"), Link("B-33", f"{tracker}B-33/")), sub="B-31 is being worked on now"),
            unmet("1 task is open", links=(Link("T-12", f"{tracker}T-12/"),), sub="Filed 05:18, next after P1 bugs"),
            unmet("No clean review of this tree", fact="it. 42", sub="9 changes since the last clean one"),
            unmet("Spec changed since that review", links=(Link("R-9", "/p/csvlane/specs/R-9/"),), sub="Edited 06:39, read from iteration 59"),
            met("Tree is committed", fact="9c41e07", sub="Checked before iteration 58"),
        ),
    )  # fmt: skip


def actions(*, open_stop: bool = False) -> acting.ActionsPart:
    return acting.ActionsPart(
        links=(Act(text="File", href="/p/csvlane/tracker/?file=task", icon="plus"),),
        commands=(
            acting.Command(
                post=f"{BASE}pause/", word="Pause", icon="pause", more="after 58", key="p"
            ),
        ),
        stop=acting.StopStep(
            post=f"{BASE}stop/",
            question="Stop S-41 now?",
            sentence="Iteration 58 is cut off and its 2 changed files are kept on the branch. The agent and all "
            "its child processes are gone before it shows as stopped. A stopped session cannot be resumed.",
            lines=(
                replace(
                    met("2 bugs and T-12 stay open", fact="B-31, B-33"), tone="off", icon="bug"
                ),
                replace(
                    met("S-44 starts next", fact="waits behind S-41"), tone="off", icon="queued"
                ),
            ),
            form=StopForm(),
            button="Stop S-41",
            is_open=open_stop,
        ),
    )


def status() -> page.StatusPart:
    return page.StatusPart(
        ref="S-41",
        title="Importer core",
        chip=state_chip(State.RUNNING),
        project=Link("csvlane", "/p/csvlane/tracker/"),
        branch="loopwatch/S-41",
        evidence="Output",
        evidence_at=NOW - timedelta(seconds=2),
        facts=("Worker, Reviewer, Coach", "Started 22:04 by you"),
    )


def edits() -> page.SpecEditsPart:
    return page.SpecEditsPart(
        edits=(
            page.SpecEdit(what=Link("R-9 v3", "/p/csvlane/specs/R-9/"), by="by you, 06:39", chip=Chip("warn", "clock", "with iteration 59")),
            page.SpecEdit(what=Link("Guidance v7", f"{BASE}iterations/55/"), by="by Coach", chip=Chip("ok", "check", "in use since 56")),
        )
    )  # fmt: skip


def cost() -> page.CostPart:
    return page.CostPart(
        rows=(
            page.RoleCost("Worker", "claude-code · opus-4.8", "$47.92"),
            page.RoleCost("Reviewer", "codex · gpt-5.5", "$15.03"),
            page.RoleCost("Coach", "claude-code · haiku-4.5", "$1.23"),
        ),
        confined=(
            CheckLine(
                tone="ok",
                icon="shield",
                text="claude, worker, coach",
                fact="Confined by the system",
            ),
            CheckLine(
                tone="warn",
                icon="warn",
                text="codex, reviewer",
                fact="Not confined",
                sub="This agent could act as you: no sandbox hides your files or the data folder "
                "from it on this machine.",
            ),
        ),
    )


def running(tab: page.Tab = "output") -> page.SessionPage:
    strip = timeline(turns(), roles=ROLES, changes=changes(), open_bugs=open_bugs(), now=NOW)
    return page.SessionPage(
        status=status(),
        actions=actions(),
        rows=rows(),
        why=why(),
        limits=limits(),
        edits=edits(),
        cost=cost(),
        parts_url=f"{BASE}parts/",
        timeline=strip,
        iteration=iteration(tab),
    )


def stopping() -> page.SessionPage:
    return replace(running(), actions=actions(open_stop=True))


def waiting() -> page.SessionPage:
    shown = running("diff")
    return replace(
        shown,
        status=replace(status(), chip=state_chip(State.WAITING_HUMAN), evidence="for 12 min", evidence_at=None, exposed="No sandbox hides the data folder from this agent."),
        notice=page.NoticePart(
            tone="wait",
            icon="person",
            text="6 worker iterations in a row changed nothing. Is the goal still reachable?",
            more="S-41 stands still until somebody decides. Its clocks and its spending have stopped.",
            act=Act(text="Decide E-7", href="/queue/7/", primary=True),
        ),
        actions=replace(actions(), commands=()),
    )  # fmt: skip


def ended() -> page.SessionPage:
    shown = running("files")
    lines = (
        met("No code bug or task is open"),
        met("Two done signals in a row", fact="it. 61, 63"),
        met("Clean review of this tree", fact="it. 62", sub="Marks all 18 requirements in scope"),
        met("Tree is committed", fact="4be0d12"),
    )
    done = replace(
        iteration("files"),
        chip=outcome_chip(Outcome.DONE),
        is_live=False,
        started_at=None,
        number=63,
    )
    return replace(
        shown,
        status=replace(status(), chip=state_chip(State.ENDED, end=EndReason.DONE), evidence="Ended 07:31", evidence_at=None),
        notice=page.NoticePart(tone="ok", icon="ok", text="Done, proved: two done signals and a clean review of tree 4be0d12.", more="The branch loopwatch/S-41 is in the project’s store. Nothing was pushed."),
        actions=acting.ActionsPart(links=(Act(text="New session from here", href="/sessions/new/?base=41", icon="plus"),)),
        why=replace(why(), streak=2, lead="It counts as done because:", lines=lines),
        iteration=done,
        deliver=delivery(),
    )  # fmt: skip


def delivery() -> acting.DeliverPart:
    base, branch = f"{BASE}deliver/", "loopwatch/S-41"
    remotes = [
        ("origin", "origin, git@example.org:team/csvlane.git"),
        ("/srv/csvlane", "The repository itself, /srv/csvlane"),
    ]
    return acting.DeliverPart(
        branch=branch,
        commit="4be0d12c9a71",
        label="Proved.",
        command="gh pr create --head {branch} --base {base} --title {title} --fill",
        push=acting.PushStep(
            post=f"{base}push/",
            question=f"Push {branch}?",
            sentence="A new branch appears there, and nothing else changes. It is never forced: if the remote refuses, its words are shown here.",
            form=PushForm(remotes=remotes),
            button=f"Push {branch}",
        ),
        pull_request=acting.Command(post=f"{base}pull-request/", word="Open a pull request", icon="branch"),
        patch=acting.Command(post=f"{base}patch/", word="Download the patch", icon="down"),
        rows=(
            acting.DeliveryRow(chip=Chip("ok", "ok", "Pushed"), text="origin git@example.org:team/csvlane.git", fact="you, 07:40", said="To git@example.org:team/csvlane.git\n * [new branch] 4be0d12c9a71 -> loopwatch/S-41"),
            acting.DeliveryRow(chip=Chip("bad", "fail", "Push failed"), text="origin git@example.org:team/csvlane.git", fact="you, 07:38", said="remote: Branches need a reviewer first.\n ! [remote rejected] loopwatch/S-41 (pre-receive hook declined)"),
            acting.DeliveryRow(chip=Chip("ok", "ok", "Patch"), text="csvlane-S-41.patch", fact="you, 07:33"),
        ),
    )  # fmt: skip


def first_minute() -> page.SessionPage:
    """Queued behind another session: nothing has run."""
    return replace(
        running(),
        status=replace(status(), ref="S-44", title="Encoding detection", chip=state_chip(State.QUEUED), evidence="Waits behind S-41 on this project", evidence_at=None, branch="", facts=("Worker, Reviewer", "Queued 06:12 by you")),
        timeline=None,
        iteration=None,
        rows=page.IterationRowsPart(rows=(), done=0, most=40),
        limits=limits(0),
        edits=page.SpecEditsPart(edits=()),
    )  # fmt: skip


def short() -> page.SessionPage:
    """The demo after 40 seconds: four iterations, axis in seconds."""
    at = NOW - timedelta(seconds=41)
    steps = (
        (Role.WORKER, 9, Outcome.WORK),
        (Role.REVIEWER, 6, Outcome.REVIEW_BUGS),
        (Role.WORKER, 14, Outcome.WORK),
    )
    told = []
    for number, (role, seconds, outcome) in enumerate(steps, start=1):
        until = at + timedelta(seconds=seconds)
        told.append(
            replace(
                turns()[0],
                number=number,
                role=role,
                started_at=at,
                ended_at=until,
                outcome=outcome,
                findings=int(outcome is Outcome.REVIEW_BUGS),
            )
        )
        at = until
    told.append(replace(told[0], number=4, started_at=at, ended_at=None, outcome=None))
    strip = timeline(told, roles=ROLES[:2], changes=[], open_bugs=[], now=NOW)
    return replace(running("prompt"), timeline=strip, limits=limits(4))
