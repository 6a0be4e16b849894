"""Guidance: the coach's document; people may edit and revert it."""

from __future__ import annotations

from tracker.engine import rules
from tracker.engine.citations import clean
from tracker.engine.rules import Verb
from tracker.errors import Invalid
from tracker.models import GuidanceVersion, Project
from tracker.services.actors import By
from tracker.services.writing import allowed, writing

GUIDANCE_BYTES = 64 * 1024
"""Goes into every prompt, so it is kept short."""


def set_guidance(project: Project, text: str, by: By) -> GuidanceVersion:
    """Save a new version ("" takes guidance back). Raises Invalid above GUIDANCE_BYTES."""
    allowed(rules.act(Verb.GUIDE, by.party, "guidance"))
    text = clean(text)
    size = len(text.encode())
    if size > GUIDANCE_BYTES:
        raise Invalid(f"The guidance has {size:,} bytes; at most {GUIDANCE_BYTES:,} are kept.")
    with writing(project, by) as write:
        version = GuidanceVersion.objects.create(
            project=write.project,
            number=write.number("last_guidance"),
            text=text,
            actor=by.actor,
            reference=by.reference,
        )
        write.record(Verb.GUIDE, subject=f"guidance v{version.number}")
        return version


def current_guidance(project: Project) -> GuidanceVersion | None:
    return project.guidance_versions.order_by("-number").first()
