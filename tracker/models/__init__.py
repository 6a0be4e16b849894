"""Rows of the tracker, by noun."""

from tracker.models.bugs import Bug, Move
from tracker.models.memberships import Membership
from tracker.models.projects import Actor, Project
from tracker.models.spec import GuidanceVersion, Mark, Requirement, RequirementVersion

__all__ = [
    "Actor",
    "Bug",
    "GuidanceVersion",
    "Mark",
    "Membership",
    "Move",
    "Project",
    "Requirement",
    "RequirementVersion",
]
