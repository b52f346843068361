#!/usr/bin/env python3
"""Values and joules of the board into an SQLite database, every few seconds, until Ctrl-C or for so many times.

    python3 sqlite-exporter.py board.db [SECONDS [TIMES [BOARD]]]
    sqlite3 board.db "SELECT signal, sum(joules) FROM energy GROUP BY signal"
"""
import itertools
import signal
import sqlite3
import sys
import time

import nvmtop

SCHEMA = """
CREATE TABLE IF NOT EXISTS signal (signal TEXT PRIMARY KEY, unit TEXT, source TEXT);
CREATE TABLE IF NOT EXISTS sample (time REAL, signal TEXT, value REAL, missing TEXT);
CREATE TABLE IF NOT EXISTS energy (time REAL, seconds REAL, signal TEXT, joules REAL, within REAL);
CREATE INDEX IF NOT EXISTS sample_time ON sample (time);
"""


def known(x: float) -> "float | None":
    """NULL: not known, and never 0."""
    return x if x == x else None


def take(db: sqlite3.Connection, live: nvmtop.Live, window: nvmtop.Window) -> None:
    now = time.time()
    with db:  # one transaction
        db.executemany("INSERT INTO sample VALUES (?, ?, ?, ?)",
                       [(now, v.name, known(float(v)), v.missing or None) for v in live.read().values()])
        db.executemany("INSERT INTO energy VALUES (?, ?, ?, ?, ?)",
                       [(now, window.seconds, name, known(e.joules), known(e.joules_within))
                        for name, e in window.rails.items()])


def main(path: str, seconds: float = 5, times: int = 0, board: "str | None" = None) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with sqlite3.connect(path) as db, nvmtop.Live(board=board) as live:
        db.executescript(SCHEMA)
        db.executemany("INSERT OR REPLACE INTO signal VALUES (?, ?, ?)",
                       [(s.name, s.unit, s.source) for s in live.signals.values()])
        window = live.window().begin()
        for _ in range(times) if times else itertools.count():
            time.sleep(seconds)
            window.end()
            last, window = window, live.window().begin()
            take(db, live, last)


if __name__ == "__main__":
    try:
        main(sys.argv[1], *(kind(word) for kind, word in zip((float, int, str), sys.argv[2:])))
    except KeyboardInterrupt:
        pass
