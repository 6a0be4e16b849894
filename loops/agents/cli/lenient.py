"""Reads fields of a line that another program wrote: whatever it holds, never an exception."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_VERSION_PATH = re.compile(r"/v\d+(?:beta\d*)?/?\Z")
MOST_TOKENS = 10**12


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """A string as it is, anything else but None as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else as_json(value)


def as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return ""


def tokens(value: Any) -> int:
    """A count, 0 for what is none."""
    found = number(value)
    return min(int(found), MOST_TOKENS) if found is not None else 0


def number(value: Any) -> float | None:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def status(value: Any) -> int:
    """An HTTP status, also one written as text; 0 if it is none."""
    if isinstance(value, str) and re.fullmatch(r"[1-5]\d\d", value):
        value = int(value)
    found = tokens(value)
    return found if 100 <= found <= 599 else 0


def content(value: Any) -> str:
    """Text of a message's or a result's content: a string, or blocks that hold text."""
    if isinstance(value, list):
        blocks = (one.get("text", one) if isinstance(one, dict) else one for one in value)
        return "\n".join(text(block) for block in blocks)
    return text(value)


def call(name: Any, arguments: Any) -> str:
    """A tool's name and what it was asked, on one line."""
    asked = mapping(arguments)
    said = asked.get("command")
    words = said if isinstance(said, str) else as_json(asked) if asked else ""
    return " ".join(f"{text(name)} {words}".split())


def openai_url(base_url: str) -> str:
    """The address of an OpenAI-compatible API: .../v1, unless a version is named already."""
    base = base_url.rstrip("/")
    return base if _VERSION_PATH.search(base) else f"{base}/v1"
