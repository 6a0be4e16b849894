"""An entry on its way from OPEN to CLOSED and back (RULES 5)."""

import random
from itertools import pairwise

import pytest

from tracker import services
from tracker.errors import Conflict, DomainError, Invalid, NotAllowed
from tracker.facts import facts
from tracker.models import Bug, Move, Project
from tracker.scope import Scope


def test_the_usual_way_of_a_bug(bug, worker, reviewer):
    services.start(bug, worker)
    services.mark_fixed(bug, worker, "ABC1234")
    closed = services.close(bug, reviewer, "seen")
    assert (closed.state, closed.commit, closed.fixed_in) == ("CLOSED", "abc1234", "S-1")
    assert [(m.from_state, m.to_state) for m in services.history(bug)] == [
        ("", "OPEN"),
        ("OPEN", "IN_PROGRESS"),
        ("IN_PROGRESS", "FIXED"),
        ("FIXED", "CLOSED"),
    ]


def test_a_worker_never_closes(fixed, worker):
    with pytest.raises(NotAllowed, match="The worker may not close B-1"):
        services.close(fixed, worker)


def test_fixed_needs_a_commit(bug, worker):
    services.start(bug, worker)
    for commit in ("", "HEAD", "xyz", "abc 12"):
        with pytest.raises(Invalid, match="commit"):
            services.mark_fixed(bug, worker, commit)


def test_fixed_again_takes_another_commit_but_not_the_same(fixed, worker):
    with pytest.raises(Conflict, match="already"):
        services.mark_fixed(fixed, worker, "abc1234")
    assert services.mark_fixed(fixed, worker, "def5678").commit == "def5678"


def test_an_illegal_move_says_which_state_it_needs(bug, worker):
    with pytest.raises(Conflict, match=r"B-1 is OPEN; .*FIXED or IN_PROGRESS"):
        services.mark_fixed(bug, worker, "abc1234")


def test_a_second_claim_is_told_who_was_first(project, bug, worker):
    services.start(bug, worker)
    with pytest.raises(Conflict, match="the worker in S-1/4 started it"):
        services.start(bug, services.agent(project, "worker", "S-2", "S-2/1"))


def test_a_later_iteration_goes_on_with_what_an_earlier_one_started(project, bug, worker):
    services.start(bug, worker)
    later = services.agent(project, "worker", "S-1", "S-1/6")
    assert services.mark_fixed(bug, later, "abc1234").state == "FIXED"


def test_reopened_loses_its_commit_and_counts(fixed, reviewer, worker):
    again = services.reopen(fixed, reviewer, "still there")
    assert (again.state, again.commit, again.reopen_count) == ("REOPENED", "", 1)
    assert services.start(again, worker).state == "IN_PROGRESS"


def test_reopened_for_a_missing_commit_does_not_count_as_disputed(fixed, reviewer):
    again = services.reopen(fixed, reviewer, "not in HEAD", commit_missing=True)
    assert again.reopen_count == 0


def test_what_a_person_dismissed_only_a_person_reopens(bug, ana, reviewer):
    services.dismiss(bug, ana, "accepted")
    with pytest.raises(NotAllowed, match="dismissed by a person: accepted"):
        services.reopen(bug, reviewer, "no")
    again = services.reopen(bug, ana, "changed my mind")
    assert (again.state, again.is_dismissed) == ("REOPENED", False)


def test_dismissing_needs_a_reason_and_a_person(bug, ana, reviewer):
    with pytest.raises(Invalid, match="reason"):
        services.dismiss(bug, ana, " ")
    with pytest.raises(NotAllowed):
        services.dismiss(bug, reviewer, "false")


@pytest.mark.parametrize("answer", [services.unblock, services.reopen])
def test_a_blocked_entry_waits_for_a_persons_answer(bug, worker, reviewer, ana, answer):
    assert services.block(bug, worker, "the server is gone").state == "BLOCKED"
    for by in (worker, reviewer):
        with pytest.raises(DomainError):
            answer(bug, by, "go on")
    assert answer(bug, ana, "use the other one").state == "OPEN"


@pytest.mark.parametrize("state", ["OPEN", "IN_PROGRESS", "FIXED", "REOPENED", "BLOCKED"])
@pytest.mark.parametrize("change", ["edit", "remove"])
def test_open_work_goes_stale_with_its_requirement(
    project, ana, bug, worker, reviewer, state, change
):
    _bring_to(bug, state, worker, reviewer)
    if change == "edit":
        services.edit_requirement(project, "R-1", text="Every import is used. Now.", by=ana)
    else:
        services.remove_requirement(project, "R-1", by=ana)
    bug.refresh_from_db()
    assert bug.state == "STALE"
    assert services.history(bug)[-1].from_state == state


def test_closed_entries_and_spec_bugs_do_not_go_stale(project, ana, fixed, reviewer, worker):
    services.close(fixed, reviewer)
    services.file_spec_bug(project, by=worker, title="Unclear", text="?", cites="R-1")
    services.edit_requirement(project, "R-1", text="Other words", by=ana)
    assert [b.state for b in services.bugs(project)] == ["CLOSED", "OPEN"]


