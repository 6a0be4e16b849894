"""The tree that an attempt starts from (RULES 2): put into the clone between claim and call.

The row says `goes_to` until it stands there. A process that is lost in between leaves a claim whose
agent never ran: a half-made tree is never taken for something that an agent left.
"""

from __future__ import annotations

from dataclasses import replace

from loops.in_flight import InFlight, stamp_of
from loops.leases import LeaseLost
from loops.models import Iteration
from loops.sight import Sight
from loops.workspaces import Tree
from tracker.models import Project


def reach(iteration: InFlight, sight: Sight, project: Project) -> InFlight:
    """The same iteration, standing at its start; runs git, so never inside a transaction."""
    if iteration.goes_to is None:
        return iteration
    tree = Tree(rev=iteration.goes_to.rev, head=iteration.goes_to.head)
    sight.workspace.go_to(tree)
    sight.look(project, tree)
    before = replace(iteration.before, rev=tree.rev, head=tree.head)
    ours = Iteration.objects.filter(pk=iteration.id, fence=iteration.fence, ended_at=None)
    if not ours.update(before=stamp_of(before)):
        raise LeaseLost
    return replace(iteration, before=before, goes_to=None)
