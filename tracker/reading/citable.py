"""The lines of the spec that a form offers for citing."""

from __future__ import annotations

from tracker.models import Project, Requirement
from tracker.pages.filing import Citable
from tracker.reading.standing import standings

LINES_PER_REQUIREMENT = 400
LINES = 4_000


def citable(project: Project) -> list[Citable]:
    """Return the lines with words of every requirement in force, goals of sessions too.

    Cut at LINES: what lies beyond is cited from the command line.
    """
    found: list[Citable] = []
    rows = (
        Requirement.objects.filter(project=project, removed_at=None)
        .order_by("number")
        .values_list("number", "current__number", "current__text")
    )
    for number, version, text in rows.iterator(50):
        lines = text.split("\n", LINES_PER_REQUIREMENT)[:LINES_PER_REQUIREMENT]
        found += [
            Citable(f"R-{number}.{at}", line.strip(), version)
            for at, line in enumerate(lines, 1)
            if line.strip("#-*= \t")
        ]
        if len(found) >= LINES:
            break
    return found[:LINES]


def subjects(project: Project) -> list[tuple[str, str]]:
    """Return (key, label) of what a task or spec bug may be about: "R-16 Import summary, v1"."""
    return [(one.key, f"{one.key} {one.title}, v{one.version}") for one in standings(project)]
