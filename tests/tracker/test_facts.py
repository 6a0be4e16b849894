"""What the loops read at every iteration."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tracker import services
from tracker.engine.rules import WORK
from tracker.errors import Invalid, NotFound
from tracker.facts import LIVE, Fix, MarkNow, during, facts
from tracker.models import Bug, Mark, Move, Project
from tracker.scope import Scope

ALL = Scope()


def test_facts_name_what_stands_between_session_and_done(project, ana, worker, reviewer, file_bug):
    opened = file_bug(place="a:1").bug
    services.start(file_bug(place="a:2").bug, worker)
    services.mark_fixed(services.start(file_bug(place="a:3").bug, worker), worker, "abc1234")
    services.block(file_bug(place="a:4").bug, worker, "why")
    services.file_task(project, by=ana, title="Tidy")
    services.file_spec_bug(project, by=worker, title="?", text="?")
    found = facts(project, ALL, "S-1")
    assert found.seq == Project.objects.get().tracker_seq
    assert found.blockers == ("B-1", "B-2", "T-1")
    assert (found.unjudged, found.blocked, found.disputed) == (("B-3",), ("B-4",), ())
    assert found.fixes == (Fix("B-3", "abc1234", "FIXED"),)
    services.dismiss(opened, ana, "fine")
    assert facts(project, ALL, "S-1").blockers == ("B-2", "T-1")


def test_a_steady_loop_costs_one_query_and_a_change_at_most_five(project, bug, ana):
    facts(project, ALL, "S-1")
    with CaptureQueriesContext(connection) as steady:
        facts(project, ALL, "S-1")
    services.comment(bug, ana, "hello")
    with CaptureQueriesContext(connection) as changed:
        facts(project, ALL, "S-1")
    assert (len(steady), len(changed)) == (1, 5)


def test_a_write_that_was_rolled_back_leaves_no_facts_behind(project, ana):
    with transaction.atomic():
        services.file_task(project, by=ana, title="Gone")
        assert facts(project, ALL, "S-1").blockers == ("T-1",)
        transaction.set_rollback(True)
    assert facts(project, ALL, "S-1").blockers == ()
    services.file_spec_bug(project, by=ana, title="?", text="?")
    assert facts(project, ALL, "S-1").blockers == ()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL scans small tables")
def test_every_iteration_finds_its_rows_by_an_index_that_leaves_closed_entries_out(project):
    plans = {
        "bug_by_state": Bug.objects.filter(project=project, kind__in=WORK, state__in=LIVE),
        "bug_by_fixing_session": Bug.objects.filter(project=project, fixed_in="S-1"),
        "move_by_iteration": Move.objects.filter(project=project, reference="S-1/1"),
        "mark_one_newest_per_session_and_requirement": Mark.objects.filter(
            project=project, session_ref="S-1", is_newest=True
        ),
    }
    for index, rows in plans.items():
        assert index in rows.order_by("id").explain()


def test_the_spec_version_moves_with_each_edit_in_scope_and_with_no_other(project, ana):
    services.edit_requirement(project, None, text="other", by=ana, document="docs")
    scope = Scope(documents=("style",))
    before = facts(project, scope, "S-1").spec
    services.edit_requirement(project, "R-2", text="other!", by=ana)
    assert facts(project, scope, "S-1").spec == before
    services.edit_requirement(project, "R-1", text="changed", by=ana)
    changed = facts(project, scope, "S-1").spec
    services.edit_requirement(project, None, text="joins", by=ana, document="style")
    joined = facts(project, scope, "S-1").spec
    services.remove_requirement(project, "R-3", by=ana)
    assert len({before, changed, joined}) == 3
    assert facts(project, scope, "S-1").spec == changed


@pytest.mark.parametrize(
    ("scope", "requirements", "blockers"),
    [
        (Scope(), ["R-1", "R-2", "R-3"], ("B-1", "T-1", "B-2", "B-3")),
        (Scope(documents=("style",)), ["R-1", "R-3"], ("B-1", "T-1", "B-3")),
        (Scope(requirements=("R-2",)), ["R-2", "R-3"], ("T-1", "B-2", "B-3")),
        (Scope(everything=False), ["R-3"], ("T-1", "B-3")),
    ],
)
def test_blockers_count_over_the_scope_only(project, ana, file_bug, scope, requirements, blockers):
    services.edit_requirement(project, None, text="No print.", by=ana, document="docs")
    services.edit_requirement(project, None, text="My goal.", by=ana, session_ref="S-1")
    services.edit_requirement(project, None, text="Its goal.", by=ana, session_ref="S-2")
    file_bug()
    services.file_task(project, by=ana, title="Tidy")
    services.file_task(project, by=ana, title="Elsewhere", session_ref="S-2")
    file_bug(cites="R-2", quote="No print.")
    file_bug(cites="R-3", quote="My goal.")
    file_bug(by=services.agent(project, "reviewer", "S-2", "S-2/1"), cites="R-4", quote="Its goal.")
    found = facts(project, scope, "S-1")
    assert [r.key for r in found.requirements] == requirements
    assert found.blockers == blockers


def test_a_scope_survives_its_json_and_names_whole_requirements():
    scope = Scope(documents=("b", "a", "a"), requirements=("R-2",))
    assert not scope.everything
    assert Scope.from_json(scope.to_json()) == scope
    assert Scope.from_json({}) == Scope()
    assert scope.holds(key="R-9", document="a", owner="", session_ref="S-1")
    assert not scope.holds(key="R-9", document="c", owner="", session_ref="S-1")
    assert Scope().holds(key="R-9", document="", owner="S-1", session_ref="S-1")
    assert not Scope().holds(key="R-9", document="", owner="S-2", session_ref="S-1")
    with pytest.raises(Invalid, match="whole requirements"):
        Scope(requirements=("R-2.1",)).numbers()


def test_reopened_three_times_is_disputed_until_a_person_decides(
    project, bug, ana, worker, reviewer
):
    for n in range(3):
        assert facts(project, ALL, "S-1").disputed == ()
        services.mark_fixed(services.start(bug, worker), worker, f"abc123{n}")
        services.reopen(bug, reviewer, "no", commit_missing=False)
    assert facts(project, ALL, "S-1").disputed == ("B-1",)
    services.reset_disputes(bug, ana)
    assert facts(project, ALL, "S-1").disputed == ()


def test_fixes_are_those_of_the_session_and_not_dismissed(project, fixed, ana, reviewer):
    services.close(fixed, reviewer)
    assert facts(project, ALL, "S-1").fixes == (Fix("B-1", "abc1234", "CLOSED"),)
    assert facts(project, ALL, "S-2").fixes == facts(project, ALL, "").fixes == ()
    services.dismiss(fixed, ana, "not needed")
    assert facts(project, ALL, "S-1").fixes == ()


def test_the_newest_mark_counts_until_the_text_is_edited(project, reviewer, ana):
    for place, blob in (("a.py:1", "b1"), ("b.py:2", "b2")):
        services.add_mark(project, "R-1", by=reviewer, place=place, blob=blob, session_ref="S-1")
    assert facts(project, ALL, "S-1").marks == (MarkNow("R-1", "b.py:2", "b2"),)
    assert facts(project, ALL, "S-2").marks == ()
    services.edit_requirement(project, "R-1", text="changed", by=ana)
    assert facts(project, ALL, "S-1").marks == ()


def test_during_tells_what_an_iteration_did(project, ana, worker, reviewer, coach, fixed, file_bug):
    done = during(project, "S-1/4")
    assert (done.moved, done.task_worked, done.findings) == (True, False, ())
    task = services.file_task(project, by=ana, title="Tidy")
    services.mark_fixed(services.start(task, worker), worker, "abc1234")
    assert during(project, "S-1/4").task_worked
    services.set_guidance(project, "Run the tests.", coach)
    assert during(project, "S-1/5").guidance == 1
    assert during(project, "S-1/99") == during(project, "")


def test_findings_are_new_reopened_and_confirmed_entries(project, ana, reviewer, fixed, file_bug):
    later = services.agent(project, "reviewer", "S-1", "S-1/9")
    stale = file_bug(place="b:1").bug
    services.edit_requirement(project, "R-1", text="Every import is used.", by=ana)
    services.confirm(stale, later)
    services.confirm(fixed, later)
    file_bug(by=later, place="c:1")
    file_bug(by=later, place="c:1")
    services.file_spec_bug(project, by=later, title="?", text="?")
    assert during(project, "S-1/9").findings == ("B-2", "B-1", "B-3")


def test_filing_doubts_and_comments_is_no_progress(project, worker, bug):
    services.file_spec_bug(project, by=worker, title="?", text="?")
    services.comment(bug, worker, "thinking")
    assert not during(project, "S-1/4").moved


def test_only_marks_that_say_something_new_are_counted(project, reviewer):
    def mark(place, blob):
        services.add_mark(project, "R-1", by=reviewer, place=place, blob=blob, session_ref="S-1")
        return during(project, "S-1/3").marks_added

    assert mark("a.py:1", "b1") == 1
    assert mark("a.py:1", "b1") == 1
    assert mark("a.py:9", "b1") == 1
    assert mark("a.py:9", "b2") == 2


def test_facts_of_a_project_that_is_gone(project):
    gone = Project(pk=project.pk + 1000, name="gone")
    with pytest.raises(NotFound, match="gone"):
        facts(gone, ALL, "S-1")
