"""Which host a session is on, whether that host lives, and where else the session could go on."""

from __future__ import annotations

from loops import hosts, keeping, moving
from loops import moment as clock
from loops.engine.values import State
from loops.models import Host, Session
from loops.pages.session import NoticePart
from loops.reading.reading import Reading
from tracker.pages.words import moment


def is_lost(session: Session) -> bool:
    return bool(session.host) and session.host in hosts.lost_names(clock.now())


def facts(reading: Reading) -> tuple[str, ...]:
    """Short facts for the head of the page; none on an installation with one host."""
    session = reading.session
    several = Host.objects.exclude(name=session.host).exists()
    where = (f"On host {session.host}",) if session.host and several else ()
    kept = (f"Last snapshot elsewhere: {keeping.of_what(session)}",) if session.kept else ()
    return where if reading.is_ended else (*where, *kept)


def lost_sentence(reading: Reading) -> str:
    """The host is silent: since when, and where the session could go on. "" while it lives."""
    session = reading.session
    if reading.is_ended or not is_lost(session):
        return ""
    host = Host.objects.get(name=session.host)
    seen = f"Host {host.name} was last seen {moment(reading.local(host.seen_at), reading.now)}"
    others = targets(session)
    if reading.state is State.STOPPING:
        return f"{seen}; {session.ref} ends as stopped as soon as nothing of it can run any more."
    if not others:
        return f"{seen}; no other host lives, so {session.ref} waits for one."
    if reason := moving.why_not(session):
        return f"{seen}. {reason}"
    where = " or ".join(others)
    return f"{seen}; the session can go on on host {where} from {origin(session)}."


def origin(session: Session) -> str:
    """What another host would go on from."""
    return f"its snapshot of {keeping.of_what(session)}" if session.kept else "its start"


def notice(reading: Reading) -> NoticePart | None:
    """A line under the head when the host, or the way to the other hosts, is gone."""
    if sentence := lost_sentence(reading):
        return NoticePart(tone="warn", icon="warn", text=sentence)
    fault = "" if reading.is_ended else reading.session.keeping_fault
    if not fault:
        return None
    text = "The newest snapshot is on one host only."
    if reading.session.kept:
        text = f"{text} The last one elsewhere is of {keeping.of_what(reading.session)}."
    return NoticePart(tone="warn", icon="warn", text=text, more=fault)


def targets(session: Session) -> list[str]:
    """Living hosts that it could go to."""
    return [host.name for host in hosts.living(clock.now()) if host.name != session.host]


def may_move(session: Session) -> bool:
    return bool(session.host) and bool(targets(session)) and not moving.why_not(session)
