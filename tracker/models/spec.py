"""What must hold: requirements and their versions, marks, guidance."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from tracker.models.projects import Actor, Project


class Requirement(models.Model):
    """One statement with a stable key "R-n" and immutable versions.

    session_ref: owner of a session's goal ("" = part of the project's spec).
    removed_at: removed by a person, or archived at the end of its session.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, db_index=False, related_name="requirements"
    )
    number = models.PositiveIntegerField()
    document = models.CharField(max_length=255, blank=True, default="")
    session_ref = models.CharField(max_length=64, blank=True, default="")
    current = models.ForeignKey(
        "tracker.RequirementVersion", models.RESTRICT, null=True, blank=True, related_name="+"
    )
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "number"], name="requirement_number_is_unique_in_project"
            ),
            models.UniqueConstraint(
                fields=["project", "session_ref"],
                condition=~Q(session_ref=""),
                name="requirement_one_goal_per_session",
            ),
            models.CheckConstraint(
                condition=Q(session_ref="") | Q(document=""),
                name="requirement_goal_is_owned_by_session_not_document",
            ),
        )

    def __str__(self) -> str:
        return self.key

    @property
    def key(self) -> str:
        return f"R-{self.number}"


class RequirementVersion(models.Model):
    """One text of a requirement. A database trigger refuses any change of it."""

    requirement = models.ForeignKey(Requirement, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    text = models.TextField()
    actor = models.ForeignKey(Actor, models.RESTRICT, related_name="+")
    reference = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["requirement", "number"], name="requirement_version_number_is_unique"
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1), name="requirement_version_counts_from_1"
            ),
        )

    def __str__(self) -> str:
        return f"{self.requirement} version {self.number}"


class Mark(models.Model):
    """The reviewer's statement that a requirement holds, and where it looked.

    place: "file:line". blob: id of that file's content then ("" = unknown). is_newest: False once
    a later mark of the same session and requirement took its place.
    """

    project = models.ForeignKey(Project, models.CASCADE, db_index=False, related_name="marks")
    requirement = models.ForeignKey(Requirement, models.CASCADE, related_name="marks")
    version = models.ForeignKey(RequirementVersion, models.RESTRICT, related_name="+")
    place = models.TextField()
    blob = models.CharField(max_length=64, blank=True, default="")
    session_ref = models.CharField(max_length=64, blank=True, default="")
    is_newest = models.BooleanField(default=True)
    actor = models.ForeignKey(Actor, models.RESTRICT, related_name="+")
    reference = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "session_ref", "requirement"],
                condition=Q(is_newest=True),
                name="mark_one_newest_per_session_and_requirement",
            ),
            models.CheckConstraint(condition=~Q(place=""), name="mark_names_a_place"),
        )

    def __str__(self) -> str:
        return f"{self.requirement} holds at {self.place}"


class GuidanceVersion(models.Model):
    """One version of the document that goes into prompts. A trigger refuses changes of its text."""

    project = models.ForeignKey(
        Project, models.CASCADE, db_index=False, related_name="guidance_versions"
    )
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    actor = models.ForeignKey(Actor, models.RESTRICT, related_name="+")
    reference = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "number"], name="guidance_number_is_unique_in_project"
            ),
        )

    def __str__(self) -> str:
        return f"guidance v{self.number}"
