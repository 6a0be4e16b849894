"""Snapshots that other hosts reach (LOOPWATCH_STORE_URL): sent before each record, so that what is
recorded is never on one host alone; a failure is shown and the loop goes on."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.conf import settings

from loops import live
from loops.models import Session
from loops.workspaces import Base, Elsewhere, Kept, Unreachable, Unusable, Workspace
from tracker.errors import Conflict

REST_SECONDS = 60.0  # after a failure: a place that does not answer must not slow every step
log = logging.getLogger(__name__)


def place_of(session: Session) -> Elsewhere:
    return Elsewhere(f"{settings.STORE_URL}/{session.project_id}.git")


def snapshot_of(session: Session) -> Kept | None:
    """The snapshot that any host reaches."""
    kept = session.kept
    if not kept:
        return None
    return Kept(**{name: kept[name] for name in ("rev", "head", "head_ref", "snapshot")})


def of_what(session: Session) -> str:
    """What the snapshot elsewhere shows: "iteration 12", "the base"."""
    number = (session.kept or {}).get("iteration")
    return f"iteration {number}" if number else "the base"


class Keeper:
    """Sends one session's snapshots, under its lease. Runs git: never inside a transaction."""

    def __init__(self, session: Session, workspace: Workspace) -> None:
        self.session = session
        self.workspace = workspace
        self.fence = session.fence
        self.rests_until = float("-inf")

    def keep(self, number: int) -> None:
        """The last stamp, taken at the end of iteration `number` (0: the base)."""
        if not settings.STORE_URL or time.monotonic() < self.rests_until:
            return
        kept = self.workspace.kept()
        try:
            if not self._is_there(kept):
                self.workspace.send(place_of(self.session), settings.HOST, kept)
        except (Unreachable, Unusable) as fault:
            self.rests_until = time.monotonic() + REST_SECONDS
            self._write(keeping_fault=str(fault))
            return
        known = {"iteration": number, "host": settings.HOST, **kept.to_json()}
        self._write(kept=known, keeping_fault="")

    def _is_there(self, kept: Kept) -> bool:
        return kept == snapshot_of(self.session) and self.session.kept["host"] == settings.HOST

    def _write(self, **fields: Any) -> None:
        """Under our fence only: a host that was cut off says nothing any more."""
        session = self.session
        new = {name: value for name, value in fields.items() if getattr(session, name) != value}
        mine = Session.objects.filter(pk=session.pk, fence=self.fence)
        if not new or not mine.update(**new):
            return
        for name, value in new.items():
            setattr(session, name, value)
        if "keeping_fault" in new:
            if session.keeping_fault:
                log.warning("%s: %s", session.ref, session.keeping_fault)
            live.session_changed(session.pk, session.project_id, live.STATE)


def bring(session: Session, workspace: Workspace) -> None:
    """Make the clone here from the snapshot elsewhere. Raises Conflict when it cannot be had now:
    the session stays as it is, and this is tried again."""
    kept = snapshot_of(session)
    if kept is None:
        return  # it never began anywhere: the clone is made from the project's repository
    base = Base(session.base_rev, session.base_head)
    try:
        workspace.arrive(place_of(session), session.kept["host"], base, kept)
    except Unreachable as fault:
        sentence = f"{session.ref} cannot go on here yet: {fault}"
        Session.objects.filter(pk=session.pk).update(keeping_fault=sentence)
        live.session_changed(session.pk, session.project_id, live.STATE)
        raise Conflict(sentence) from fault
