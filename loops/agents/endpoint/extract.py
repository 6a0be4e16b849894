"""Finds the JSON object in what a model said."""

from __future__ import annotations

import json
import re

MOST_STARTS = 1000
"""Brackets tried in one text; a reply of nothing but brackets ends soon too."""

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


def json_object(text: str) -> str:
    """The longest JSON object in `text`, as it stands there; "" if there is none. Fences, words
    around it and a thought before it do no harm."""
    text = _THOUGHT.sub("", text)
    decoder = json.JSONDecoder()
    best, at = "", 0
    for _ in range(MOST_STARTS):
        start = text.find("{", at)
        if start < 0:
            break
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            continue
        best = max(best, text[start:end], key=len)
        at = end
    return best
