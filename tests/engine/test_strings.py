"""No string of events up to length 7 ends a session that is not proved, and each that is ends.

Each letter says what whoever is due does next. The oracle below is written from the text of the
rule and looks at what agents and people did, never at outcomes: two dones in a row, no blocker,
nothing unjudged or blocked, a clean review of this tree and spec after the last change or human
event. Strings that lead to the same session, world and oracle are followed as one.
"""

from dataclasses import dataclass, replace
from functools import cache

import pytest

from loops.engine import single_thread
from loops.engine.values import (
    AskHuman,
    Choice,
    Decided,
    Evidence,
    Fault,
    Finish,
    HumanEvent,
    Opened,
    Recorded,
    Role,
    Signal,
    Stamp,
)
from tests.engine.log import config

LENGTH = 7
NOW = 1  # each boundary's sequence number: a log's own length decides nothing
LETTERS = "dwcsbiuhH"
"""
    worker                           reviewer                          any time
d   done                             closes all fixes, `clean`
w   changes, fixes an open bug       closes all fixes, files a bug, `bugs`
c   changes and done                 the same, but says `clean`
s   nothing                          nothing
b   blocks an open bug, done         reopens the fixes, else `clean` without marks
i   changes, then the API fails      files a bug, then the API fails
u   done, but not committed          `clean` without judging the fixes
h                                                                      a person edits a requirement
H   as d, while a person edits       as d, while a person edits
A question is answered by dismissing every entry (d), or by reopening it (any other letter).
"""
TREES = 3  # trees and specs come back, so that an old review of the same can mislead


@dataclass(frozen=True)
class World:
    rev: int = 0
    spec: int = 0
    open: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


@dataclass(frozen=True)
class Oracle:
    dones: int = 0
    clean: tuple[int, int] | None = None
    now: bool = False  # the last thing that happened was a done signal: only that can end

    def human(self):
        return Oracle()

    def saw(self, act):
        """What one iteration proves. A change or a finding after a review makes it worthless."""
        after, dones, clean = act.after, 0, self.clean
        if act.found or act.human or act.before.rev != after.rev or act.moved:
            clean = None
        if act.role is not Role.WORKER:
            refuted = act.found or (act.signal and after.open)
            dones = 0 if refuted or act.human else self.dones
            clean = None if refuted else clean
            good = act.signal is Signal.REVIEW_CLEAN and act.marked and not act.left
            if good and not refuted and not act.human and act.fault is None:
                clean = (after.rev, after.spec)
        elif act.fault and act.before.rev == after.rev:
            dones = self.dones
        elif act.signal is Signal.DONE and act.before.rev == after.rev and not act.fault:
            honest = not after.open and not act.uncommitted and not act.human
            dones = self.dones + 1 if honest else 0
        return Oracle(min(dones, 2), clean, now=act.signal is Signal.DONE)

    def proves(self, world):
        nothing_open = not (world.open or world.unjudged or world.blocked)
        return (
            nothing_open and self.now and self.dones >= 2 and self.clean == (world.rev, world.spec)
        )


@dataclass(frozen=True)
class Act:
    role: Role
    before: World
    after: World
    signal: Signal | None = None
    fault: Fault | None = None
    found: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    marked: bool = True
    moved: bool = False
    uncommitted: bool = False
    human: bool = False


def changed(world):
    return replace(world, rev=(world.rev + 1) % TREES)


def edited(world):
    return replace(world, spec=(world.spec + 1) % TREES)


@cache
def work(letter, before):
    act = Act(role=Role.WORKER, before=before, after=before)
    match letter:
        case "w":
            fixed = replace(
                changed(before), open=before.open[1:], unjudged=before.unjudged + before.open[:1]
            )
            return replace(act, after=fixed, moved=bool(before.open))
        case "c":
            return replace(act, after=changed(before), signal=Signal.DONE)
        case "s":
            return act
        case "b":
            stuck = replace(before, open=before.open[1:], blocked=before.blocked + before.open[:1])
            return replace(act, after=stuck, signal=Signal.DONE, moved=bool(before.open))
        case "i":
            return replace(act, after=changed(before), fault=Fault.API_ERROR)
        case "u":
            return replace(act, signal=Signal.DONE, uncommitted=True)
        case "H":
            return replace(act, after=edited(before), signal=Signal.DONE, human=True)
        case _:
            return replace(act, signal=Signal.DONE)


@cache
def review(letter, before):
    closed = replace(before, unjudged=())
    filed = replace(closed, open=(*before.open[:1], "B-new"))
    act = Act(role=Role.REVIEWER, before=before, after=closed, moved=bool(before.unjudged))
    match letter:
        case "w":
            return replace(act, after=filed, signal=Signal.REVIEW_BUGS, found=("B-new",))
        case "c":
            return replace(act, after=filed, signal=Signal.REVIEW_CLEAN, found=("B-new",))
        case "s":
            return replace(act, after=before, moved=False, left=before.unjudged)
        case "b" if before.unjudged:
            again = replace(closed, open=before.open + before.unjudged)
            return replace(act, after=again, signal=Signal.REVIEW_BUGS, found=before.unjudged)
        case "b":
            return replace(act, signal=Signal.REVIEW_CLEAN, marked=False)
        case "i":
            return replace(act, after=filed, fault=Fault.API_ERROR, found=("B-new",))
        case "u":
            return replace(
                act,
                after=before,
                moved=False,
                signal=Signal.REVIEW_CLEAN,
                left=before.unjudged,
            )
        case "H":
            return replace(act, after=edited(closed), signal=Signal.REVIEW_CLEAN, human=True)
        case _:
            return replace(act, signal=Signal.REVIEW_CLEAN)


