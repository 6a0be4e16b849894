"""Durable loops written by hand in Python and SQLite: what an iteration costs at the least."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

AT, HASH = "2025-01-01 00:00:00.123456", "a" * 40


def _open(path: Path, schema: str) -> sqlite3.Connection:
    link = sqlite3.connect(path, isolation_level=None)
    link.execute("PRAGMA journal_mode=WAL")
    link.execute("PRAGMA synchronous=FULL")
    link.executescript(schema)
    return link


class Minimal:
    """One INSERT and one UPDATE per transaction: durable, but it could tell nobody what it did."""

    def __init__(self, data: Path) -> None:
        self.link = _open(
            data / "minimal.sqlite3",
            """CREATE TABLE log (id INTEGER PRIMARY KEY, payload TEXT);
            CREATE TABLE session (id INTEGER PRIMARY KEY, seq INTEGER);
            INSERT INTO session VALUES (1, 0);""",
        )

    def iterate(self) -> float:
        """Seconds that one iteration took."""
        began = time.perf_counter()
        self.link.execute("BEGIN IMMEDIATE")
        self.link.execute("INSERT INTO log (payload) VALUES (?)", ("x" * 400,))
        self.link.execute("UPDATE session SET seq = seq + 1 WHERE id = 1")
        self.link.execute("COMMIT")
        return time.perf_counter() - began


class Fair:
    """The same durable facts as ours, in rows of the same size: in one transaction the output's
    piece, the log's entry, the outcome of the iteration that was in flight, the session's counts
    and the next iteration in flight; the same four things are unique. It reads nothing, locks
    nothing but the database and decides nothing."""

    def __init__(self, data: Path) -> None:
        self.link = _open(
            data / "fair.sqlite3",
            f"""CREATE TABLE session (id INTEGER PRIMARY KEY, seq INTEGER, number INTEGER,
                config TEXT);
            CREATE TABLE iteration (id INTEGER PRIMARY KEY, session INTEGER, number INTEGER,
                role TEXT, reason TEXT, before TEXT, prompt TEXT, started TEXT, ended TEXT,
                outcome TEXT, rev TEXT, head TEXT, UNIQUE (session, number));
            CREATE UNIQUE INDEX in_flight ON iteration (session) WHERE ended IS NULL;
            CREATE TABLE log (id INTEGER PRIMARY KEY, session INTEGER, seq INTEGER, kind TEXT,
                payload TEXT, at TEXT, UNIQUE (session, seq));
            CREATE TABLE piece (id INTEGER PRIMARY KEY, iteration INTEGER, seq INTEGER,
                start INTEGER, text TEXT, at TEXT, UNIQUE (iteration, seq));
            INSERT INTO session VALUES (1, 0, 0, '{"c" * 800}');""",
        )
        self.number = 0
        self._claim()

    def _claim(self) -> None:
        self.number += 1
        run = self.link.execute
        run("UPDATE session SET seq = ?, number = ? WHERE id = 1", (self.number, self.number))
        self.in_flight = run(
            "INSERT INTO iteration (session, number, role, reason, before, prompt, started) "
            "VALUES (1, ?, ?, ?, ?, ?, ?)",
            (self.number, "worker", "r" * 40, "b" * 190, "p" * 64, AT),
        ).lastrowid

    def iterate(self) -> float:
        """Seconds that one iteration took."""
        began = time.perf_counter()
        run = self.link.execute
        run("BEGIN IMMEDIATE")
        run(
            "INSERT INTO piece (iteration, seq, start, text, at) VALUES (?, 1, 0, ?, ?)",
            (self.in_flight, "o" * 55, AT),
        )
        run(
            "INSERT INTO log (session, seq, kind, payload, at) VALUES (1, ?, 'recorded', ?, ?)",
            (self.number, "y" * 400, AT),
        )
        run(
            "UPDATE iteration SET ended = ?, outcome = ?, rev = ?, head = ? "
            "WHERE id = ? AND ended IS NULL",
            (AT, "WORK", HASH, HASH, self.in_flight),
        )
        self._claim()
        run("COMMIT")
        return time.perf_counter() - began
