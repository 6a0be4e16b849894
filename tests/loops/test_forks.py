"""A fork goes on from a recorded iteration with nothing spent, and leaves its parent as it was."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest
from django.core.management import CommandError, call_command
from django.forms.models import model_to_dict

from loops import forks, runner, services
from loops.engine.values import Role, RunRole
from loops.models import Iteration, LogEntry, Session, Transition
from loops.reading.reading import Reading
from loops.reading.strip import human_changes
from loops.replays import replay
from loops.snapshots import Fold
from tests.loops import behaviours as act
from tests.loops.behaviours import HONEST
from tests.loops.test_runner import outcomes, run
from tests.loops.world import MemoryWorkspace
from tracker import services as tracker
from tracker.errors import Conflict, Invalid, NotFound

pytestmark = pytest.mark.django_db(transaction=True)
LOOK = {"refusals": [], "warnings": []}
RAN = ["DONE", "REVIEW_BUGS", "WORK", "REVIEW_CLEAN", "DONE", "REVIEW_CLEAN", "DONE"]


@pytest.fixture
def parent(new_session, world):
    """Ended done after seven iterations: the reviewer found something bad, the worker mended it."""
    w = world(HONEST)
    w.workspace.files["b.txt"] = "this is bad"
    session = run(new_session(), w)
    assert outcomes(session) == RAN
    session.world = w
    return session


def fork(session, number, me, **changes):
    return forks.fork(session, number, me, look=LOOK, **changes)


def as_it_stood(world, session, behaviours=HONEST):
    """The world of a fork: files and commits as its base says."""
    old = world.workspace
    place = MemoryWorkspace(
        files=dict(old.trees[session.base_rev]),
        commits=deepcopy(old.commits),
        head=session.base_head,
        trees=dict(old.trees),
    )
    return type(world)(behaviours, place)


def rows_of(session):
    """Everything that is kept of a session, to the byte."""
    return (
        model_to_dict(Session.objects.get(pk=session.pk)),
        list(LogEntry.objects.filter(session=session).order_by("seq").values()),
        list(Iteration.objects.filter(session=session).order_by("number").values()),
        list(Transition.objects.filter(session=session).order_by("pk").values()),
    )


def test_a_fork_of_the_middle_runs_on_and_ends_done(parent, me):
    new = fork(parent, 2, me)
    run(new, as_it_stood(parent.world, new))
    new.refresh_from_db()
    assert new.end_reason == "done", outcomes(new)
    assert outcomes(new) == RAN
    assert list(new.iterations.order_by("number").values_list("number", flat=True)) == [
        1, 2, 3, 4, 5, 6, 7,
    ]  # fmt: skip


def test_a_fork_takes_the_log_up_to_the_iteration_along_entry_by_entry(parent, me):
    new = fork(parent, 4, me)
    point = forks.point_of(parent, 4)
    columns = ("seq", "kind", "payload", "at")
    copied = LogEntry.objects.filter(session=new, seq__lte=point.seq).order_by("seq")
    original = LogEntry.objects.filter(session=parent, seq__lte=point.seq).order_by("seq")
    assert list(copied.values(*columns)) == list(original.values(*columns))
    own = list(new.own_log.order_by("seq").values_list("kind", flat=True))
    assert own == ["configured"]
    forked = LogEntry.objects.get(session=new, seq=new.own_log_after)
    assert (forked.kind, forked.payload["parent"], forked.payload["iteration"]) == (
        "forked", parent.pk, 4,
    )  # fmt: skip
    assert new.log_seq == point.seq + 2


def test_counters_streak_and_spending_of_a_fork_begin_at_zero(parent, me):
    assert Fold.load(parent).state.iterations == 7
    new = fork(parent, 6, me)
    state = Fold.load(new).state
    assert (state.iterations, state.streak, state.active_seconds, state.money, state.idle) == (
        0, 0, 0.0, 0.0, 0,
    )  # fmt: skip
    assert state.clean_review is None
    assert new.iteration_count == 0
    assert Fold.load(new).controller.at_most(state) == 40
    assert isinstance(Fold.load(new).direct(), RunRole)


def test_the_parent_is_not_touched_by_a_fork_nor_by_its_run(parent, me):
    before = rows_of(parent)
    new = fork(parent, 2, me)
    assert rows_of(parent) == before
    run(new, as_it_stood(parent.world, new))
    assert rows_of(parent) == before


def test_two_forks_of_one_iteration_know_nothing_of_each_other(parent, me):
    one, two = fork(parent, 2, me), fork(parent, 2, me, limits={"iterations": 5})
    run(one, as_it_stood(parent.world, one))
    kept = rows_of(one)
    run(two, as_it_stood(parent.world, two, {**HONEST, Role.WORKER: act.silent}))
    assert rows_of(one) == kept
    assert one.end_reason == "done"
    assert (two.state, two.config["limits"]["iterations"]) == ("waiting_human", 5)
    assert one.config["limits"]["iterations"] == 40


def test_a_fork_can_be_forked(parent, me):
    one = fork(parent, 2, me)
    w = as_it_stood(parent.world, one)
    run(one, w)
    two = fork(one, 2, me)
    assert (two.forked_from_id, two.forked_at) == (one.pk, 2)
    kinds = list(
        LogEntry.objects.filter(session=two).order_by("seq").values_list("kind", flat=True)
    )
    assert kinds.count("forked") == 2
    assert kinds.count("recorded") == 2 + 2
    run(two, as_it_stood(w, two))
    assert two.end_reason in ("done", "no_op")
    assert two.iterations.count() == two.iteration_count


def test_a_queued_fork_waits_behind_the_active_session_of_the_project(
    parent, new_session, world, me
):
    active = new_session()
    w = world(HONEST)
    runner.advance(active.pk, w, iterations=1)
    new = fork(parent, 2, me)
    assert new.state == "queued"
    assert runner.advance(new.pk, as_it_stood(parent.world, new)) is False
    new.refresh_from_db()
    assert (new.state, new.iteration_count) == ("queued", 0)


def test_a_fork_has_its_own_copy_of_the_goal_in_today_s_words(project, me, world):
    config = {"agents": {"worker": {"argv": ["true"]}, "reviewer": {"argv": ["true"]}}}
    parent = services.create_session(project, by=me, config=config, goal="Make it work.")
    Session.objects.filter(pk=parent.pk).update(preflight=LOOK)
    parent.refresh_from_db()
    services.start(parent, me)
    runner.advance(parent.pk, world(HONEST), iterations=1)
    tracker.edit_requirement(project, "R-3", text="Make it fast.", by=me)
    parent.refresh_from_db()
    new = fork(parent, 1, me)
    own = project.requirements.get(session_ref=new.ref)
    assert (own.key, own.current.text, new.goal) == ("R-4", "Make it fast.", "Make it fast.")
    assert project.requirements.get(session_ref=parent.ref).key == "R-3"


def test_what_moved_in_the_tracker_since_is_listed(parent, project, me):
    tracker.edit_requirement(project, "R-1", text="The file a.txt is there, always.", by=me)
    tracker.file_task(project, by=me, title="Add a file", text="One more.")
    point = forks.point_of(parent, 2)
    told = {one.key: one.text for one in forks.differences(parent, point)}
    assert told == {
        "B-1": "open then; it stays with S-" + str(parent.pk),
        "R-1": "edited, version 2 now",
        "T-1": "filed since, open now",
    }
    before = forks.differences(parent, point, until=parent.created_at)
    assert [one.key for one in before] == ["B-1"]


def test_a_fork_may_have_other_limits_and_agents(parent, me):
    services.save_agent("other", {"argv": ["false"]})
    new = fork(
        parent, 3, me, limits={"iterations": 9}, agents={"worker": services.agent_config("other")}
    )
    assert new.config["agents"]["worker"]["argv"] == ["false"]
    assert Fold.load(new).state.config.limits.iterations == 9
    with pytest.raises(Invalid, match="no limit"):
        fork(parent, 2, me, limits={"hours": 9})
    with pytest.raises(Invalid, match="no 'maker'"):
        fork(parent, 2, me, agents={"maker": services.agent_config("other")})


def test_only_a_recorded_iteration_can_be_forked(parent, me, new_session, world):
    with pytest.raises(NotFound, match="no iteration 99"):
        fork(parent, 99, me)
    session = new_session()
    seen = []

    def tries(tools):
        with pytest.raises(Conflict) as refused:
            fork(Session.objects.get(pk=session.pk), 1, me)
        seen.append(str(refused.value))

    runner.advance(session.pk, world({**HONEST, Role.WORKER: tries}), iterations=1)
    assert "still runs" in seen[0]


def test_a_tree_that_is_in_no_store_is_refused_and_nothing_is_made(parent, me):
    with pytest.raises(Conflict, match="not there"):
        forks.fork(parent, 2, me)
    assert Session.objects.count() == 1


def test_spending_and_events_of_the_parent_do_not_show_in_the_fork(parent, me):
    new = fork(parent, 5, me)
    assert Reading(new).noted == {}
    assert Reading(new).evidence(1) == {}
    assert human_changes(Reading(new)) == []


def test_a_script_session_s_fork_is_judged_on_its_base(new_session, world, me):
    verdicts = {"bad": 1}

    def script(workspace):
        return verdicts["bad"] if "n.txt" not in workspace.files else 0

    def work(tools):
        tools.memory["n"] = tools.memory.get("n", 0) + 1
        name = "n.txt" if tools.memory["n"] > 2 else f"{tools.memory['n']}.txt"
        tools.workspace.files[name] = "x"
        tools.workspace.commit()

    w = world({Role.WORKER: work, Role.REVIEWER: act.silent})
    w.script = script
    parent = run(new_session(done_mode="script", script="true"), w)
    assert parent.end_reason == "done"
    new = fork(parent, 1, me)
    again = as_it_stood(w, new, {Role.WORKER: work, Role.REVIEWER: act.silent})
    again.script, again.memory = lambda workspace: 0, {"n": 2}
    run(new, again)
    kinds = list(new.own_log.order_by("seq").values_list("kind", flat=True))
    assert kinds == ["configured", "opened"]
    assert new.end_reason == "no_op"


# --- replay --------------------------------------------------------------------------------------


def test_a_replay_of_what_just_ran_says_the_same(parent, me):
    found = replay(parent)
    assert (found.iterations, found.is_same, found.differences) == (7, True, [])
    new = fork(parent, 2, me)
    run(new, as_it_stood(parent.world, new))
    again = replay(new)
    assert (again.iterations, again.is_same) == (7, True)


def test_a_replay_shows_a_rule_that_was_changed_since(parent):
    Iteration.objects.filter(session=parent, number=3).update(rule="ST-W5")
    entry = LogEntry.objects.filter(session=parent, kind="recorded").order_by("seq")[4]
    LogEntry.objects.filter(pk=entry.pk).update(payload={**entry.payload, "outcome": "WORK"})
    found = replay(parent)
    assert (found.iterations, found.changed) == (7, 2)
    rule, outcome = found.differences
    assert (rule.iteration, rule.recorded.rule, rule.now.rule) == (3, "ST-W5", "ST-R2")
    assert (outcome.iteration, outcome.recorded.outcome, outcome.now.outcome) == (5, "WORK", "DONE")


def test_an_end_that_today_s_rules_would_not_bring_is_a_difference(parent):
    Session.objects.filter(pk=parent.pk).update(end_reason="exhausted")
    parent.refresh_from_db()
    (end,) = replay(parent).differences
    assert (end.iteration, end.recorded.what, end.now.what) == (None, "end exhausted", "end done")


# --- the command line ----------------------------------------------------------------------------


def command(capsys, *words):
    """(exit code, what it printed)."""
    code = 0
    try:
        call_command("session", *words)
    except SystemExit as end:
        code = end.code
    return code, capsys.readouterr().out


def test_replay_on_the_command_line_says_same_with_0_and_different_with_1(parent, capsys):
    assert command(capsys, "replay", str(parent.pk)) == (
        0, f"7 iterations of S-{parent.pk}: today's rules say the same.\n",
    )  # fmt: skip
    Iteration.objects.filter(session=parent, number=3).update(rule="ST-W5")
    code, said = command(capsys, "replay", str(parent.pk))
    assert code == 1
    assert "recorded: worker (ST-W5) -> WORK  now: worker (ST-R2) -> WORK" in said
    code, said = command(capsys, "replay", str(parent.pk), "--json")
    assert (code, json.loads(said)["differences"][0]["iteration"]) == (1, 3)


def test_fork_on_the_command_line(parent, capsys):
    with pytest.raises(CommandError, match="store of recorded trees is not there"):
        call_command("session", "fork", str(parent.pk), "--at", "2")
    with pytest.raises(CommandError, match="does not read LIMIT=N"):
        call_command("session", "fork", str(parent.pk), "--at", "2", "--limit", "iterations")
