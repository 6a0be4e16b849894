"""The log's Opened entry: what a session stands on when it begins, and what stood open there."""

from __future__ import annotations

from loops import criteria, journal, moment
from loops.engine.controllers import entry_to_json
from loops.engine.values import Opened
from loops.models import Session
from loops.workspaces import Base
from tracker.facts import Facts


def record(
    session: Session, now: Facts, unjudged: tuple[str, ...], base: Base, script_exit: int | None
) -> None:
    """In the caller's transaction, the session locked; once for each session."""
    opened = Opened(
        seq=0,
        base_rev=base.rev,
        base_head=base.head,
        script_exit=script_exit,
        spec=now.spec,
        blockers=now.blockers,
        unjudged=unjudged,
        blocked=now.blocked,
        criteria=criteria.frozen(session, now),
    )
    kind, payload = entry_to_json(opened)
    journal.append(session, kind, payload, moment.now())
    Session.objects.filter(pk=session.pk).update(base_rev=base.rev, base_head=base.head)
    session.base_rev, session.base_head = base.rev, base.head
