"""Where an iteration's pieces are kept, and what they cost: no commit of their own at the end."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection, transaction

from loops import live, moment, statements
from loops.agents.output import Piece
from loops.in_flight import InFlight
from loops.statements import Kept


class PieceStore:
    """Keeps pieces as rows. Those that come after finish() wait for the record's transaction."""

    def __init__(self, iteration: InFlight) -> None:
        self._iteration = iteration
        self._is_finishing = False
        self._held: list[Kept] = []

    def __call__(self, pieces: Iterable[Piece]) -> None:
        at = moment.now()
        rows = [Kept(p.number, p.offset, p.text, at) for p in pieces]
        if self._is_finishing:
            self._held += rows
        else:
            _write(self._iteration, rows)
            say(self._iteration, rows)

    def finish(self) -> None:
        self._is_finishing = True

    def held(self) -> list[Kept]:
        return self._held


def say(iteration: InFlight, rows: Iterable[Kept]) -> None:
    """Pieces that are kept, or will be with this transaction, to the pages that follow them."""
    said = ((row.seq, row.text, row.at) for row in rows)
    live.output(iteration.session_id, iteration.number, said)


def _write(iteration: InFlight, rows: list[Kept]) -> None:
    """From the writer's own thread, on a connection of its own, gone again at once.

    Losing the last second of output to a power cut costs nothing, so this connection alone does
    not wait for the disk. Pieces that come twice after a fault are kept once.
    """
    try:
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA synchronous = NORMAL")
        with transaction.atomic():
            statements.keep_pieces(iteration, rows)
    finally:
        connection.close()
