"""A session's workspace in git: clone, stamps, boundaries, preflight. Side effects only."""

from loops.workspaces.elsewhere import Elsewhere, Kept, Unreachable
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
    "Tree",
    "Unreachable",
    "Unusable",
    "Workspace",
    "look",
    "preflight",
]
