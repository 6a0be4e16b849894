"""A person hands a session's result over: a push, the project's pull-request command, a patch.

Never automatic (RULES 1). Every try is kept, failures too, as that person's.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.db import transaction

from loops import landing, live, moment, stage
from loops.engine.values import EndReason, State
from loops.models import Delivery, Session
from loops.workspaces import Unusable
from loops.workspaces import delivering as git
from loops.workspaces.delivering import Pushed, Remote
from tracker.errors import Conflict, Invalid, NotAllowed
from tracker.services import By

Kind = Delivery.Kind
LABELS = {
    EndReason.DONE: "Proved.",
    EndReason.HUMAN_APPROVED: "Approved by a person, not proved.",
    EndReason.HUMAN_EDITED: (
        "Edited and approved by a person, not proved: the verifiers could not run on the edit."
    ),
    EndReason.EXHAUSTED: "Not verified: the best output when the attempts were used up.",
    EndReason.STOPPED: "Not verified: a person stopped the session in the middle.",
}
# What stands alone as a word of the command, or as the value of an option, is filled in; a word
# that a shell will read is not, so that nothing in a title can become a command.
_FILLED = re.compile(r"(--?[\w-]+=)?\{(branch|base|title)\}")
_TITLE = 200


@dataclass(frozen=True, slots=True)
class Delivered:
    """The try on record, and the patch's bytes where it was one."""

    row: Delivery
    patch: bytes = b""


def label(session: Session) -> str:
    """What the result is worth, in words; "" where nothing can be delivered."""
    return LABELS.get(EndReason(session.end_reason), "") if session.end_reason else ""


def why_not(session: Session) -> str:
    """A sentence if the session has nothing to deliver, else ""."""
    if session.state != State.ENDED.value:
        return f"{session.ref} has not ended; only a result can be delivered."
    if session.end_reason == EndReason.NO_OP.value:
        return f"{session.ref} found nothing to do, so there is nothing to deliver."
    if session.end_reason == EndReason.FAILED.value:
        return (
            f"{session.ref} failed, so it has no result. What its agents committed is on the "
            f"branch {branch(session)} of the project's store."
        )
    if not session.result_rev or session.result_rev == session.base_rev:
        return f"{session.ref} changed nothing, so there is nothing to deliver."
    return ""


def branch(session: Session) -> str:
    return f"loopwatch/{session.ref}"


def patch_name(session: Session) -> str:
    return f"{session.project.name}-{session.ref}.patch"


def made(session: Session) -> list[Delivery]:
    """Every try, newest first."""
    return list(session.deliveries.select_related("by").order_by("-pk"))


def remotes(session: Session) -> tuple[Remote, ...]:
    """The remotes of the person's repository."""
    return git.remotes(Path(session.project.repo_path))


def deliver(session: Session, by: By, kind: str, target: str = "") -> Delivered:
    """Hand the result over and keep what happened; call it outside a transaction, it takes time.

    target: name or address of a remote ("" = the only one, or origin), or the file for a patch (""
    = the caller takes the bytes). Raises Conflict where there is no result, Invalid for what
    cannot be tried; what was tried and failed is a row that is not ok.
    """
    if not by.is_person:
        raise NotAllowed("Only people deliver a result.")
    session = Session.objects.select_related("project").get(pk=session.pk)
    refusal = why_not(session)
    if refusal:
        raise Conflict(refusal)
    match Kind(kind):
        case Kind.PUSH:
            return _push(session, by, _remote(session, target.strip()))
        case Kind.PULL_REQUEST:
            return _request(session, by)
        case Kind.PATCH:
            return _patch(session, by, target)


def _kept(session: Session, by: By, kind: Kind, target: str, commit: str, done: Pushed) -> Delivery:
    with transaction.atomic():
        row = Delivery.objects.create(
            session=session,
            kind=kind.value,
            target=target,
            commit=commit,
            ok=done.ok,
            said=done.said,
            by=by.actor,
            at=moment.now(),
        )
        live.session_changed(session.pk, session.project_id, live.STATE)
    return row


# --- push ----------------------------------------------------------------------------------------


