"""What the database itself refuses, whoever writes."""

import pytest
from django.db import IntegrityError, transaction

from tracker import services
from tracker.errors import Invalid
from tracker.models import (
    Actor,
    Bug,
    GuidanceVersion,
    Mark,
    Move,
    Project,
    Requirement,
    RequirementVersion,
)


def refused(name, write):
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        write()
    # SQLite names the columns of a broken unique index, PostgreSQL the constraint.
    assert name in str(caught.value) or "UNIQUE" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("bug_code_cites_a_requirement", {"quote": ""}),
        ("bug_code_cites_a_requirement", {"contradiction": ""}),
        ("bug_code_cites_a_requirement", {"requirement": None, "version": None}),
        ("bug_citation_names_a_version", {"kind": "spec", "version": None}),
        ("bug_fixed_has_a_commit", {"state": "FIXED"}),
        ("bug_task_is_filed_by_a_person", {"kind": "task"}),
        ("bug_dismissed_is_closed_by_a_person", {"dismiss_reason": "why"}),
        ("bug_dismissed_is_closed_by_a_person", {"dismiss_reason": "why", "state": "CLOSED"}),
        ("bug_spec_never_enters_the_work", {"kind": "spec", "state": "BLOCKED"}),
        ("bug_in_progress_has_a_worker", {"state": "IN_PROGRESS"}),
        ("bug_state_is_known", {"state": "LOST"}),
        ("bug_kind_is_known", {"kind": "idea"}),
        ("bug_priority_is_known", {"priority": "P9"}),
        ("bug_has_a_title", {"title": ""}),
    ],
)
def test_an_entry_that_breaks_a_rule_cannot_be_stored(bug, name, changes):
    refused(name, lambda: Bug.objects.filter(pk=bug.pk).update(**changes))


def test_keys_are_unique(project, bug):
    copy = Bug.objects.get(pk=bug.pk)
    copy.pk = None
    refused("bug_number_is_unique_per_kind", lambda: copy.save(force_insert=True))
    refused(
        "requirement_number_is_unique_in_project",
        lambda: Requirement.objects.create(project=project, number=1),
    )
    refused("project_name_is_unique", lambda: Project.objects.create(name="demo", repo_path="/x"))


def test_a_goal_has_one_session_and_no_document(project):
    Requirement.objects.create(project=project, number=8, session_ref="S-1")
    refused(
        "requirement_one_goal_per_session",
        lambda: Requirement.objects.create(project=project, number=9, session_ref="S-1"),
    )
    refused(
        "requirement_goal_is_owned_by_session_not_document",
        lambda: Requirement.objects.create(
            project=project, number=9, session_ref="S-2", document="d"
        ),
    )


def test_an_actor_is_a_person_or_an_agent_of_one_project(project, ana, worker):
    for fields in (
        {"role": "person", "name": ""},
        {"role": "person", "name": "eve", "project": project},
        {"role": "worker"},
        {"role": "engine", "project": project},
    ):
        refused("actor_is_a_person_or_a_projects_agent", lambda f=fields: Actor.objects.create(**f))
    refused("actor_role_is_known", lambda: Actor.objects.create(role="boss", project=project))
    refused("actor_one_per_person", lambda: Actor.objects.create(role="person", name="ana"))
    refused(
        "actor_one_per_role_and_session",
        lambda: Actor.objects.create(role="worker", project=project, session_ref="S-1"),
    )


def test_the_same_actor_is_one_row(project):
    assert services.engine().actor == services.engine().actor
    for role in ("person", "engine", "boss"):
        with pytest.raises(Invalid, match="no role of an agent"):
            services.agent(project, role, "S-1", "S-1/1")
    assert services.person(" ana ").actor == services.person("ana").actor
    first = services.agent(project, "worker", "S-1", "S-1/1")
    assert first.actor == services.agent(project, "worker", "S-1", "S-1/2").actor


def test_what_was_said_can_never_be_changed(project, ana, bug, coach):
    services.set_guidance(project, "Run the tests.", coach)
    for name, rows, changes in (
        ("requirement_version_is_immutable", RequirementVersion.objects, {"text": "easier"}),
        ("requirement_version_is_immutable", RequirementVersion.objects, {"number": 9}),
        ("guidance_version_is_immutable", GuidanceVersion.objects, {"text": "Do nothing."}),
        ("move_is_immutable", Move.objects, {"to_state": "CLOSED"}),
        ("move_is_immutable", Move.objects, {"actor": ana.actor}),
    ):
        assert rows.exists()
        refused(name, lambda r=rows, c=changes: r.update(**c))


def test_numbers_of_versions_are_unique(project, ana, coach):
    version = services.get_requirement(project, "R-1").current
    refused(
        "requirement_version_number_is_unique",
        lambda: RequirementVersion.objects.create(
            requirement=version.requirement, number=1, text="x", actor=ana.actor
        ),
    )
    services.set_guidance(project, "x", coach)
    refused(
        "guidance_number_is_unique_in_project",
        lambda: GuidanceVersion.objects.create(project=project, number=1, actor=ana.actor),
    )


def test_one_mark_is_the_newest(project, reviewer):
    mark = services.add_mark(project, "R-1", by=reviewer, place="a:1", blob="", session_ref="S-1")
    mark.pk = None
    refused("mark_one_newest_per_session_and_requirement", lambda: mark.save(force_insert=True))
    refused("mark_names_a_place", lambda: Mark.objects.update(place=""))
