"""Rows of iterations: the log that is folded, prompts, output, what calls used."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from loops.engine.values import Outcome, Role
from loops.models.sessions import Session
from loops.models.words import choices


class PromptText(models.Model):
    """What an agent was shown, kept once however many iterations read the same."""

    digest = models.CharField(max_length=64, primary_key=True)
    text = models.TextField()

    def __str__(self) -> str:
        return self.digest


class Iteration(models.Model):
    """One turn of one role. In flight while ended_at is null; its evidence is the log entry.

    agent: which worker of the pool or which verifier; "" where the role has one. version: of the
    CLI that ran, "" where that is unknown.
    """

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="iterations", db_index=False
    )
    number = models.PositiveIntegerField()
    role = models.CharField(max_length=10, choices=choices(Role))
    agent = models.CharField(max_length=60, default="", blank=True)
    rule = models.CharField(max_length=20)
    reason = models.TextField(default="")
    fence = models.PositiveBigIntegerField()
    before = models.JSONField()
    claimed_at_seq = models.PositiveBigIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=14, choices=choices(Outcome), null=True)  # noqa: DJ001
    rev = models.CharField(max_length=64, default="")
    head = models.CharField(max_length=64, default="")
    detail = models.TextField(default="")
    version = models.CharField(max_length=40, default="", db_default="", blank=True)
    prompt = models.ForeignKey(
        PromptText, on_delete=models.PROTECT, related_name="+", db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "number"], name="iteration_number_once_per_session"
            ),
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(ended_at=None),
                name="one_iteration_in_flight_per_session",
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, outcome__isnull=True)
                | Q(ended_at__isnull=False, outcome__isnull=False),
                name="ended_iteration_has_one_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"S-{self.session_id}/{self.number}"


class LogEntry(models.Model):
    """A fact the controller folds; append-only."""

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="log", db_index=False
    )
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=12)
    payload = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "seq"], name="log_sequence_once_per_session")
        ]

    def __str__(self) -> str:
        return f"S-{self.session_id} #{self.seq} {self.kind}"


class OutputPiece(models.Model):
    """A piece of what one iteration's agent wrote. offset: bytes of text before it."""

    iteration = models.ForeignKey(
        Iteration, on_delete=models.CASCADE, related_name="pieces", db_index=False
    )
    seq = models.PositiveIntegerField()
    offset = models.PositiveBigIntegerField()
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["iteration", "seq"], name="piece_sequence_once")
        ]

    def __str__(self) -> str:
        return f"{self.iteration_id}: {self.seq}"


class LedgerEntry(models.Model):
    """What one call used, priced as of then; append-only. input: tokens, cached ones included.

    output: reasoning included. money: dollars, null = the model had no price, or by_subscription.
    reported: by the agent's own table. Numbers, not keys: it outlives what is archived.
    """

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="ledger", db_index=False
    )
    iteration = models.PositiveIntegerField()
    call = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=10, choices=choices(Role))
    agent = models.CharField(max_length=60, default="", blank=True)
    model = models.CharField(max_length=100)
    input = models.PositiveBigIntegerField()
    cached = models.PositiveBigIntegerField(default=0)
    output = models.PositiveBigIntegerField()
    reasoning = models.PositiveBigIntegerField(default=0)
    money = models.DecimalField(max_digits=16, decimal_places=8, null=True)
    reported = models.DecimalField(max_digits=16, decimal_places=8, null=True)
    by_subscription = models.BooleanField(default=False)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "iteration", "call"], name="call_in_the_ledger_once"
            )
        ]

    def __str__(self) -> str:
        return f"S-{self.session_id}/{self.iteration} call {self.call}"
