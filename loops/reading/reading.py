"""One session as it stands now: each row and fold is read at most once per request."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import F
from django.utils import timezone

from loops import configuration, independence
from loops.engine.contracts import Verifier
from loops.engine.values import ROLES, EndReason, Pattern, Policy, Role, State
from loops.models import Iteration, Session, Transition
from loops.reading.attempts import Attempt, Said, attempts_of, kind_of
from loops.sight import scope_of
from loops.snapshots import Fold, LogUnusable
from tracker.errors import Invalid
from tracker.facts import Facts, facts


@dataclass(frozen=True, slots=True)
class Noted:
    """What the log says of a finished iteration beside its outcome. money: dollars. tokens, money:
    None = not reported."""

    findings: int
    guidance: int | None
    tokens: int | None
    money: float | None


class Reading:
    """now: the moment all ages on the page are measured at, in the reader's time zone."""

    def __init__(self, session: Session, now: datetime | None = None) -> None:
        self.session = session
        self.project = session.project
        self.now = now or timezone.localtime()

    @property
    def state(self) -> State:
        return State(self.session.state)

    @property
    def end(self) -> EndReason | None:
        return EndReason(self.session.end_reason) if self.session.end_reason else None

    @property
    def is_ended(self) -> bool:
        return self.state is State.ENDED

    @cached_property
    def fold(self) -> Fold | None:
        """None for a draft, which has no log yet, and for a log that cannot be understood."""
        if self.state is State.DRAFT:
            return None
        try:
            return Fold.load(self.session)
        except LogUnusable:
            return None

    @cached_property
    def facts(self) -> Facts:
        return facts(self.project, scope_of(self.session), self.session.ref)

    @cached_property
    def iterations(self) -> list[Iteration]:
        """In order of their numbers, without their prompts."""
        return list(self.session.iterations.order_by("number"))

    @cached_property
    def newest(self) -> Iteration | None:
        return self.iterations[-1] if self.iterations else None

    @property
    def running(self) -> Iteration | None:
        newest = self.newest
        return newest if newest is not None and newest.ended_at is None else None

    @cached_property
    def noted(self) -> dict[int, Noted]:
        """By number of the iteration."""
        evidence = "payload__evidence__"
        rows = self.session.own_log.filter(kind="recorded").values_list(
            *(evidence + name for name in ("number", "findings", "guidance", "tokens", "money"))
        )
        return {
            number: Noted(len(findings or ()), guidance, tokens, money)
            for number, findings, guidance, tokens, money in rows
        }

    def evidence(self, number: int) -> dict[str, Any]:
        """The log's evidence of a finished iteration; {} while it runs."""
        entry = self.session.own_log.filter(
            kind="recorded", payload__evidence__number=number
        ).first()
        return dict(entry.payload["evidence"]) if entry else {}

    @cached_property
    def last_move(self) -> Transition | None:
        """The newest change of state; going on on another host is none."""
        return self.session.transitions.exclude(before=F("after")).order_by("-id").first()

    @cached_property
    def said_at(self) -> datetime | None:
        """When the running iteration's newest output came; None before the first."""
        if self.running is None:
            return None
        return self.running.pieces.order_by("-seq").values_list("at", flat=True).first()

    @property
    def pattern(self) -> Pattern:
        return Pattern(self.session.pattern)

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The roles that this session has an agent for."""
        if self.pattern is not Pattern.SINGLE_THREAD:
            return ROLES[self.pattern]
        named = self.session.config.get("agents", {})
        return tuple(role for role in ROLES[self.pattern] if role in named)

    @property
    def pool(self) -> tuple[str, ...]:
        """The workers of Thinker-Worker-Verifier, in order; () in the other patterns."""
        return tuple(one["name"] for one in self.session.config.get("pool", ()))

    @cached_property
    def verifiers(self) -> dict[str, Verifier]:
        """By name, in the order in which they are asked."""
        return {
            one["name"]: Verifier(
                name=one["name"],
                policy=Policy(one.get("policy", Policy.REQUIRED)),
                is_mechanical=one.get("mechanical", False),
            )
            for one in self.session.config.get("verifiers", ())
        }

    def kind_of(self, verifier: str) -> str:
        """What its word is for, with the mark of one that shares its maker's model (RULES 3)."""
        kind = kind_of(self.verifiers.get(verifier))
        return f"{kind}, same model as it judges" if verifier in self._judges_itself else kind

    @cached_property
    def _judges_itself(self) -> frozenset[str]:
        try:
            found = independence.pairs(configuration.parse(self.session.config))
        except Invalid:  # of an older version; nothing can be said of it
            return frozenset()
        same = (one.judge for one in found if one.grade is independence.Grade.SAME_MODEL)
        return frozenset(judge.removeprefix("verifier ") for judge in same)

    def agent_of(self, role: Role, name: str) -> dict[str, Any]:
        """The settings of who plays a role in the configuration in force; {} if nobody does."""
        config = self.session.config
        if not name:
            return dict(config.get("agents", {}).get(role.value) or {})
        members = config.get("verifiers" if role is Role.VERIFIER else "pool", ())
        return next((dict(one["agent"]) for one in members if one["name"] == name), {})

    @cached_property
    def attempts(self) -> tuple[Attempt, ...]:
        """With what the verifiers said of each; () in the single-threaded loop."""
        return attempts_of(self.session)

    @cached_property
    def attempt_at(self) -> dict[int, int]:
        """By number of the iteration that made it, which attempt it was."""
        return {one.iteration: one.number for one in self.attempts}

    @cached_property
    def verdict_at(self) -> dict[int, Said]:
        """By number of the iteration, what its verifier said."""
        return {said.iteration: said for one in self.attempts for said in one.said}

    def local(self, at: datetime) -> datetime:
        return timezone.localtime(at)
