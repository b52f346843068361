#!/usr/bin/env python3
"""Writes what nsys export --type sqlite would of the run that tests/tools/ranges records.

  nsys_export.py FILE [WORD]...    no-wall, no-text-id, no-short-name, no-tables, no-enum, mark=LABEL, late=SECONDS, other-types

The session begins 0.5 s before the recording: 999.5 s monotonic.  While a step runs, stream 7 runs sgemm for its first 200 ms and
relu for the last 100 ms; a copy takes 20 ms before each step.
"""
import sqlite3
import sys

REAL = 1767268800 * 10**9
BEGIN = -500        # ms on the axis of the recording
MAIN, LOADER, RPC = 100 << 24 | 100, 100 << 24 | 101, 100 << 24 | 102


def main():
    words = dict(w.partition("=")[::2] for w in sys.argv[2:])
    late = float(words.get("late", 0))
    db = sqlite3.connect(sys.argv[1])
    strings = {}

    def string(text):
        return strings.setdefault(text, len(strings) + 1)

    def ns(ms):
        return round((ms - BEGIN + late * 1000) * 10**6)

    types = {"NvtxMark": 34, "NvtxPushPopRange": 59, "NvtxStartEndRange": 60, "NvtxDomainCreate": 75}
    if "other-types" in words:
        types = {name: number + 100 for name, number in types.items()}
    short = "no-short-name" not in words
    text_id = "no-text-id" not in words
    if "no-enum" not in words:
        db.execute("CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)")
        db.executemany("INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES (?, ?, ?)", [(i, n, n) for n, i in types.items()])
        db.execute("CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)")
        db.execute("INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device')")
    if "no-wall" not in words:
        db.execute("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT)")
        # What a wall clock is good for: with a mark the shift of the clock is seen to be made good.
        off = 3 * 10**6 if "mark" in words else 0
        db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (REAL + BEGIN * 10**6 + off,))
    if "no-tables" not in words:
        db.execute("CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, \"end\" INTEGER, eventType INTEGER NOT NULL, "
                   "rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, "
                   + "textId INTEGER, " * text_id + "domainId INTEGER)")

        def nvtx(kind, begin, end, text, tid, domain=0, registered=False, color=None):
            row = {"start": ns(begin), "end": None if end is None else ns(end), "eventType": types[kind], "color": color,
                   "text": None if registered else text, "globalTid": tid, "domainId": domain}
            if registered:
                row["textId"] = string(text)
            db.execute("INSERT INTO NVTX_EVENTS (%s) VALUES (%s)" % (", ".join(f'"{n}"' for n in row), ", ".join("?" * len(row))),
                       tuple(row.values()))

        nvtx("NvtxDomainCreate", -400, None, "DALI", LOADER, 3)
        nvtx("NvtxPushPopRange", 100, 3900, "epoch", MAIN, color=0xFFFF0000)
        for k in range(9):
            at = 200 + 400 * k
            nvtx("NvtxPushPopRange", at, at + 300, "step", MAIN, registered=text_id)
            nvtx("NvtxPushPopRange", at, at + 100, "forward", MAIN, registered=text_id)
        for k in range(7):
            nvtx("NvtxPushPopRange", 150 + 500 * k, 250 + 500 * k, "load", LOADER, 3)
        nvtx("NvtxStartEndRange", 1000, 1500, "request", RPC)
        nvtx("NvtxStartEndRange", 1200, 1800, "request", RPC)
        nvtx("NvtxPushPopRange", 3000, None, "server", RPC)
        if words.get("mark"):
            nvtx("NvtxMark", 1.5, None, words["mark"], MAIN)
        db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER, "
                   "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL"
                   + ", shortName INTEGER NOT NULL" * short + ")")
        db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER, "
                   "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER)")
        for k in range(9):
            at = 200 + 400 * k
            for begin, end, name in ((at, at + 200, "sgemm"), (at + 200, at + 300, "relu")):
                row = (ns(begin), ns(end), 0, 1, 7, k, 100 << 24, string(f"void {name}<float>(float *)"))
                db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, ?, ?, ?, ?%s)" % (", ?" * short),
                           row + (string(name),) * short)
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 1, 7, ?, ?, 4096, 1)",
                       (ns(at - 20), ns(at), k, 100 << 24))
        db.execute("CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT)")
        db.execute("INSERT INTO PROCESSES VALUES (?, 100, 'python3')", (100 << 24,))
        db.execute("CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER)")
        db.execute("INSERT INTO ThreadNames VALUES (?, 20, ?)", (string("loader"), LOADER))
    db.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, text) for text, i in strings.items()])
    db.commit()


main()
