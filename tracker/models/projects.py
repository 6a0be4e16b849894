"""Projects, and who acts in their trackers."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from tracker.engine.rules import Party


class Project(models.Model):
    """A git repository with its requirements and tracker.

    subpath: path in the repository that the project is about ("" = all of it).
    pull_request: command that asks for a merge of a session's branch, run by people (RULES 1).
    extra_paths, accepted_leftovers: lists of strings (paths; globs).
    tracker_seq: count of writes to this project's tracker. write_mark: random with each write, so
    that (tracker_seq, write_mark) names one state even when a transaction was rolled back.
    last_*: highest number given out per kind of key.
    """

    name = models.SlugField(max_length=63)
    repo_path = models.TextField()
    subpath = models.TextField(blank=True, default="")
    extra_paths = models.JSONField(default=list, blank=True)
    prepare = models.TextField(blank=True, default="")
    check_command = models.TextField(blank=True, default="")
    pull_request = models.TextField(blank=True, default="")
    accepted_leftovers = models.JSONField(default=list, blank=True)
    has_advisory_marks = models.BooleanField(default=False)
    tracker_seq = models.BigIntegerField(default=0)
    write_mark = models.BigIntegerField(default=0)
    last_requirement = models.PositiveIntegerField(default=0)
    last_code = models.PositiveIntegerField(default=0)
    last_task = models.PositiveIntegerField(default=0)
    last_spec = models.PositiveIntegerField(default=0)
    last_guidance = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["name"], name="project_name_is_unique"),
            models.CheckConstraint(condition=~Q(repo_path=""), name="project_has_a_repository"),
        )

    def __str__(self) -> str:
        return self.name


_PERSON = Q(role=Party.PERSON.value)
_ENGINE = Q(role=Party.ENGINE.value)
_NOBODYS = Q(project__isnull=True, session_ref="")


class Actor(models.Model):
    """A person, the engine, or the agent that plays one role in one session.

    role is "person" for people. name: of a person. session_ref: the session of an agent, "S-3".
    """

    role = models.CharField(max_length=16, choices=[(p.value, p.value) for p in Party])
    name = models.CharField(max_length=150, blank=True, default="")
    project = models.ForeignKey(Project, models.CASCADE, null=True, blank=True, related_name="+")
    session_ref = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["name"], condition=_PERSON, name="actor_one_per_person"
            ),
            models.UniqueConstraint(
                fields=["project", "role", "session_ref"],
                condition=~_PERSON & ~_ENGINE,
                name="actor_one_per_role_and_session",
            ),
            models.UniqueConstraint(fields=["role"], condition=_ENGINE, name="actor_one_engine"),
            models.CheckConstraint(
                condition=(_PERSON & _NOBODYS & ~Q(name=""))
                | (_ENGINE & _NOBODYS & Q(name=""))
                | (~_PERSON & ~_ENGINE & Q(project__isnull=False, name="")),
                name="actor_is_a_person_or_a_projects_agent",
            ),
            models.CheckConstraint(
                condition=Q(role__in=[p.value for p in Party]), name="actor_role_is_known"
            ),
        )

    def __str__(self) -> str:
        if self.is_person:
            return self.name
        if self.role == Party.ENGINE:
            return "the engine"
        return f"the {self.role} of {self.session_ref}" if self.session_ref else f"the {self.role}"

    @property
    def is_person(self) -> bool:
        return self.role == Party.PERSON

    @property
    def party(self) -> Party:
        return Party(self.role)