def test_a_stale_entry_is_confirmed_against_the_new_text(project, ana, bug, reviewer):
    services.edit_requirement(project, "R-1", text="New\n\nEvery import is used.", by=ana)
    confirmed = services.confirm(bug, reviewer, "still so")
    assert (confirmed.state, confirmed.version.number, confirmed.line) == ("OPEN", 2, 3)


def test_confirming_against_other_words_needs_them_quoted(project, ana, bug, reviewer):
    services.edit_requirement(project, "R-1", text="No unused imports.", by=ana)
    with pytest.raises(Invalid, match="do not stand in R-1"):
        services.confirm(bug, reviewer)
    confirmed = services.confirm(bug, reviewer, quote="No unused imports.")
    assert (confirmed.state, confirmed.quote) == ("OPEN", "No unused imports.")


def test_a_stale_entry_of_a_removed_requirement_can_only_be_settled(project, ana, bug, reviewer):
    services.remove_requirement(project, "R-1", by=ana)
    with pytest.raises(Invalid, match="R-1 was removed; close B-1"):
        services.confirm(bug, reviewer)
    assert services.close(bug, reviewer).state == "CLOSED"


def test_a_task_outlives_its_requirement_if_the_reviewer_confirms_it(project, ana, reviewer):
    task = services.file_task(project, by=ana, title="Tidy", cites="R-1")
    services.remove_requirement(project, "R-1", by=ana)
    confirmed = services.confirm(task, reviewer)
    assert (confirmed.state, confirmed.requirement) == ("OPEN", None)


def test_an_entry_reopened_after_its_words_are_gone_is_stale(project, ana, fixed, reviewer):
    services.close(fixed, reviewer)
    services.edit_requirement(project, "R-1", text="Imports may be unused.", by=ana)
    assert services.reopen(fixed, reviewer, "commit is gone", commit_missing=True).state == "STALE"
    assert services.close(fixed, reviewer).commit == ""


def test_people_reword_dispute_and_prioritize_without_moving(bug, ana, worker):
    services.reword(bug, ana, "Unused import", "see app.py")
    services.dispute(bug, ana, "the line says something else")
    services.set_priority(bug, ana, "P0")
    after = services.comment(bug, worker, "on it")
    assert (after.state, after.title, after.is_disputed, after.priority) == (
        "OPEN",
        "Unused import",
        True,
        "P0",
    )
    with pytest.raises(NotAllowed):
        services.reword(bug, worker, "x", "y")
    with pytest.raises(Invalid, match="P7"):
        services.set_priority(bug, ana, "P7")


def test_any_sequence_of_moves_keeps_the_history_whole(project, ana, worker, reviewer, file_bug):
    """Moves chain, a refused write leaves no count behind, cached facts are the fresh ones."""
    rng = random.Random(7)
    services.file_task(project, by=ana, title="Tidy", cites="R-1")
    file_bug()
    for step in range(300):
        bug = rng.choice(list(Bug.objects.all()))
        before = Project.objects.get().tracker_seq
        done = _any_act(rng, step, bug, rng.choice([ana, worker, reviewer]), file_bug)
        assert Project.objects.get().tracker_seq == before + done
        _agree_with_rows(project)
    for bug in Bug.objects.all():
        chain = services.history(bug)
        assert chain[-1].to_state == bug.state
        assert all(a.to_state == b.from_state for a, b in pairwise(chain))
    assert len({m.to_state for m in Move.objects.exclude(bug=None)}) == 7


def _any_act(rng, step, bug, by, file_bug):
    """Do something at random; return whether it was allowed."""
    acts = [
        lambda: services.start(bug, by),
        lambda: services.start(bug, by),
        lambda: services.mark_fixed(bug, by, f"{step:07x}"),
        lambda: services.mark_fixed(bug, by, f"{step:07x}"),
        lambda: services.block(bug, by, "why"),
        lambda: services.unblock(bug, by, "so"),
        lambda: services.close(bug, by),
        lambda: services.reopen(bug, by, "why"),
        lambda: services.confirm(bug, by),
        lambda: file_bug(by=by, place=f"app.py:{step % 5}"),
    ]
    if step % 5 == 0:
        text = f"Every import is used.\n{step}"
        acts.append(lambda: services.edit_requirement(bug.project, "R-1", text=text, by=by))
        acts.append(lambda: services.dismiss(bug, by, "why"))
    try:
        rng.choice(acts)()
    except DomainError:
        return False
    return True


def _agree_with_rows(project):
    found = facts(project, Scope(), "S-1")
    states = {b.key: b.state for b in services.bugs(project)}
    by_state = {"OPEN": found.blockers, "IN_PROGRESS": found.blockers, "REOPENED": found.blockers}
    by_state |= {"FIXED": found.unjudged, "STALE": found.unjudged, "BLOCKED": found.blocked}
    assert len(found.blockers + found.unjudged + found.blocked) == sum(
        state != "CLOSED" for state in states.values()
    )
    assert all(key in by_state[state] for key, state in states.items() if state != "CLOSED")


def _bring_to(bug, state, worker, reviewer):
    if state == "BLOCKED":
        services.block(bug, worker, "why")
    elif state != "OPEN":
        services.start(bug, worker)
        if state != "IN_PROGRESS":
            services.mark_fixed(bug, worker, "abc1234")
        if state == "REOPENED":
            services.reopen(bug, reviewer, "why")
