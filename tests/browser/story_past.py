"""The past in the story: two sessions compared, S-38 at its iteration 12, a replay, a fork."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from loops.engine.values import EndReason, Outcome, Pattern, Role
from loops.forms import ForkForm
from loops.pages import compare as pair
from loops.pages import history as past
from loops.pages.forking import Difference, ForkPage, LineagePart
from loops.pages.limits import budget
from loops.pages.new_session import BoundPart, PreflightPart
from loops.pages.output import DiffPart, diff_files
from loops.pages.states import POSSIBLE_ENDS, end_chip, outcome_chip, role_word
from tests.browser import story_session
from tests.browser.story import NOW
from tests.browser.story_texts import DIFF
from tracker.pages.atoms import Act, CheckLine, Chip, Link, met, unmet

LONG = "a_name_that_has_no_place_to_break_" + "x" * 50
COST = (0.4, 1.6, 1.9, 3.1, 3.4, 4.6, 4.9, 6.3, 6.6, 8.1, 8.5, 9.0, 10.9)
COST_A = (*COST, 12.04, 12.04)
COST_B = (*COST, 11.2, 11.7, 13.6, 14.0, 16.9, 17.31, 17.31)
TURNS = (
    (Role.WORKER, "ST-0", Outcome.WORK), (Role.WORKER, "ST-W5", Outcome.WORK),
    (Role.WORKER, "ST-W5", Outcome.WORK), (Role.REVIEWER, "ST-W5", Outcome.REVIEW_BUGS),
    (Role.WORKER, "ST-R2", Outcome.WORK), (Role.WORKER, "ST-W5", Outcome.DONE),
    (Role.REVIEWER, "ST-W4", Outcome.REVIEW_CLEAN),
)  # fmt: skip
ENTRIES = (
    (41, "recorded", "Iteration 12, Reviewer", "Two findings: B-31 and B-33."),
    (40, "human_event", "R-7 edited", ""),
    (39, "recorded", "Iteration 11, Worker",
     f"2 paths changed: src/csvlane/reader.py, {LONG}. The tree changed without a done signal."),
    (38, "decided", "E-110 decided: grant, asked for limit", "Ten more, then look again."),
    (37, "forked", "Forked from S-36 after iteration 12", "Every counter begins at 0 here."),
    (36, "configured", "In force from the next step: at most 40 iterations", ""),
    (1, "opened", "The base is tree 3f02d7a on commit a1f90c2", ""),
)  # fmt: skip
CHIPS = {
    "human_event": Chip("wait", "person", "Person"),
    "decided": Chip("wait", "person", "Decision"),
    "forked": Chip("acc", "branch", "Fork"),
    "configured": Chip("off", "pencil", "Configuration"),
    "opened": Chip("off", "play", "Base"),
}


def cell(role: Role, rule: str, outcome: Outcome | None, sub: str = "") -> pair.Cell:
    chip = outcome_chip(outcome, findings=2) if outcome else None
    return pair.Cell(role_word(role), rule, chip, sub, "/sessions/38/iterations/3/")


def rows() -> tuple[pair.PairRow, ...]:
    done = pair.Cell("Finish", "", end_chip(EndReason.DONE), "Proved.", "/sessions/38/")
    asks = pair.Cell(
        "Ask a person", "", Chip("wait", "person", "Waiting for human", loud=True),
        "The limit is reached: 20 of 20 iterations.", "/sessions/39/",
    )  # fmt: skip
    folded = tuple(f"{n} {role_word(t[0])} {t[1]}" for n, t in enumerate(TURNS, start=1))
    return (
        pair.PairRow(group="The same in both", fact="1 to 14"),
        pair.PairRow(
            label="1 to 10",
            both=pair.Cell("10 directives: 6 work, 2 done signal, 2 review, bugs"),
            folded=folded,
        ),
        *(
            pair.PairRow(label=str(number), both=cell(*turn))
            for number, turn in enumerate(TURNS[3:6], start=11)
        ),
        pair.PairRow(
            label="14",
            both=cell(Role.REVIEWER, "ST-W4", None, "The same directive. The answer is not the same."),
        ),
        pair.PairRow(group="Here they differ"),
        pair.PairRow(
            label="14",
            a=pair.Cell("", "", outcome_chip(Outcome.REVIEW_CLEAN), "", "/x/"),
            b=pair.Cell("", "", outcome_chip(Outcome.REVIEW_BUGS, findings=1),
                        "Peak memory is read in the parent process.", "/x/"),
            is_first=True,
        ),
        pair.PairRow(label="15", a=cell(Role.WORKER, "ST-R3", Outcome.DONE),
                     b=cell(Role.WORKER, "ST-R2", Outcome.WORK)),
        pair.PairRow(label="16", a=done, b=cell(Role.WORKER, "ST-W5", Outcome.STALL)),
        *(pair.PairRow(label=str(number), b=cell(Role.WORKER, "ST-W1", Outcome.WORK))
          for number in (17, 18, 19)),
        pair.PairRow(label="20", b=asks),
    )  # fmt: skip


def compared() -> pair.ComparePage:
    sides = [
        pair.Side(ref=ref, title="Benchmark harness", href="/sessions/38/", chip=chip, facts=facts)
        for ref, chip, facts in (
            ("S-38", replace(end_chip(EndReason.DONE), loud=True),
             ("csvlane", "Worker, Reviewer, Coach", "ended 28 Nov 19:20")),
            ("S-39", replace(end_chip(EndReason.EXHAUSTED), loud=True),
             ("fork of S-38 after 10", "Worker, Reviewer, Coach", "ended 01:47")),
        )
    ]  # fmt: skip
    return pair.ComparePage(
        headline="Same 14 directives, then the answers differ",
        sentence="S-38 went on for 2 directives: done. S-39 went on for 6 directives: exhausted. "
        "S-39 cost $5.27 more.",
        a=sides[0],
        b=sides[1],
        swap="/sessions/compare/?a=39&b=38",
        rows=rows(),
        setup=(
            pair.Fact("Project, pattern, goal and 8 more", "same", "same"),
            pair.Fact("Worker", "opus-worker", "opus-worker"),
            pair.Fact("Reviewer", "gpt-reviewer", f"qwen-{LONG}", True),
            pair.Fact("Started from", "a1f90c2", "a1f90c2"),
        ),
        setup_note="S-39 is a fork of S-38 after 10: one setting was changed.",
        numbers=(
            pair.Fact("Iterations", "15 of 40", "20 of 20"),
            pair.Fact("Directives", "16", "20"),
            pair.Fact("Time", "1 h 52 min", "2 h 29 min"),
            pair.Fact("Cost", "$12.04", "$17.31"),
            pair.Fact("Tokens", "8.1 M", "11.9 M"),
            pair.Fact("Files, lines", "4, +212 −8", "4, +240 −8"),
        ),
        chart=pair.chart(
            COST_A,
            COST_B,
            refs=("S-38", "S-39"),
            words=("$12.04", "$17.31"),
            split=14,
            title="Cost by directive",
            level_words=[(0, "$0"), (5, "$5"), (10, "$10"), (15, "$15")],
        ),
        choices=CHOICES,
        chosen=(38, 39),
        post="/sessions/compare/",
        logs=(
            Link("S-38’s log", "/sessions/38/history/"),
            Link("S-39’s log", "/sessions/39/history/"),
        ),
        diff=DiffPart(files=diff_files(DIFF), against="the result of S-38"),
    )


CHOICES = ((39, "S-39 Benchmark harness, csvlane"), (38, f"S-38 {LONG}, csvlane"))


def choose() -> pair.ChoosePage:
    return pair.ChoosePage(
        headline="Compare S-38 Benchmark harness",
        sentence="Choose the other one.",
        choices=CHOICES,
        chosen=(38, 0),
        post="/sessions/compare/",
        back=Link("Loops", "/"),
    )


def history() -> past.HistoryPage:
    lines = tuple(
        past.EntryLine(
            seq=seq,
            at=NOW - timedelta(minutes=7 * index),
            chip=CHIPS.get(
                kind, outcome_chip(Outcome.WORK if index else Outcome.REVIEW_BUGS, findings=2)
            ),
            text=text,
            more=more,
            href="/sessions/38/iterations/12/" if kind in ("recorded", "human_event") else "",
            is_copied=seq < 37,
            is_here=index == 0,
        )
        for index, (seq, kind, text, more) in enumerate(ENTRIES)
    )
    state = past.StatePart(
        due=past.DuePart(
            words="Worker",
            rule="ST-R2",
            text="A review with findings: the coach if due, else the worker.",
            reason="The review found bugs",
            ran="Iteration 13 ran: worker, by rule ST-R2.",
        ),
        why=(
            unmet("0 of 2 done signals in a row"),
            unmet("No clean review since the last change"),
            unmet("Still open: B-31, B-33"),
        ),
        budgets=(
            budget("Iterations", used=12, most=40, used_words="12", most_words="40"),
            budget("Time", used=5040, most=28800, used_words="1 h 24 min", most_words="8 h"),
            budget("Money", used=9, most=None, used_words="$9.00"),
        ),
        bound="At most 28 more iterations could run from here.",
        notes=(("Worker", f"A process that iteration 11 left running was ended: {LONG}"),),
        streak=0,
    )
    return past.HistoryPage(
        ref="S-38",
        title="Benchmark harness",
        session=Link("S-38", "/sessions/38/"),
        number=12,
        count=15,
        headline="After iteration 12: Worker",
        sentence=state.due.text,
        post="/sessions/38/history/",
        chip=outcome_chip(Outcome.REVIEW_BUGS, findings=2),
        iteration=Link("Iteration 12", "/sessions/38/iterations/12/"),
        state=state,
        entries=lines,
        entry_count=41,
        acts=(
            Act(text="Replay", href="/sessions/38/replay/"),
            Act(text="Compare", href="/sessions/compare/?a=38"),
            Act(text="Export", href="/sessions/38/export/"),
            Act(
                text="Fork from here", href="/sessions/38/fork/?at=12", icon="branch", primary=True
            ),
        ),
        previous=Link("11", "/sessions/38/history/?at=11"),
        next=Link("13", "/sessions/38/history/?at=13"),
        older="/sessions/38/history/?at=12&before=1",
    )


def history_empty() -> past.HistoryPage:
    return replace(
        history(), number=0, count=0, headline="No iteration has ended yet", state=None, chip=None,
        iteration=None, entries=(), entry_count=0, previous=None, next=None, older="", acts=(),
    )  # fmt: skip


def replay(*rows: past.ReplayRow) -> past.ReplayPage:
    headline = "Today's rules differ in 2 of 15 iterations" if rows else (
        "Today's rules say the same of 15 iterations"
    )  # fmt: skip
    return past.ReplayPage(
        ref="S-38",
        title="Benchmark harness",
        session=Link("S-38", "/sessions/38/"),
        headline=headline,
        sentence="The recorded log was folded again, entry by entry. Nothing was changed by it.",
        rows=rows,
        acts=(Act(text="History", href="/sessions/38/history/"),),
    )


def replay_differs() -> past.ReplayPage:
    return replay(
        past.ReplayRow(
            where="12", href="/sessions/38/history/?at=12", recorded="Reviewer",
            recorded_rule="ST-W5", recorded_chip=outcome_chip(Outcome.REVIEW_CLEAN),
            now="Ask a person: no_progress", now_rule="ST-Q3", now_chip=outcome_chip(Outcome.WORK),
        ),
        past.ReplayRow(
            where="The end", href="/sessions/38/", recorded="End: Done", recorded_rule="ST-E1",
            recorded_chip=None, now="Worker", now_rule="ST-W5", now_chip=None,
        ),
    )  # fmt: skip


DIFFERENCES = (
    Difference(Link("B-31", "/p/csvlane/tracker/B-31/"), "open then; it stays with S-38"),
    Difference(Link("R-7", "/p/csvlane/specs/R-7/"), "edited, version 5 now"),
    Difference(Link("T-12", "/p/csvlane/tracker/T-12/"), "filed since, in progress now"),
    Difference(Link("Guidance", "/p/csvlane/specs/"), "guidance v6 now"),
)


def fork(**data: str) -> ForkPage:
    form = ForkForm(
        data or None,
        players=[("worker", "Worker", "opus-worker"), ("reviewer", "Reviewer", "gpt-reviewer")],
        agents=[("opus-worker", "opus-worker"), ("qwen-reviewer", "qwen-reviewer")],
        initial={
            "iterations": 40,
            "minutes": 480,
            "no_progress": 6,
            "no_tokens": True,
            "no_money": True,
        },
    )
    return ForkPage(
        ref="S-38",
        title="Benchmark harness",
        session=Link("S-38", "/sessions/38/"),
        iteration=Link("Iteration 12", "/sessions/38/history/?at=12"),
        number=12,
        chip=outcome_chip(Outcome.REVIEW_BUGS, findings=2),
        since="28 Nov 18:02",
        form=form,
        post="/sessions/38/fork/?at=12",
        update="/sessions/38/fork/before/?at=12",
        bound=BoundPart(
            number=40,
            unit="iteration",
            formula="of its own; the iterations of S-38 do not count",
            rows=(("Time", "at most 8 h"), ("Without a change", "6 in a row"),
                  ("Tokens", "not bounded"), ("Money", "not bounded")),
        ),
        preflight=PreflightPart(
            lines=(
                met("The recorded tree is there", fact="8c1d0aa"),
                CheckLine(tone="off", icon="branch", text="The source is not needed",
                          sub="What was changed there since is not looked at."),
                CheckLine(tone="warn", icon="clock", text="S-41 holds this project",
                          sub="The fork starts when S-41 ends."),
            ),
            button="Queue fork behind S-41",
        ),
        ends=tuple(replace(end_chip(end), loud=False) for end in POSSIBLE_ENDS[Pattern.SINGLE_THREAD]),
        differences=DIFFERENCES,
        taken=("tree 8c1d0aa on commit a1f90c2", "the log up to entry 41", "scope, goal and done script"),
        left=("counters and streak", "what was spent", "marks and entries of its own"),
    )  # fmt: skip


def fork_refused() -> ForkPage:
    return fork(iterations="0", minutes="480", no_progress="6", money="x")


def forked_session() -> Any:
    lineage = LineagePart(
        forked="Forked from S-38 after iteration 12; its spending stays there.",
        acts=(
            Act(text="S-38 then", href="/sessions/38/history/?at=12"),
            Act(text="Compare", href="/sessions/compare/?a=38&b=41"),
        ),
        differences=DIFFERENCES,
        forks=(Link("S-44 after 3", "/sessions/44/"), Link("S-43 after 9", "/sessions/43/")),
    )
    shown = story_session.running("diff")
    rows = replace(shown.rows, history="/sessions/41/history/")
    assert shown.iteration is not None
    then = Link("State after it", "/sessions/41/history/?at=58")
    iteration = replace(shown.iteration, then=then, is_live=False)
    return replace(shown, lineage=lineage, rows=rows, iteration=iteration)
