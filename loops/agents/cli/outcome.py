"""How a CLI's call ended, from its exit code AND what it said: exit code 0 alone lies (AGENTS.md,
section 4)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from loops.agents.cli.listen import Heard
from loops.agents.events import Event, Kind
from loops.agents.failures import classify
from loops.agents.program import Ending
from loops.agents.resets import resets_in
from loops.engine.values import Fault

# What a CLI that cannot even begin prints without an event. Other words prove nothing there.
_SAID_AT_START = (Fault.AUTH, Fault.AGENT_LIMIT, Fault.CONTEXT_FULL)


def judged(ending: Ending, heard: Heard, *, is_cut_off: bool) -> tuple[Fault | None, Event]:
    """(fault, the event that tells why). Only for endings that are the CLI's own, or is_cut_off: we
    ended its retries."""
    if is_cut_off and heard.last_retry is not None:
        return _retried(heard.last_retry, heard)
    done, error = heard.done, heard.last_error
    if error is not None:
        return _of(error)
    if done is not None and not done.ok:
        return _of(done)
    if done is not None and ending.exit_code == 0:
        return None, done
    if heard.last_retry is not None:
        return _retried(heard.last_retry, heard)
    fault = classify(0, "\n".join(heard.last_words))
    last = heard.last_words[-1] if heard.last_words else ""
    said = Event(kind=Kind.ERROR, text=last)
    return (fault if fault in _SAID_AT_START else Fault.CRASH), said


def reset(fault: Fault | None, told: Event, now: float) -> float | None:
    """Seconds until an agent's limit resets: from the event, else from its words, in which a time
    without a zone is this host's."""
    if fault is not Fault.AGENT_LIMIT:
        return None
    if told.resets_at is not None:
        return max(0.0, told.resets_at - now)
    if told.wait_seconds is not None:
        return max(0.0, told.wait_seconds)
    return resets_in(told.text, datetime.fromtimestamp(now).astimezone())


def _retried(retry: Event, heard: Heard) -> tuple[Fault, Event]:
    """The reason may stand beside the event, on the error stream."""
    if retry.status or not heard.last_words:
        return _of(retry)
    words = list(reversed(heard.last_words))
    why = next((one for one in words if classify(0, one) is not Fault.API_ERROR), words[0])
    return _of(replace(retry, text=f"{retry.text} {why}"))


def _of(event: Event) -> tuple[Fault, Event]:
    return classify(event.status, event.text), event
