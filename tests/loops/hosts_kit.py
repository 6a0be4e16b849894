"""Several hosts in one process: which one acts is a matter of its settings."""

from __future__ import annotations

from datetime import timedelta

from loops import hosts, moment, points
from loops.engine.values import Role
from loops.models import Host, Session
from tests.loops.behaviours import rubber_stamp


def _busy(tools):
    """Commits something new in every turn and is never done."""
    tools.memory["turns"] = tools.memory.get("turns", 0) + 1
    tools.workspace.files["turns.txt"] = str(tools.memory["turns"])
    tools.workspace.commit()


BUSY = {Role.WORKER: _busy, Role.REVIEWER: rubber_stamp}


class Killed(BaseException):
    """Nothing of ours catches it, as nothing catches a kill -9."""


def stand_on(settings, name, data=None):
    """From here on this process acts as host `name`, which lives."""
    settings.HOST = name
    if data is not None:
        (data / "keys").mkdir(parents=True, exist_ok=True)
        settings.DATA = data
    hosts.beat(moment.now())


def lose(name, minutes=10.0):
    """The host was seen for the last time that long ago, and so were its leases."""
    past = moment.now() - timedelta(minutes=minutes)
    Host.objects.filter(name=name).update(seen_at=past)
    Session.objects.filter(host=name).exclude(lease_until=None).update(lease_until=past)


def kill_at(place, act):
    """Run `act` until it comes to the crash point `place`."""

    def die(name):
        if name == place:
            raise Killed

    stop = points.watch(die)
    try:
        act()
    except Killed:
        return
    finally:
        stop()
    raise AssertionError(f"it never came to {place}")
