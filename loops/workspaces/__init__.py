"""A session's workspace in git: clone, stamps, boundaries, preflight, landing. Side effects."""

from loops.workspaces.elsewhere import Elsewhere, Kept, Unreachable
from loops.workspaces.landing import Refused, commit_on_top, land, landed
from loops.workspaces.preflight import Preflight, look, preflight
from loops.workspaces.values import Base, Boundary, Confine, Ran, Tree, Unusable
from loops.workspaces.workspace import Workspace

__all__ = [
    "Base",
    "Boundary",
    "Confine",
    "Elsewhere",
    "Kept",
    "Preflight",
    "Ran",
    "Refused",
    "Tree",
    "Unreachable",
    "Unusable",
    "Workspace",
    "commit_on_top",
    "land",
    "landed",
    "look",
    "preflight",
]
