"""What a page's address asks for. Anything odd in a query string counts as not said."""

from __future__ import annotations

from django.http import HttpRequest

_MOST_DIGITS = 9


def number(request: HttpRequest, name: str) -> int | None:
    """Return ?name=12 as a whole number above 0, None for anything else."""
    text = request.GET.get(name, "")
    if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
        return None
    return int(text) or None


def one_of(request: HttpRequest, name: str, known: tuple[str, ...]) -> str:
    """Return ?name=... if it is known, else the first known one."""
    text = request.GET.get(name, "")
    return text if text in known else known[0]