@cache
def coach(letter, before):
    fault = Fault.API_ERROR if letter == "i" else None
    return Act(role=Role.COACH, before=before, after=before, fault=fault)


ROLES = {Role.WORKER: work, Role.REVIEWER: review, Role.COACH: coach}


def stamp(world):
    return Stamp(f"tree-{world.rev}", f"commit-{world.rev}", f"spec-{world.spec}", NOW)


@cache
def entries(act):
    evidence = Evidence(
        number=1,
        role=act.role,
        before=stamp(act.before),
        after=stamp(act.after),
        claimed_at=NOW,
        signal=act.signal,
        fault=act.fault,
        moved=act.moved,
        blockers=act.after.open,
        unjudged=act.after.unjudged,
        blocked=act.after.blocked,
        unjudged_left=act.left,
        findings=act.found,
        marks_missing=() if act.marked else ("R-1",),
        uncommitted=("a.py",) if act.uncommitted else (),
    )
    recorded = Recorded(NOW + 2, evidence, single_thread.classify(None, evidence))
    return (HumanEvent(NOW + 1, "edited", "R-1"), recorded) if act.human else (recorded,)


def answer(letter, state, world, oracle, asked):
    """A person decides every entry of the question; both ways of doing so are human events."""
    oracle = replace(oracle, now=False)
    if world.blocked and asked.subjects:
        state = single_thread.apply(state, HumanEvent(NOW + 1, "answered", "B-1"))
        oracle = oracle.human()
        again = () if letter == "d" else world.blocked
        world = replace(world, blocked=(), open=world.open + again)
    decided = Decided(
        seq=NOW + 2,
        escalation=1,
        kind=asked.kind,
        choice=Choice.ANSWER if asked.subjects else Choice.GRANT,
        disposition="dismiss" if letter == "d" else "reopen",
    )
    return single_thread.apply(state, decided), world, oracle


def follow(letter, node):
    """The node after one letter."""
    state, world, oracle = node
    due = single_thread.direct(state)
    if letter == "h":
        state = single_thread.apply(state, HumanEvent(NOW + 1, "edited", "R-1"))
        return state, edited(world), oracle.human()
    if isinstance(due, AskHuman):
        return answer(letter, state, world, oracle, due)
    act = ROLES[due.role](letter, world)
    for entry in entries(act):
        state = single_thread.apply(state, entry)
    return state, act.after, oracle.saw(act)


def at_boundary(state, world, oracle):
    return state.but(seq=NOW, human_seq=0), world, oracle


# A session's future does not hang on these, as no limit of iterations is near.
PAST = {
    *("config", "granted", "seq", "human_seq", "iterations", "tokens_unknown", "money_unknown"),
    *("active_seconds", "notes", "step", "base_rev", "base_head", "judged"),
}


def key(node):
    state, world, oracle = node
    kept = tuple(value for name, value in state.__dict__.items() if name not in PAST)
    return kept, state.step.role, world, oracle


@pytest.fixture(scope="module")
def walked():
    """Every node that a string of up to LENGTH letters leads to: [(string, node)], shortest first.

    One string stands for all that lead to an equal node. Ended nodes are not followed."""
    state = single_thread.initial(config(review_every=2, coach_every=3, no_progress=4))
    opened = Opened(1, "tree-0", "commit-0", spec="spec-0")
    start = (single_thread.apply(state, opened), World(), Oracle())
    found, layer = [("", start)], {key(start): ("", start)}
    for _ in range(LENGTH):
        following = {}
        for string, node in layer.values():
            for letter in LETTERS:
                after = at_boundary(*follow(letter, node))
                following.setdefault(key(after), (string + letter, after))
        found += following.values()
        layer = {
            k: (string, node) for k, (string, node) in following.items() if node[0].end is None
        }
    return found


def test_a_string_ends_exactly_when_the_rules_text_says_so(walked):
    for string, (state, world, oracle) in walked:
        ended = isinstance(single_thread.direct(state), Finish)
        assert ended == oracle.proves(world), string


def test_the_walk_saw_endings_questions_and_every_role(walked):
    dues = [single_thread.direct(state) for _, (state, _, _) in walked]
    kinds = {due.kind.value for due in dues if isinstance(due, AskHuman)}
    assert {"blocked", "no_progress", "review_stall", "infrastructure"} <= kinds
    assert {due.reason.value for due in dues if isinstance(due, Finish)} == {"done", "no_op"}
    assert {due.role for due in dues if hasattr(due, "role")} == set(ROLES)


def test_the_shortest_endings_are_those_of_the_rules(walked):
    ends = [s for s, (state, _, _) in walked if state.end is not None]
    assert min(ends, key=len) == "ddd"
    assert {s for s in ends if len(s) == 4} >= {"wddd"}
