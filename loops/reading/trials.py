"""How the last try of an agent went."""

from __future__ import annotations

from django.utils import timezone

from loops import trying
from loops.engine.values import Fault
from loops.models import Agent
from loops.pages.settings import Tried
from loops.trials import Trial
from tracker.pages.atoms import Chip
from tracker.pages.words import duration, moment, money, plural

_FAILED = {
    Fault.AUTH: "No login",
    Fault.AGENT_LIMIT: "At its limit",
    Fault.CANNOT_START: "Cannot start",
    Fault.WALL_CLOCK: "No answer in time",
    Fault.SILENCE: "Silent",
    Fault.API_ERROR: "Service fails",
    Fault.REFUSED: "Refused",
    Fault.CONTEXT_FULL: "Prompt too long",
}


def tried(agent: Agent) -> Tried:
    if trying.is_built_in(agent):
        return Tried(chip=Chip("off", "check", "Built in"), sub="plays the demo")
    if not agent.trial:
        return Tried(chip=Chip("off", "queued", "Not tried"))
    done = Trial.from_json(agent.trial)
    if done.state in ("waiting", "running"):
        return _unfinished(agent, done)
    at = moment(timezone.localtime(agent.tried_at), timezone.localtime()) if agent.tried_at else ""
    if done.state == "answered":
        return Tried(
            chip=Chip("ok", "ok", "Answers"),
            sub=" · ".join(filter(None, (_seconds(done.seconds), at))),
            sentence=_used(done, is_paid=not agent.settings.get("subscription")),
            lines=tuple(done.lines),
        )
    code = f"exit {done.exit_code}" if done.exit_code else ""
    return Tried(
        chip=Chip("bad", "fail", _word(done.fault)),
        sub=" · ".join(filter(None, (code or _seconds(done.seconds), at))),
        sentence=done.sentence,
        lines=tuple(done.lines),
        has_failed=True,
    )


def _unfinished(agent: Agent, done: Trial) -> Tried:
    if not trying.is_under_way(agent):
        return Tried(
            chip=Chip("warn", "warn", "No answer came"),
            sentence="The worker that tried it is gone, or none was free. Try it again.",
            has_failed=True,
        )
    if done.state == "waiting":
        chip = Chip("off", "queued", "Waits for a slot")
    else:
        chip = Chip("run", "run", "Being tried", spins=True)
    return Tried(chip=chip, sub="up to a minute", is_under_way=True)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else duration(seconds)


def _used(done: Trial, *, is_paid: bool) -> str:
    if done.tokens is None:
        return "One short question."
    cost = _cost(done.money) if is_paid else "by subscription, not priced"
    return f"One short question, {plural(done.tokens, 'token')}, {cost}."


def _cost(dollars: float | None) -> str:
    if dollars is not None and dollars < 0.01:
        return "below $0.01"
    return money(dollars)


def _word(fault: str) -> str:
    return _FAILED.get(Fault(fault), "Failed") if fault in set(Fault) else "Failed"
