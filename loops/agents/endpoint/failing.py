"""What an exception of a client library means: a fault, a sentence, and when to come again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from loops.agents import resets
from loops.agents.failures import classify
from loops.engine.values import Fault

LONGEST_TEXT = 300
UNUSABLE = (400, 422, 501)
"""Statuses by which endpoints say that they do not take a request as it is formed."""

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Broken(Exception):
    """The stream ended before the reply did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """status: of HTTP, 0 where none came. text: the endpoint's words, with line breaks."""

    status: int
    text: str
    resets_in: float | None = None

    @property
    def fault(self) -> Fault:
        return classify(self.status, self.text)

    @property
    def is_about_form(self) -> bool:
        """The request may be taken in another form."""
        return self.status in UNUSABLE and self.fault is Fault.API_ERROR

    @property
    def sentence(self) -> str:
        words = " ".join(self.text.split()) or "without a word"
        words = words if len(words) <= LONGEST_TEXT else f"{words[:LONGEST_TEXT]}..."
        if self.status:
            return f"The endpoint answered {self.status}: {words}"
        return f"The endpoint did not answer as it should: {words}"


def failure(error: Exception, now: datetime) -> Failure:
    """now: aware."""
    body = getattr(error, "body", None)
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", 0)
    # An error inside a stream comes with the status of the stream.
    is_status = isinstance(status, int) and status >= 300
    text = _text(error, body)
    wait = resets_in(response.headers, now) if response is not None else None
    return Failure(
        status=status if is_status else _number(body),
        text=text,
        resets_in=resets.resets_in(text, now) if wait is None else wait,
    )


def _number(body: object) -> int:
    """Some endpoints name the status inside the error."""
    inner = _inner(body)
    code = inner.get("code", inner.get("status"))
    return code if isinstance(code, int) and 400 <= code < 600 else 0


def _inner(body: object) -> Mapping[str, object]:
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error", body)
    return inner if isinstance(inner, Mapping) else {}


def _text(error: Exception, body: object) -> str:
    inner = _inner(body)
    said = [str(inner[name]) for name in ("type", "code", "message") if inner.get(name)]
    if said:
        return " ".join(dict.fromkeys(said))
    cause = error.__cause__
    if isinstance(body, str) and body:
        return body
    return f"{error} {cause}" if cause is not None and str(cause) else str(error) or repr(error)


def resets_in(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds until the service wants to be asked again, as its headers say; None if they do not.
    Of limits that name a reset, those that are used up count, the latest of them."""
    wait = retry_after(headers, now)
    if wait is not None:
        return wait
    waits = []
    for name, value in headers.items():
        if "ratelimit" not in name or "reset" not in name:
            continue
        left = headers.get(name.replace("reset", "remaining"))
        wait = _until(value, now)
        if wait is not None and (left is None or left.strip() == "0"):
            waits.append(wait)
    return max(waits, default=None)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    value = headers.get("retry-after-ms", "")
    if value.strip().isdigit():
        return int(value) / 1000
    value = headers.get("retry-after", "").strip()
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return _seconds(parsedate_to_datetime(value), now)
    except ValueError:
        return None


def _until(value: str, now: datetime) -> float | None:
    """A reset as services write it: "6m0s", "17.5s", a moment, or seconds since the epoch."""
    value = value.strip()
    parts = _PART.findall(value)
    if parts and "".join(number + unit for number, unit in parts) == value:
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    try:
        return max(float(value) - now.timestamp(), 0.0) if float(value) > 1e9 else float(value)
    except ValueError:
        pass
    try:
        return _seconds(datetime.fromisoformat(value), now)
    except ValueError:
        return None


def _seconds(moment: datetime, now: datetime) -> float:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((aware - now).total_seconds(), 0.0)
