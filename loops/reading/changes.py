"""What an iteration changed, from the snapshots in the project's store. Runs git, and only on the
engine's own repository (RULES 1)."""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings

from loops import stage
from loops.models import Iteration, Session
from loops.pages.output import DiffFile, DiffPart, FileRow, FilesPart, diff_files
from loops.reading.reading import Reading
from loops.workspaces import Unusable
from tracker.pages.atoms import Chip

LONGEST_DIFF = 400_000  # characters
MOST_ROWS = 4_000
MINUS = "\N{MINUS SIGN}"

_CHIPS = {
    "changed": Chip("run", "pencil", "Changed"),
    "new": Chip("run", "plus", "New"),
    "deleted": Chip("run", "x", "Deleted"),
    "renamed": Chip("run", "pencil", "Renamed"),
}
_ASIDE = Chip("warn", "undo", "Kept aside")
_LOOSE = Chip("warn", "warn", "Not committed")


def iteration_diff(iteration: Iteration) -> DiffPart:
    """Against the tree that the iteration found. One that runs is not looked at: its tree is the
    agent's until it ends."""
    against = f"iteration {iteration.number - 1}" if iteration.number > 1 else "the base"
    if iteration.ended_at is None:
        note = "This iteration still runs. What it changed is shown when it has ended."
        return DiffPart(files=(), against=against, note=note)
    return diff_of(iteration.session, iteration.before.get("rev", ""), iteration.rev, against)


def diff_of(session: Session, old: str, new: str, against: str) -> DiffPart:
    """The difference of two trees, cut with a sentence when it is long."""
    if not old or not new or old == new:
        return DiffPart(files=(), against=against)
    try:
        text, is_cut = _text(session.pk, old, new)
    except Unusable as fault:
        return DiffPart(files=(), against=against, note=str(fault))
    files, left_out = _first_rows(diff_files(text))
    note = ""
    if is_cut or left_out:
        note = "The diff is long: only its beginning is shown. The branch holds all of it."
    return DiffPart(files=files, against=against, note=note)


@lru_cache(maxsize=64)
def _text(session_id: int, old: str, new: str) -> tuple[str, bool]:
    """Trees never change, so neither does their difference. A failure is not remembered."""
    session = Session.objects.select_related("project").get(pk=session_id)
    if not stage.Folders.of(session).store.is_dir():
        where = session.host if session.host not in ("", settings.HOST) else ""
        there = f"on host {where}" if where else "not there"
        raise Unusable(f"The session's trees are {there}, so its changes cannot be shown here.")
    text = stage.workspace_of(session).diff(old, new)
    return text[:LONGEST_DIFF], len(text) > LONGEST_DIFF


def _first_rows(files: tuple[DiffFile, ...]) -> tuple[tuple[DiffFile, ...], bool]:
    """Whole files as long as there is room for their rows."""
    shown: list[DiffFile] = []
    room = MOST_ROWS
    for file in files:
        room -= len(file.rows)
        if room < 0 and shown:
            return tuple(shown), True
        shown.append(file)
    return tuple(shown), False


def files_part(reading: Reading, iteration: Iteration, diff: DiffPart) -> FilesPart:
    """Changed files, files that left the tree, files that no commit holds."""
    evidence = reading.evidence(iteration.number)
    rows = [
        FileRow(path=file.path, chip=_CHIPS[file.change], sub=_in_words(file))
        for file in diff.files
    ]
    rows += [
        FileRow(path=path, chip=_ASIDE, sub="Taken out of the tree, kept with this iteration.")
        for path in _aside(iteration)
    ]
    rows += [FileRow(path=path, chip=_LOOSE, sub="In the tree, in no commit.")
             for path in evidence.get("uncommitted", ())]  # fmt: skip
    notes = (diff.note, *evidence.get("notes", ()))
    return FilesPart(rows=tuple(rows), note=" ".join(filter(None, notes)))


def _in_words(file: DiffFile) -> str:
    where = "out of the tree" if file.change == "deleted" else "in the tree"
    if file.is_binary:
        return f"Binary, {where}"
    return f"+{file.added} {MINUS}{file.removed}, {where}"


def _aside(iteration: Iteration) -> tuple[str, ...]:
    return stage.workspace_of(iteration.session).files(iteration.number)


def size(diff: DiffPart) -> tuple[int, int]:
    """Lines added and removed in what is shown."""
    return sum(file.added for file in diff.files), sum(file.removed for file in diff.files)
