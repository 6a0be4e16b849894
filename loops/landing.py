"""The result of an ended session on its branch of the project's store (RULES 1, "Delivery")."""

from __future__ import annotations

import logging

from loops import stage
from loops.engine.values import State
from loops.models import Session
from loops.workspaces import Unusable, land, landed

log = logging.getLogger(__name__)


def land_result(session: Session) -> str:
    """Set the session's branch to the tree that it ended with; the commit. Safe to repeat.

    Runs git, so never inside a transaction. Raises Unusable with a sentence.
    """
    if session.state != State.ENDED.value or not session.result_rev:
        raise Unusable(f"{session.ref} has no result.")
    return land(
        stage.Folders.of(session).store,
        session.ref,
        session.result_rev,
        session.result_head,
        session.base_head,
        leftovers=tuple(session.project.accepted_leftovers),
    )


def land_quietly(session_id: int) -> None:
    """After the end; what fails here is done again by whoever delivers, and shown to them."""
    session = Session.objects.select_related("project").get(pk=session_id)
    if not stage.Folders.of(session).store.is_dir():
        return  # it ended before its first claim
    try:
        land_result(session)
    except Exception:
        log.exception("the result of %s is not on its branch yet", session.ref)


def commit_of(session: Session) -> str:
    """The commit on the session's branch of the store, "" if there is none."""
    return landed(stage.Folders.of(session).store, session.ref)
