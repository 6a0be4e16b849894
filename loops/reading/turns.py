"""What the rules said in a session, in order: what a fork took over from its parents first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from loops.engine.lifecycle import Move
from loops.engine.values import EndReason, Outcome, Role, State
from loops.models import Session
from loops.pages.compare import Cell
from loops.pages.states import end_chip, outcome_chip, role_word, state_chip
from loops.reading import links
from loops.reading.reading import Reading

MOST = 5_000  # directives of one session that are compared


@dataclass(frozen=True, slots=True)
class Turn:
    """One directive and its answer. what: role with agent, or how the session stands at the end.
    seconds, money, tokens: spent by this very session (what a fork took over cost it nothing)."""

    what: str
    rule: str
    outcome: str
    cell: Cell
    seconds: float = 0.0
    money: float | None = None
    tokens: int | None = None

    @property
    def directive(self) -> tuple[str, str]:
        return self.what, self.rule

    def is_like(self, other: Turn) -> bool:
        return self.directive == other.directive and self.outcome == other.outcome


def turns_of(reading: Reading) -> list[Turn]:
    """With the end, or what it waits for, as the last one; at most MOST."""
    chain: list[tuple[Session, int | None]] = [(reading.session, None)]
    while (child := chain[-1][0]).forked_from is not None:
        chain.append((child.forked_from, child.forked_at))
    found: list[Turn] = []
    for session, last in reversed(chain):
        found += _iterations(session, last, MOST - len(found), is_own=last is None)
    return [*found, _stand(reading)] if len(found) < MOST else found


def _iterations(session: Session, last: int | None, most: int, *, is_own: bool) -> list[Turn]:
    rows = session.iterations.exclude(ended_at=None).order_by("number")
    if last is not None:
        rows = rows.filter(number__lte=last)
    log = session.own_log.filter(kind="recorded").order_by("seq")
    names = ("number", "agent", "findings", "guidance", "money", "tokens", "active_seconds")
    evidence = {
        number: rest
        for number, *rest in log.values_list(*(f"payload__evidence__{n}" for n in names))[:most]
    }
    columns = ("number", "role", "rule", "outcome", "detail")
    found = []
    for number, role, rule, outcome, detail in islice(rows.values_list(*columns), most):
        agent, findings, guidance, money, tokens, seconds = evidence.get(number, [None] * 6)
        chip = outcome_chip(Outcome(outcome), findings=len(findings or ()), guidance=guidance)
        words = f"{role_word(Role(role))} {agent or ''}".rstrip()
        cell = Cell(words, rule, chip, detail[:160], links.iteration(session.pk, number))
        spent = (seconds or 0.0, money, tokens) if is_own else (0.0, None, None)
        found.append(Turn(words, rule, outcome, cell, *spent))
    return found


def _stand(reading: Reading) -> Turn:
    """How it ended, or where it stands."""
    session = reading.session
    if reading.end is not None:
        chip = end_chip(EndReason(reading.end))
        cell = Cell("Finish", "", chip, session.end_sentence[:160], links.session(session.pk))
        return Turn("finish", "", reading.end.value, cell)
    asked = session.transitions.filter(move=Move.ASK.value).order_by("-id").first()
    if reading.state is State.WAITING_HUMAN:
        words, sub = "Ask a person", asked.note[:160] if asked else ""
    else:
        words, sub = "Not at its end", ""
    cell = Cell(words, "", state_chip(reading.state), sub, links.session(session.pk))
    return Turn(words, "", session.state, cell)
