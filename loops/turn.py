"""One role's turn: the agent's call, outside any transaction, and what became of it."""

from __future__ import annotations

import logging
from dataclasses import replace

from loops import ledger
from loops.agents.base import Reply
from loops.agents.output import OutputWriter
from loops.controls import Controls
from loops.engine.contracts import Criterion
from loops.engine.values import Fault
from loops.equipment import Equipment, Work
from loops.in_flight import InFlight
from loops.interface import Collected
from loops.leases import Lease
from loops.output import PieceStore
from loops.sight import Sight
from loops.workspaces import Unusable
from tracker.errors import DomainError

log = logging.getLogger(__name__)


def take(
    iteration: InFlight,
    prompt: str,
    criteria: tuple[Criterion, ...],
    store: PieceStore,
    equipment: Equipment,
    sight: Sight,
    lease: Lease,
) -> tuple[Reply, Collected]:
    """criteria: those in force. Every fault is a reply, but for an unusable workspace, which raises
    Unusable."""
    work = Work(
        role=iteration.role,
        agent=iteration.agent,
        number=iteration.number,
        reference=str(iteration),
        prompt=prompt,
        criteria=criteria,
        repeats=iteration.repeats,
    )
    reply, collected = _call(work, store, equipment, sight, lease)
    if collected.used:
        collected = replace(collected, used=ledger.priced(collected.used))
        reply = ledger.added_to(reply, collected.used)
    if lease.stopping:  # a call that a person's stop cut off is no fault of the agent
        reply = replace(reply, fault=Fault.WORKER_LOST, detail="Cut off by stop.", exit_code=None)
    return reply, collected


def _call(
    work: Work, store: PieceStore, equipment: Equipment, sight: Sight, lease: Lease
) -> tuple[Reply, Collected]:
    """What must not be kept of the agent's output is known before it can say it."""
    writer = None
    try:
        writer = OutputWriter(store, equipment.reveal(work.role, work.agent))
        return equipment.perform(work, sight, Controls(lease, writer))
    except Unusable:
        raise
    except DomainError as refusal:  # a person's to mend: the sentence stands in the iteration
        return Reply(fault=Fault.CANNOT_START, detail=str(refusal)), Collected()
    except Exception as error:  # our own fault, not the agent's: the step is repeated
        log.exception("%s: the call failed", work.reference)
        detail = f"Loopwatch itself failed in this step ({type(error).__name__})."
        return Reply(fault=Fault.WORKER_LOST, detail=detail), Collected()
    finally:
        store.finish()
        if writer is not None:
            writer.close()
