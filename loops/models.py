"""Rows of the core app. State is folded from LogEntry; the rest is cache, lease or record.

A foreign key whose table has a unique key that begins with it has no index of its own: each index
is a page more in the commit of every iteration.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from loops.engine.values import EndReason, Outcome, Pattern, Role, State
from tracker.models import Actor, Project


def _choices(words: type) -> list[tuple[str, str]]:
    return [(word.value, word.value) for word in words]  # type: ignore[attr-defined]


class Agent(models.Model):
    """A named adapter with settings; a session freezes a copy of them at its start."""

    name = models.SlugField(max_length=60, unique=True)
    adapter = models.CharField(max_length=20)
    settings = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.name


class Secret(models.Model):
    """A credential, encrypted with the key file of the data folder; never shown again."""

    name = models.SlugField(max_length=60, unique=True)
    ciphertext = models.BinaryField()

    def __str__(self) -> str:
        return self.name


class SessionTemplate(models.Model):
    """A set-up of the new session's form under a name: all but what the session is about.

    values: field -> what was typed; pool and verifiers are lists of rows."""

    name = models.CharField(max_length=60, unique=True)
    values = models.JSONField()
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class LoginLink(models.Model):
    """Signs one person in, once, until expires_at. token_hash: sha256 of the token, in hex."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"login link of {self.user}"


class Host(models.Model):
    """A machine, or one data folder of it, that moves sessions on; its clock keeps seen_at fresh.

    boot_id: of the machine's kernel, to tell two machines of one name apart. leftovers: agent trees
    ({"host", "boot_id", "pid", "start_ticks", "mark"}) of sessions that went on elsewhere; this
    host ends them when it is back.
    """

    name = models.CharField(max_length=63, unique=True)
    data = models.TextField()
    boot_id = models.CharField(max_length=64)
    slots = models.PositiveSmallIntegerField()
    version = models.CharField(max_length=40)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    leftovers = models.JSONField(default=list)

    def __str__(self) -> str:
        return self.name


class Session(models.Model):
    """One supervised loop over one goal.

    log_seq: sequence of the newest LogEntry. fold, fold_seq: cached engine state and the entry it
    stands at. fence: grows with every lease; a record with an older fence changes nothing.
    lease_owner: who may record ({"host", "boot_id", "pid", "start_ticks"}); process: the agent
    tree that runs now, for a successor to kill. not_before: back-off or an agent's limit.
    holds_project: from the first claim to the end (RULES 1, one active session per project).
    forked_from, forked_at: the parent and its iteration that this one goes on from. own_log_after:
    sequence of the `forked` entry: what stands before it in the log is a copy of the parent's.
    result_rev, result_head: the tree that it ended with, "" until then.
    host: where its clone is, from the first claim on. host_moves: how often it changed; a clone of
    an earlier stay is stale. turn_at: when it last got a slot. kept: the snapshot that other hosts
    reach ({"iteration", "rev", "head", "head_ref", "snapshot", "host"}), null without one;
    keeping_fault: why the newest one is not there.
    """

    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="sessions", db_index=False
    )
    pattern = models.CharField(max_length=30, choices=_choices(Pattern))
    state = models.CharField(max_length=14, choices=_choices(State), default=State.DRAFT.value)
    end_reason = models.CharField(max_length=16, choices=_choices(EndReason), null=True)  # noqa: DJ001
    end_sentence = models.TextField(default="", blank=True)
    goal = models.TextField(default="", blank=True)
    config = models.JSONField()
    scope = models.JSONField(default=dict)
    preflight = models.JSONField(null=True)
    base_rev = models.CharField(max_length=64, default="", blank=True)
    base_head = models.CharField(max_length=64, default="", blank=True)
    forked_from = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="forks"
    )
    forked_at = models.PositiveIntegerField(null=True, blank=True)
    own_log_after = models.PositiveBigIntegerField(default=0)
    result_rev = models.CharField(max_length=64, default="", blank=True)
    result_head = models.CharField(max_length=64, default="", blank=True)
    log_seq = models.PositiveBigIntegerField(default=0)
    fold = models.JSONField(null=True)
    fold_seq = models.PositiveBigIntegerField(default=0)
    iteration_count = models.PositiveIntegerField(default=0)
    stepping = models.BooleanField(default=False)
    holds_project = models.BooleanField(default=False)
    fence = models.PositiveBigIntegerField(default=0)
    lease_owner = models.JSONField(null=True)
    lease_until = models.DateTimeField(null=True)
    process = models.JSONField(null=True)
    not_before = models.DateTimeField(null=True)
    held_until = models.DateTimeField(null=True)
    host = models.CharField(max_length=63, default="", blank=True)
    host_moves = models.PositiveIntegerField(default=0)
    turn_at = models.DateTimeField(null=True)
    kept = models.JSONField(null=True)
    keeping_fault = models.TextField(default="", blank=True)
    created_by = models.CharField(max_length=150, default="")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project"],
                condition=Q(holds_project=True),
                name="one_active_session_per_project",
            ),
            models.CheckConstraint(
                condition=Q(state=State.ENDED.value, end_reason__isnull=False)
                | (~Q(state=State.ENDED.value) & Q(end_reason__isnull=True)),
                name="ended_session_has_one_end_reason",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.ENDED.value) | Q(holds_project=False),
                name="ended_session_frees_its_project",
            ),
            models.CheckConstraint(
                condition=Q(forked_from__isnull=True, forked_at__isnull=True, own_log_after=0)
                | Q(forked_from__isnull=False, forked_at__isnull=False, own_log_after__gt=0),
                name="fork_names_parent_and_iteration",
            ),
        ]
        # Each list of sessions is read newest first, a page at a time.
        indexes = [
            models.Index(fields=["project", "id"], name="session_by_project"),
            models.Index(fields=["pattern", "id"], name="session_by_pattern"),
            models.Index(fields=["state", "id"], name="session_by_state"),
            models.Index(
                fields=["end_reason", "id"],
                condition=Q(end_reason__isnull=False),
                name="session_by_end_reason",
            ),
            models.Index(
                fields=["ended_at"], condition=Q(ended_at__isnull=False), name="session_by_end"
            ),
        ]

    def __str__(self) -> str:
        return self.ref

    @property
    def ref(self) -> str:
        """The tracker's opaque name of this session."""
        return f"S-{self.pk}"

    @property
    def own_log(self) -> models.QuerySet[LogEntry]:
        """Its log without what a fork copied from its parent."""
        return LogEntry.objects.filter(session=self.pk, seq__gt=self.own_log_after)