def _push(session: Session, by: By, remote: Remote) -> Delivered:
    commit = ""
    try:
        commit = landing.land_result(session)
        store = stage.Folders.of(session).store
        done = git.push(store, commit, remote.url, branch(session))
    except Unusable as fault:
        done = Pushed(False, str(fault))
    known = remote.shown if remote.name in ("", remote.shown) else f"{remote.name} {remote.shown}"
    return Delivered(_kept(session, by, Kind.PUSH, known, commit, done))


def _remote(session: Session, wanted: str) -> Remote:
    known = {remote.name: remote for remote in remotes(session)}
    if not wanted:
        chosen = known.get("origin") or (next(iter(known.values())) if len(known) == 1 else None)
        if chosen is None:
            raise Invalid(f"Say where to push: {_choices(known, session)}.")
        return chosen
    if wanted in known:
        return known[wanted]
    refusal = git.why_no_address(wanted)
    if refusal:
        raise Invalid(refusal)
    path = _local(wanted)
    if path is not None and not path.is_absolute():
        raise Invalid(f"There is no remote “{wanted}”; give {_choices(known, session)}.")
    if path is not None and path.resolve().is_relative_to(Path(settings.DATA).resolve()):
        # Hooks of a repository that an agent can write would run as whoever runs Loopwatch.
        raise Invalid("Repositories in Loopwatch's own data folder take no push.")
    return Remote("", wanted)


def _local(address: str) -> Path | None:
    """The folder that an address names, None where it is on another machine."""
    if "://" in address:
        parts = urlsplit(address)
        return Path(unquote(parts.path)) if parts.scheme == "file" else None
    return None if ":" in address.split("/", 1)[0] else Path(address)


def _choices(known: dict[str, Remote], session: Session) -> str:
    names = ", ".join(known)
    others = f"an address, or {session.project.repo_path} for the repository itself"
    return f"{names}, {others}" if names else others


# --- pull request --------------------------------------------------------------------------------


def _request(session: Session, by: By) -> Delivered:
    command = session.project.pull_request
    if not command:
        raise Invalid(
            f"{session.project} has no pull-request command. Store one: project edit "
            f"{session.project} --pull-request COMMAND."
        )
    commit = ""
    try:
        commit = landing.land_result(session)
        done = _run(session, command)
    except Unusable as fault:
        done = Pushed(False, str(fault))
    return Delivered(_kept(session, by, Kind.PULL_REQUEST, command, commit, done))


def _run(session: Session, command: str) -> Pushed:
    values = {
        "branch": branch(session),
        "base": git.head_branch(Path(session.project.repo_path)),
        "title": title(session),
    }
    env = {f"LOOPWATCH_{name.upper()}": value for name, value in values.items()}
    argv = [_filled(word, values) for word in shlex.split(command)]
    if not argv:
        raise Unusable("The pull-request command is empty.")
    folders = Path(settings.DATA) / "deliveries"
    folders.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folders, prefix=f"{session.ref}.") as own:
        checkout = Path(own, session.project.name)
        store = stage.Folders.of(session).store
        git.checkout(store, values["branch"], checkout, remotes(session))
        return git.run_in_checkout(argv, checkout, env)


def _filled(word: str, values: dict[str, str]) -> str:
    found = _FILLED.fullmatch(word)
    return f"{found[1] or ''}{values[found[2]]}" if found else word


def title(session: Session) -> str:
    """First line of the goal, else the session's name; one printable line."""
    lines = session.goal.strip().splitlines()
    text = "".join(c for c in lines[0] if c.isprintable()) if lines else ""
    return text[:_TITLE] or f"Loopwatch {session.ref}"


# --- patch ---------------------------------------------------------------------------------------


def _patch(session: Session, by: By, target: str) -> Delivered:
    commit, data = "", b""
    try:
        commit = landing.land_result(session)
        data = git.patch(stage.Folders.of(session).store, session.base_head, commit)
        if target:
            Path(target).write_bytes(data)
        done = Pushed(True, "")
    except Unusable as fault:
        done = Pushed(False, str(fault))
    except OSError as fault:
        done = Pushed(False, f"{target} cannot be written: {fault.strerror}.")
    name = target or patch_name(session)
    return Delivered(_kept(session, by, Kind.PATCH, name, commit, done), data)
