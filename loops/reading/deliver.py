"""Handing over what an ended session leaves, and what was tried so far."""

from __future__ import annotations

from loops import deliveries, landing
from loops.forms import PushForm
from loops.models import Delivery, Session
from loops.pages.acting import Command, DeliverPart, DeliveryRow, PushStep
from loops.reading import links
from loops.reading.reading import Reading
from loops.workspaces import Unusable
from tracker.pages.atoms import Chip
from tracker.pages.words import moment, plural

SHORT = 12
_WORDS = {
    Delivery.Kind.PUSH: ("Pushed", "Push failed"),
    Delivery.Kind.PULL_REQUEST: ("Pull request", "Pull request failed"),
    Delivery.Kind.PATCH: ("Patch", "Patch failed"),
}


def deliver_part(reading: Reading, *, may_steer: bool) -> DeliverPart | None:
    """None until the session has ended. may_steer: False for viewers, who see what was done."""
    session = reading.session
    if not reading.is_ended:
        return None
    reason_not = deliveries.why_not(session)
    may_deliver = may_steer and not reason_not
    base = f"{links.session(session.pk)}deliver/"
    command = reading.project.pull_request
    return DeliverPart(
        branch=deliveries.branch(session),
        commit=_commit(session),
        label=deliveries.label(session),
        reason_not=reason_not,
        command=command,
        push=_push(session, f"{base}push/") if may_deliver else None,
        pull_request=Command(post=f"{base}pull-request/", word="Open a pull request", icon="branch")
        if may_deliver and command
        else None,
        patch=Command(post=f"{base}patch/", word="Download the patch", icon="down")
        if may_deliver
        else None,
        rows=tuple(_row(reading, row) for row in deliveries.made(session)),
    )


def push_form(session: Session, data: dict[str, str] | None = None) -> PushForm:
    """Remotes of the person's repository, then that repository itself."""
    known = [(r.name, f"{r.name}, {r.shown}") for r in deliveries.remotes(session)]
    path = session.project.repo_path
    return PushForm(data, remotes=[*known, (path, f"The repository itself, {path}")])


def handed_over(reading: Reading) -> str:
    """One sentence: was it delivered?"""
    done = [row for row in deliveries.made(reading.session) if row.ok]
    if not done:
        return "Nothing was pushed."
    return f"Delivered {plural(len(done), 'time')}, last by {done[0].by}."


def _commit(session: Session) -> str:
    try:
        return landing.commit_of(session)[:SHORT]
    except Unusable:
        return ""


def _push(session: Session, post: str) -> PushStep:
    branch = deliveries.branch(session)
    return PushStep(
        post=post,
        question=f"Push {branch}?",
        sentence="A new branch appears there, and nothing else changes. It is never forced: if "
        "the remote refuses, its words are shown here.",
        form=push_form(session),
        button=f"Push {branch}",
    )


def _row(reading: Reading, row: Delivery) -> DeliveryRow:
    done, failed = _WORDS[Delivery.Kind(row.kind)]
    chip = Chip("ok", "ok", done) if row.ok else Chip("bad", "fail", failed)
    return DeliveryRow(
        chip=chip,
        text=row.target,
        fact=f"{row.by}, {moment(reading.local(row.at), reading.now)}",
        said=row.said,
    )
