"""Engine words as choices of a field."""

from __future__ import annotations


def choices(words: type) -> list[tuple[str, str]]:
    return [(word.value, word.value) for word in words]  # type: ignore[attr-defined]
