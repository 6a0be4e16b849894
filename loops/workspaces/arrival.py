"""A session's clone on a host that it came to: made from the snapshot that its old host sent."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

from loops.workspaces.clone import CloneMaker
from loops.workspaces.confined_git import Head
from loops.workspaces.elsewhere import Kept
from loops.workspaces.restore import Restorer
from loops.workspaces.stamps import Stamper, State, write_json


def make_clone(stamper: Stamper, kept: Kept) -> None:
    """Make the clone at kept.head. Hold the store's lock; `kept` is in the store."""
    keeper = f"refs/heads/{stamper.branch}"
    stamper.store.set_refs(
        {keeper: kept.head, f"refs/loopwatch/{stamper.ref}/snapshots": kept.snapshot}
    )
    CloneMaker(stamper.store).make(stamper.clone, ref=keeper, branch=stamper.branch)
    state = State(head=kept.head, head_ref=keeper, kept=kept.snapshot, kept_rev=kept.rev)
    write_json(stamper.engine / "state.json", asdict(state))


def fill_clone(stamper: Stamper, kept: Kept, folder: Path) -> None:
    """Bring its files and HEAD to where the snapshot has them. Hold the session's lock. folder:
    takes what stands in the way."""
    now = stamper.take()
    restorer = Restorer(stamper.clone, stamper.store, folder)
    restorer.restore(stamper.store.changes(kept.rev, now.rev), stamper.large())
    if kept.head_ref != f"refs/heads/{stamper.branch}":
        stamper.git.move_head(Head(kept.head, kept.head_ref))
    stamper.notes += restorer.notes
    stamper.take()


def lay_out(stamper: Stamper, rev: str, names: list[bytes], folder: Path) -> None:
    """Write those of `names` that are files in the tree `rev` into `folder`, as they are there."""
    out = stamper.store.git("ls-tree", "-z", rev, "--", *names) if names else b""
    for line in filter(None, out.split(b"\0")):
        meta, path = line.split(b"\t", 1)
        mode, kind, oid = meta.decode().split(" ")
        if kind != "blob" or mode == "120000":
            continue
        place = folder / os.fsdecode(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(stamper.store.contents([oid])[oid])
        place.chmod(0o755 if mode == "100755" else 0o644)
