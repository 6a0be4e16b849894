"""The hosts that move sessions on, and which of them live (their clocks beat, by database time)."""

from __future__ import annotations

from datetime import datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Max

from loops import leases, moment
from loops.agents import tree
from loops.agents.base import ProcessIdentity
from loops.environment import BadSetting
from loops.models import Host, Session

LATE = timedelta(seconds=5)  # beyond the lease; then a host counts as lost


def beat(now: datetime) -> None:
    """This host lives. now: by the database's clock. The first beat of a process starts it."""
    present = _present()
    if Host.objects.filter(name=settings.HOST, **present).update(seen_at=now):
        return
    Host.objects.update_or_create(
        name=settings.HOST, defaults={**present, "started_at": now, "seen_at": now}
    )


def _present() -> dict[str, str | int]:
    return {
        "data": str(settings.DATA),
        "boot_id": _boot_id(),
        "slots": settings.SLOTS,
        "version": _version(),
    }


def _boot_id() -> str:
    return str(leases.owner()["boot_id"])


def _version() -> str:
    try:
        return version("loopwatch")
    except PackageNotFoundError:
        return "checkout"


def settle_name() -> None:
    """Before anything runs here: a data folder whose host got another name since its last start (a
    laptop in another network) keeps its sessions, and no two hosts have one name.

    Raises BadSetting when another living installation has it: the two would take each other's
    sessions, whose clones they do not have. Hold the data folder's lock.
    """
    file = Path(settings.DATA) / "host"
    before = file.read_text() if file.exists() else settings.HOST
    _refuse_a_second(settings.HOST)
    if before != settings.HOST:
        with transaction.atomic():
            Session.objects.filter(host=before).update(host=settings.HOST)
            Host.objects.filter(name=before).delete()
    file.write_text(settings.HOST)


def _refuse_a_second(name: str) -> None:
    other = Host.objects.filter(name=name).exclude(data=str(settings.DATA), boot_id=_boot_id())
    if (row := other.first()) is not None and not is_lost(row, moment.now()):
        raise BadSetting(
            f"Another Loopwatch on this database is named {name} too (data folder {row.data}); "
            "set LOOPWATCH_HOST to another name here. If that one was moved here, wait a minute."
        )


def age_seconds(host: str = "") -> float | None:
    """Seconds since the last beat of the host, or of any; None before the first, and while the
    database is away."""
    rows = Host.objects.filter(name=host) if host else Host.objects.all()
    try:
        last = rows.aggregate(last=Max("seen_at"))["last"]
        return None if last is None else max(0.0, (moment.now() - last).total_seconds())
    except DatabaseError:
        return None


def patience() -> timedelta:
    return timedelta(seconds=leases.lease_seconds()) + LATE


def is_lost(host: Host, now: datetime) -> bool:
    """Silent for longer than the lease of anything that it runs, and some seconds."""
    return now - host.seen_at > patience()


def living(now: datetime) -> list[Host]:
    return list(Host.objects.filter(seen_at__gte=now - patience()).order_by("name"))


def lost_names(now: datetime) -> frozenset[str]:
    silent = Host.objects.filter(seen_at__lt=now - patience())
    return frozenset(silent.values_list("name", flat=True))


def end_leftovers() -> None:
    """Kill what this host's agents left of sessions that went on elsewhere meanwhile."""
    if not Host.objects.filter(name=settings.HOST).exclude(leftovers=[]).exists():
        return
    with transaction.atomic():
        me = Host.objects.select_for_update().get(name=settings.HOST)
        left, me.leftovers = me.leftovers, []
        me.save(update_fields=["leftovers"])
    for process in left:
        tree.kill_tree(ProcessIdentity(**process))
