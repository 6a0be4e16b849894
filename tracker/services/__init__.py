"""What people and agents can do in a tracker: one verb each, the same for every door.

Every write is one transaction that locks the project's row first, raises its tracker_seq, writes
a Move and sends a signal. A refused write raises a DomainError and leaves nothing.
"""

from tracker.services.actors import By, agent, engine, person
from tracker.services.annotations import (
    comment,
    dispute,
    reset_disputes,
    reword,
    set_priority,
)
from tracker.services.filing import (
    Filed,
    file_code_bug,
    file_spec_bug,
    file_task,
    turn_into_task,
)
from tracker.services.guidance import current_guidance, set_guidance
from tracker.services.marks import add_mark
from tracker.services.moves import (
    block,
    close,
    confirm,
    dismiss,
    mark_fixed,
    reopen,
    start,
    unblock,
)
from tracker.services.projects import create_project, get_project, set_pull_request
from tracker.services.reading import (
    bugs,
    check_scope,
    get_bug,
    get_requirement,
    history,
    requirements,
)
from tracker.services.spec import archive_goal, edit_requirement, remove_requirement

__all__ = [
    "By",
    "Filed",
    "add_mark",
    "agent",
    "archive_goal",
    "block",
    "bugs",
    "check_scope",
    "close",
    "comment",
    "confirm",
    "create_project",
    "current_guidance",
    "dismiss",
    "dispute",
    "edit_requirement",
    "engine",
    "file_code_bug",
    "file_spec_bug",
    "file_task",
    "get_bug",
    "get_project",
    "get_requirement",
    "history",
    "mark_fixed",
    "person",
    "remove_requirement",
    "reopen",
    "requirements",
    "reset_disputes",
    "reword",
    "set_guidance",
    "set_priority",
    "set_pull_request",
    "start",
    "turn_into_task",
    "unblock",
]
