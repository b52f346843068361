#!/usr/bin/env python3
"""Copies a log (.nvmt) with one change and valid checksums, distances and numbers.

  nvmt-log-edit.py WHAT FROM TO

codec     an unknown codec in the DATA chunk in the middle
version   an unknown version in it
column    an unknown kind for one of its constant columns
kind      a chunk of an unknown kind after it
lost      remove it, but keep its number
TIME=NS   this time, of all records that have it: start, wall, anchor (META), mark, gap, state, range, first-time, last-time (STAT),
          bin (LOD, its number)
"""

import os
import struct
import sys
import zlib
from importlib.machinery import SourceFileLoader

log = type(sys)("nvmt_log")
SourceFileLoader("nvmt_log", os.path.join(os.path.dirname(os.path.abspath(__file__)), "nvmt-log.py")).exec_module(log)
STAT_HEAD = 56


def shuffle(p, n, size):
    return b"".join(p[k::size] for k in range(size))


def first_of(b, kind):
    n = b.get("I")
    for _ in range(n):
        if kind == "lane":
            b.get("II")
        for _ in range(3 if kind == "lane" else 1):
            b.text()


def at_time(what, h, raw, ns):
    """The payload with another time."""
    p, b = bytearray(raw), log.Bytes(raw)
    if h.kind == log.META and what in ("start", "wall", "anchor"):
        while b.left():
            tag, n = b.get("HI")
            if tag == (4 if what == "anchor" else 3):
                struct.pack_into("<q", p, b.at + 8 * (what == "wall"), ns)
            b.take(n)
    places = {"mark": (log.MARK, 8), "gap": (log.GAP, 10), "state": (log.STATE, 0)}
    if h.kind == places.get(what, (None,))[0]:
        while b.left():
            n = b.get("H")
            struct.pack_into("<q", p, b.at + places[what][1], ns)
            b.take(n)
    if h.kind == log.INDEX and what in places:
        _, _, size, n, n_sums, _ = struct.unpack_from("<BBHIII", raw)
        b.take(40 + size * n + 20 * n_sums)
        while b.left():
            kind, n = b.get("BH")
            if kind == places[what][0]:
                struct.pack_into("<q", p, b.at + places[what][1], ns)
            b.take(n)
    if h.kind == log.RANGE and what == "range":
        first_of(b, "name")
        first_of(b, "lane")
        n = b.get("I")
        records = bytearray(log.unshuffle(raw[b.at:b.at + 40 * n], n, 40))
        struct.pack_into("<q", records, 0, ns)
        p[b.at:b.at + 40 * n] = shuffle(bytes(records), n, 40)
    if h.kind == log.LOD and what == "bin":
        struct.pack_into("<q", p, 12, ns)
    if h.kind == log.STATS and what in ("first-time", "last-time"):
        _, _, size, n = struct.unpack_from("<BBHI", raw)
        records = bytearray(log.unshuffle(raw[STAT_HEAD:], n, size))
        for i in range(44 if what == "first-time" else 60, n * size, size):
            struct.pack_into("<q", records, i, ns)
        p[STAT_HEAD:] = shuffle(bytes(records), n, size)
    return bytes(p)


def other_column(raw):
    """The first section's first constant column, which had no bytes."""
    b, raw = log.Bytes(raw), bytearray(raw)
    _, _, columns, n, _, _ = b.get("BBHIqI")
    at = b.at
    kinds = log.columns_of(b, columns)
    b.take(4 * n)
    for c, (kind, first) in enumerate(kinds):
        if kind & 7 == 1 and kind >> 6 == 0:
            raw[at + c] = 0xC1
            return bytes(raw[:b.at] + struct.pack("<II", 4, 0) + raw[b.at:])
        log.array(b, kind, first, n)
    sys.exit("no column is constant")


def listed(raw, at, place, moved):
    """An INDEX with updated distances; at: its old offset."""
    _, _, size, n, n_sums, _ = struct.unpack_from("<BBHIII", raw)
    head, groups = bytearray(raw[:40]), bytearray(log.unshuffle(raw[40:40 + n * size], n, size))
    sums = bytearray(log.unshuffle(raw[40 + n * size:40 + n * size + 20 * n_sums], n_sums, 20))

    def correct(p, i):
        distance, = struct.unpack_from("<Q", p, i)
        if distance:
            struct.pack_into("<Q", p, i, place - moved.get(at - distance, (place - 48, 0))[0])

    for i in (16, 24, 32):
        correct(head, i)
    for i in range(0, n * size, size):
        first, _, _, length = struct.unpack_from("<QQqI", groups, i)
        end = moved.get(at - first + length, (place, 0))[0]
        correct(groups, i)
        correct(groups, i + 8)
        struct.pack_into("<I", groups, i + 24, end - (place - struct.unpack_from("<Q", groups, i)[0]))
    for i in range(0, n_sums * 20, 20):
        correct(sums, i)
    return bytes(head) + shuffle(groups, n, size) + shuffle(sums, n_sums, 20) + raw[40 + n * size + 20 * n_sums:]


def edit(what, p):
    all_chunks = [(h, at, raw) for h, at, raw in log.chunks(p) if h]
    data = [at for h, at, _ in all_chunks if h.kind == log.DATA]
    middle, out, moved, shift = data[len(data) // 2], b"", {}, 0
    what, _, ns = what.partition("=")

    def put(h, kind, payload, version=log.VERSION, codec=0):
        nonlocal out
        head = struct.pack("<4s4BIIQIIqI", log.MAGIC, kind, version, codec, h.flags, h.session, h.generation,
                           h.seq + shift, len(payload), len(payload) if h.kind != log.META else h.raw,
                           h.cell, zlib.crc32(payload))
        out += head + struct.pack("<I", zlib.crc32(head)) + payload

    for h, at, raw in all_chunks:
        place, here = len(out), at == middle
        if h.kind == log.META:
            if ns:
                put(h, h.kind, log.SIGNATURE + at_time(what, h, raw, int(ns)))
            else:
                put(h, h.kind, p[at + 48:at + 48 + h.stored], codec=h.codec)
        elif h.kind == log.INDEX:
            put(h, h.kind, listed(at_time(what, h, raw, int(ns)) if ns else raw, at, place, moved))
        elif h.kind == log.END:
            to = moved.get(at - struct.unpack_from("<Q", raw, 1)[0], (place, 0))[0]
            put(h, h.kind, raw[:1] + struct.pack("<Q", place - to) + raw[9:])
        elif not (here and what == "lost"):
            raw = at_time(what, h, raw, int(ns)) if ns else raw
            put(h, h.kind, other_column(raw) if here and what == "column" else raw,
                version=9 if here and what == "version" else log.VERSION, codec=7 if here and what == "codec" else 0)
        if len(out) > place:
            moved[at] = place, len(out) - place - 48
        if what == "kind" and here:
            shift += 1
            put(h, 77, raw)
    return out


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as f:
        edited = edit(sys.argv[1], f.read())
    with open(sys.argv[3], "wb") as f:
        f.write(edited)
