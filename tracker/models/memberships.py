"""Who may do what, where."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from tracker.engine.rights import Role
from tracker.models.projects import Project


class Membership(models.Model):
    """A person's role in one project, or in all projects (project null)."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, blank=True, related_name="memberships"
    )
    role = models.CharField(max_length=16, choices=[(r.value, r.value) for r in Role])

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["user", "project"], name="membership_one_per_project"),
            models.UniqueConstraint(
                fields=["user"],
                condition=Q(project__isnull=True),
                name="membership_one_for_all_projects",
            ),
            models.CheckConstraint(
                condition=Q(role__in=[r.value for r in Role]), name="membership_role_is_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user}: {self.role} of {self.project or 'all projects'}"
