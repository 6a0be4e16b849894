"""STAND-IN until branch cli-b brings the real one; deleted at the merge."""

from __future__ import annotations

from loops.engine.values import Fault


def classify(status: int, text: str) -> Fault:
    said = text.lower()
    if status in (401, 403):
        return Fault.AUTH
    if status == 429:
        return Fault.AGENT_LIMIT
    if "context" in said and ("length" in said or "exceed" in said):
        return Fault.CONTEXT_FULL
    return Fault.API_ERROR
