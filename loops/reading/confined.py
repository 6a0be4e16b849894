"""What confines each agent on this host, in a word and a sentence (RULES 5)."""

from __future__ import annotations

from loops.adapters import KINDS
from loops.agents.confine import Confinement, confinement
from loops.pages.settings import Confined
from loops.pages.states import role_word
from loops.reading.budgets import agent_name, members
from loops.reading.reading import Reading
from tracker.errors import Invalid
from tracker.pages.atoms import CheckLine, Chip
from tracker.pages.words import listed

_HOST = (
    "Runs inside a sandbox of the operating system: it writes in its session's clone and its own "
    "home only. Other projects, your keys and your sign-ins are hidden from it; it can read your "
    "other files, and the network is open."
)
_NOTHING = (
    "This agent could act as you: no sandbox hides your files or the data folder from it on this "
    "machine. Install bubblewrap, or run only agents that you trust."
)


def confined(adapter: str) -> Confined:
    """adapter: name of an agent's adapter."""
    kind = KINDS.get(adapter, KINDS["command"])
    if kind.is_endpoint:
        chip = Chip("ok", "shield", "Runs nothing here")
        return Confined(chip, "A model's endpoint: it has no tools, it reads and answers.")
    try:
        mode = confinement()
    except Invalid as fault:
        return Confined(Chip("bad", "warn", "Cannot be confined"), str(fault))
    if mode is Confinement.BUBBLEWRAP:
        return Confined(Chip("ok", "shield", "Confined by the system"), _HOST)
    if kind.own_sandbox:
        sentence = f"{kind.own_sandbox} No sandbox of this machine stands around it."
        return Confined(Chip("ok", "shield", "Confined by itself"), sentence)
    return Confined(Chip("warn", "warn", "Not confined"), _NOTHING)


def lines(reading: Reading) -> tuple[CheckLine, ...]:
    """For a session: each agent once, with the roles that it plays."""
    roles: dict[tuple[str, str], list[str]] = {}
    for role, name in members(reading):
        frozen = reading.agent_of(role, name)
        if frozen:
            who = (agent_name(frozen), frozen.get("adapter", "command"))
            roles.setdefault(who, []).append(f"{role_word(role)} {name}".rstrip())
    return tuple(
        line(f"{name}, {listed(played).lower()}", adapter)
        for (name, adapter), played in roles.items()
    )


def line(who: str, adapter: str) -> CheckLine:
    """One agent's statement; the whole sentence where it is no good one."""
    found = confined(adapter)
    return CheckLine(
        tone=found.chip.tone,
        icon=found.chip.icon,
        text=who,
        fact=found.chip.word,
        sub=found.sentence if found.chip.tone != "ok" else "",
    )