class Price(models.Model):
    """Dollars per million tokens of a model. cached: of input that the provider had already."""

    model = models.CharField(max_length=100, unique=True)
    input = models.DecimalField(max_digits=12, decimal_places=6)
    cached = models.DecimalField(max_digits=12, decimal_places=6)
    output = models.DecimalField(max_digits=12, decimal_places=6)
    by = models.CharField(max_length=150, default="")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.model


class LedgerEntry(models.Model):
    """What one call used, priced as of then; append-only. input: tokens, cached ones included.

    money: dollars, null = the model had no price. Numbers, not keys: it outlives what is archived.
    """

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="ledger", db_index=False
    )
    iteration = models.PositiveIntegerField()
    call = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=10, choices=_choices(Role))
    agent = models.CharField(max_length=60, default="", blank=True)
    model = models.CharField(max_length=100)
    input = models.PositiveBigIntegerField()
    cached = models.PositiveBigIntegerField(default=0)
    output = models.PositiveBigIntegerField()
    money = models.DecimalField(max_digits=16, decimal_places=8, null=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "iteration", "call"], name="call_in_the_ledger_once"
            )
        ]

    def __str__(self) -> str:
        return f"S-{self.session_id}/{self.iteration} call {self.call}"


class PromptText(models.Model):
    """What an agent was shown, kept once however many iterations read the same."""

    digest = models.CharField(max_length=64, primary_key=True)
    text = models.TextField()

    def __str__(self) -> str:
        return self.digest


class Iteration(models.Model):
    """One turn of one role. In flight while ended_at is null; its evidence is the log entry.

    agent: which worker of the pool or which verifier; "" where the role has one.
    """

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="iterations", db_index=False
    )
    number = models.PositiveIntegerField()
    role = models.CharField(max_length=10, choices=_choices(Role))
    agent = models.CharField(max_length=60, default="", blank=True)
    rule = models.CharField(max_length=20)
    reason = models.TextField(default="")
    fence = models.PositiveBigIntegerField()
    before = models.JSONField()
    claimed_at_seq = models.PositiveBigIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=14, choices=_choices(Outcome), null=True)  # noqa: DJ001
    rev = models.CharField(max_length=64, default="")
    head = models.CharField(max_length=64, default="")
    detail = models.TextField(default="")
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


class Transition(models.Model):
    """One status change; immutable."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="transitions")
    before = models.CharField(max_length=14)
    move = models.CharField(max_length=20)
    after = models.CharField(max_length=14)
    by = models.CharField(max_length=150)
    note = models.TextField(default="")
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["session", "id"], name="transition_by_session")]

    def __str__(self) -> str:
        return f"S-{self.session_id} {self.before} -> {self.after}"


class Answer(models.Model):
    """A decision on its way into the session's log; taken up when taken_at is set.

    decision: the escalation app's id of the decision, so that a second delivery changes nothing.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="answers")
    decision = models.PositiveBigIntegerField(unique=True)
    payload = models.JSONField()
    at = models.DateTimeField()
    taken_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["session"], condition=Q(taken_at=None), name="answer_not_taken_up")
        ]

    def __str__(self) -> str:
        return f"S-{self.session_id} answer {self.decision}"


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


class Delivery(models.Model):
    """One try by a person to hand a session's result over; immutable (a trigger holds it).

    target: the remote's name or address without secrets, the command, or the patch's file. commit:
    what was handed over, "" when it could not be made. said: the last words of the remote or of
    the command, or why it failed.
    """

    class Kind(models.TextChoices):
        PUSH = "push"
        PULL_REQUEST = "pull_request"
        PATCH = "patch"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="deliveries")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    target = models.TextField(default="", blank=True)
    commit = models.CharField(max_length=64, default="", blank=True)
    ok = models.BooleanField()
    said = models.TextField(default="", blank=True)
    by = models.ForeignKey(Actor, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["push", "pull_request", "patch"]),
                name="delivery_kind_is_known",
            )
        ]

    def __str__(self) -> str:
        return f"S-{self.session_id} {self.kind} {self.target}"
