"""The frozen criteria of a Maker-Verifier session: one for each requirement in scope (RULES 3)."""

from __future__ import annotations

from loops.engine.contracts import Criterion
from loops.engine.values import Pattern
from loops.models import Session
from loops.sight import scope_of
from tracker.facts import Facts, facts


def frozen(session: Session, now: Facts | None = None) -> tuple[Criterion, ...]:
    """As the tracker stands now, in the caller's transaction; none for the other patterns, whose
    criteria come from the plan or from marks. now: the facts where they are known already."""
    if session.pattern != Pattern.MAKER_VERIFIER.value:
        return ()
    known = now or facts(session.project, scope_of(session), session.ref)
    return tuple(
        Criterion(f"C-{number}", need.text, need.key)
        for number, need in enumerate(known.requirements, 1)
    )
