"""A question that only a person may settle, and the person's final word on it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from loops.engine.values import Choice, Kind
from loops.models import Session
from tracker.models import Actor


class Status(models.TextChoices):
    OPEN = "open"
    DECIDED = "decided"
    SUPERSEDED = "superseded"


class Escalation(models.Model):
    """Idempotent by fingerprint while open: the same question again makes `count` grow.

    evidence: hash of the tree that a decision would approve ("" when there is none).
    version: grows when the evidence changes; a decision names the one that the person saw.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="escalations")
    kind = models.CharField(max_length=20, choices=[(k.value, k.value) for k in Kind])
    blocking = models.BooleanField()
    question = models.TextField()
    rule = models.CharField(max_length=20)
    subject = models.CharField(max_length=20, default="", blank=True)
    limit = models.CharField(max_length=20, default="", blank=True)
    evidence = models.CharField(max_length=64, default="", blank=True)
    version = models.PositiveIntegerField(default=1)
    fingerprint = models.CharField(max_length=80)
    count = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.OPEN.value)
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "fingerprint"],
                condition=Q(status=Status.OPEN.value),
                name="one_open_escalation_per_fingerprint",
            ),
            models.CheckConstraint(
                condition=Q(status=Status.OPEN.value, closed_at__isnull=True)
                | (~Q(status=Status.OPEN.value) & Q(closed_at__isnull=False)),
                name="closed_escalation_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"E-{self.pk}"


class Decision(models.Model):
    """One per escalation, bound to the evidence and version that the person saw. Immutable."""

    escalation = models.OneToOneField(Escalation, on_delete=models.PROTECT, related_name="decision")
    choice = models.CharField(max_length=10, choices=[(c.value, c.value) for c in Choice])
    text = models.TextField(default="", blank=True)
    details = models.JSONField(default=dict)
    evidence = models.CharField(max_length=64, default="", blank=True)
    version = models.PositiveIntegerField()
    by = models.ForeignKey(Actor, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.escalation}: {self.choice}"
