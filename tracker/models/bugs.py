"""What is wrong or asked for: entries of three kinds, and the history of every write."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from tracker.engine.rules import PREFIXES, PRIORITIES, Kind, Party, State
from tracker.models.projects import Actor, Project
from tracker.models.spec import Requirement, RequirementVersion


class Bug(models.Model):
    """One tracker entry: code bug "B-n", task "T-n" or spec bug "Q-n".

    requirement, version, line, quote, contradiction: the citation (line from 1, or None).
    finding: identity of a code bug's finding; count: how often it was filed.
    blob: content id of the file at `place` when last seen ("" = unknown).
    session_ref: the session that alone sees it ("" = everybody).
    commit, fixed_in: the fix and the session it was made in; empty again once reopened.
    reopen_count: since the last decision on it, without those for a missing commit.
    dismiss_reason: not empty = closed by a person without a fix.
    filed_as: role of who filed it; here so that a constraint can hold "tasks only by people".
    """

    project = models.ForeignKey(Project, models.CASCADE, db_index=False, related_name="bugs")
    kind = models.CharField(max_length=8, choices=[(k.value, k.value) for k in Kind])
    number = models.PositiveIntegerField()
    state = models.CharField(
        max_length=16,
        default=State.OPEN.value,
        choices=[(state.value, state.value) for state in State],
    )
    priority = models.CharField(max_length=2, default="P2", choices=[(p, p) for p in PRIORITIES])
    title = models.TextField()
    text = models.TextField(blank=True, default="")
    requirement = models.ForeignKey(
        Requirement, models.RESTRICT, null=True, blank=True, related_name="bugs"
    )
    version = models.ForeignKey(
        RequirementVersion, models.RESTRICT, null=True, blank=True, related_name="+"
    )
    line = models.PositiveIntegerField(null=True, blank=True)
    quote = models.TextField(blank=True, default="")
    contradiction = models.TextField(blank=True, default="")
    place = models.TextField(blank=True, default="")
    blob = models.CharField(max_length=64, blank=True, default="")
    finding = models.CharField(max_length=64, blank=True, default="")
    count = models.PositiveIntegerField(default=1)
    session_ref = models.CharField(max_length=64, blank=True, default="")
    commit = models.CharField(max_length=64, blank=True, default="")
    fixed_in = models.CharField(max_length=64, blank=True, default="")
    started_by = models.ForeignKey(Actor, models.RESTRICT, null=True, blank=True, related_name="+")
    started_reference = models.CharField(max_length=64, blank=True, default="")
    reopen_count = models.PositiveIntegerField(default=0)
    is_disputed = models.BooleanField(default=False)
    dismiss_reason = models.TextField(blank=True, default="")
    dismissed_by = models.ForeignKey(
        Actor, models.RESTRICT, null=True, blank=True, related_name="+"
    )
    filed_by = models.ForeignKey(Actor, models.RESTRICT, related_name="+")
    filed_as = models.CharField(max_length=16)
    reference = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "kind", "number"], name="bug_number_is_unique_per_kind"
            ),
            models.CheckConstraint(
                condition=~Q(kind=Kind.CODE.value)
                | (
                    Q(requirement__isnull=False, version__isnull=False, line__isnull=False)
                    & ~Q(quote="")
                    & ~Q(contradiction="")
                    & ~Q(finding="")
                ),
                name="bug_code_cites_a_requirement",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.FIXED.value) | ~Q(commit=""), name="bug_fixed_has_a_commit"
            ),
            models.CheckConstraint(
                condition=~Q(kind=Kind.TASK.value) | Q(filed_as=Party.PERSON.value),
                name="bug_task_is_filed_by_a_person",
            ),
            models.CheckConstraint(
                condition=Q(dismiss_reason="")
                | Q(state=State.CLOSED.value, dismissed_by__isnull=False),
                name="bug_dismissed_is_closed_by_a_person",
            ),
            models.CheckConstraint(
                condition=~Q(kind=Kind.SPEC.value)
                | Q(state__in=[State.OPEN.value, State.REOPENED.value, State.CLOSED.value]),
                name="bug_spec_never_enters_the_work",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.IN_PROGRESS.value) | Q(started_by__isnull=False),
                name="bug_in_progress_has_a_worker",
            ),
            models.CheckConstraint(
                condition=Q(requirement__isnull=True, version__isnull=True)
                | Q(requirement__isnull=False, version__isnull=False),
                name="bug_citation_names_a_version",
            ),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in State]), name="bug_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=[k.value for k in Kind]), name="bug_kind_is_known"
            ),
            models.CheckConstraint(
                condition=Q(priority__in=PRIORITIES), name="bug_priority_is_known"
            ),
            models.CheckConstraint(condition=~Q(title=""), name="bug_has_a_title"),
        )
        indexes = (
            # Each begins with the project, whose own index is left out for that (db_index).
            # The hot path of every iteration reads live work by its states and this session's
            # fixes, however many closed entries a project has. Not partial: SQLite does not match
            # the condition of a partial index with bound parameters.
            models.Index(fields=["project", "kind", "state"], name="bug_by_state"),
            models.Index(fields=["project", "fixed_in"], name="bug_by_fixing_session"),
            models.Index(fields=["project", "finding"], name="bug_same_finding"),
        )

    def __str__(self) -> str:
        return self.key

    @property
    def key(self) -> str:
        return f"{PREFIXES[Kind(self.kind)]}-{self.number}"

    @property
    def is_dismissed(self) -> bool:
        return self.dismiss_reason != ""


class Move(models.Model):
    """One write to a project's tracker: who did what, in which iteration. Never changed (trigger).

    seq: the project's tracker_seq of the write; rows of one write share it. subject: key of what
    it is about. from_state, to_state: empty where no entry's state is concerned.
    note: the words given. commit: of a fix. is_commit_missing: reopened because the fix's commit is
    not in the session's HEAD.
    """

    project = models.ForeignKey(Project, models.CASCADE, db_index=False, related_name="moves")
    seq = models.BigIntegerField()
    subject = models.CharField(max_length=24, blank=True, default="")
    bug = models.ForeignKey(Bug, models.CASCADE, null=True, blank=True, related_name="moves")
    requirement = models.ForeignKey(
        Requirement, models.CASCADE, null=True, blank=True, related_name="moves"
    )
    verb = models.CharField(max_length=16)
    from_state = models.CharField(max_length=16, blank=True, default="")
    to_state = models.CharField(max_length=16, blank=True, default="")
    note = models.TextField(blank=True, default="")
    commit = models.CharField(max_length=64, blank=True, default="")
    is_commit_missing = models.BooleanField(default=False)
    actor = models.ForeignKey(Actor, models.RESTRICT, related_name="+")
    reference = models.CharField(max_length=64, blank=True, default="")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(bug__isnull=True) | ~Q(to_state=""), name="move_of_a_bug_has_a_state"
            ),
        )
        indexes = (
            models.Index(fields=["project", "reference"], name="move_by_iteration"),
            models.Index(F("project"), F("seq").desc(), name="move_newest_first"),
        )

    def __str__(self) -> str:
        return f"{self.verb} {self.subject}"
