#!/usr/bin/env python3
"""Makes long files of version 1 with impossible times.

  disorder.py make FILE N                N fast rows 1 ms apart, N/10 medium and N/100 slow
                                         ones, a mark every 20 s; the GPU
                                         is at 50 %, the rail at 5 W
  disorder.py time FILE TIER ROW SECONDS change one time: a number, nan, inf, or +BIT to flip
  disorder.py shuffle FILE TIER HOW      change many: random, backwards, repeated, blocks;
                                         between: random except for the last and 128 others
"""
import random
import struct
import sys

import nvmt_write

SIZES = (98, 104, 72)
HEADER = 728


class Long(nvmt_write.Trace):
    def first_row(self, t):
        return -(-t // 1_000_000)


def make(path, n):
    n = int(n)
    t = Long()
    t.cores, t.rails, t.zones = [0], ["rail"], ["cpu"]
    t.times = [range(0, n * 10**6, 10**6), range(0, n * 10**6, 10**7), range(0, n * 10**6, 10**8)]
    t.marks = [(k * 20 * 10**9, "") for k in range(1, (n - 1) // 20000 + 1)]
    t.data["gpu.util"] = [50] * n
    rows = (struct.pack("<dH16ffQQf", 0, 500, 10.0, *[0.0] * 15, 10.0, 10**6, 10**6, -1.0),
            struct.pack("<d8I8I8f", 0, 5000, *[0] * 7, 1000, *[0] * 7, 5000.0, *[0.0] * 7),
            struct.pack("<d16f", 0, 40.0, *[0.0] * 15))
    out = [t.header()]
    for tier, row in enumerate(rows):
        body = bytearray(row * len(t.times[tier]))
        put_times(body, 0, len(row), [ns / 1e9 for ns in t.times[tier]])
        out.append(bytes(body))
    for k, (ns, _) in enumerate(t.marks):
        out.append(struct.pack("<QQ", k + 1, t.first_row(ns)))
    raw = b"".join(out)
    with open(path, "wb") as f:
        f.write(raw)


def put_times(raw, at, size, times):
    """Those of the rows from there on, byte by byte of all of them."""
    packed, end = struct.pack(f"<{len(times)}d", *times), at + len(times) * size
    for k in range(8):
        raw[at + k:end:size] = packed[k::8]


def head(f):
    """How many rows there are in each tier, and where they begin."""
    counts = struct.unpack_from("<4Q", f.read(HEADER), 56)
    return counts, (HEADER, HEADER + counts[0] * SIZES[0], HEADER + counts[0] * SIZES[0] + counts[1] * SIZES[1])


def time(path, tier, row, what):
    with open(path, "r+b") as f:
        counts, begins = head(f)
        at = begins[int(tier)] + int(row) % counts[int(tier)] * SIZES[int(tier)]
        f.seek(at)
        raw = bytearray(f.read(8))
        if what[0] == "+":
            raw[int(what[1:]) // 8] ^= 1 << int(what[1:]) % 8
        else:
            struct.pack_into("<d", raw, 0, float(what))
        f.seek(at)
        f.write(raw)


def shuffle(path, tier, how):
    tier = int(tier)
    with open(path, "r+b") as f:
        counts, begins = head(f)
        f.seek(begins[tier])
        raw = bytearray(f.read(counts[tier] * SIZES[tier]))
        disorder(raw, SIZES[tier], counts[tier], counts[tier] / (1000, 100, 10)[tier], how)
        f.seek(begins[tier])
        f.write(raw)


def disorder(raw, size, n, last, how):
    rng = random.Random(5)
    if how == "backwards":
        times = [last * (n - i) / n for i in range(n)]
    elif how == "repeated":
        times = [last / 2] * n
    elif how == "blocks":
        times = [last * ((i * 7 // 1000) % 7) / 7 for i in range(n)]
    else:
        times = [rng.random() * last for _ in range(n)]
    if how == "between":
        for i in {n // 128 * k for k in range(127)} | {n - 1}:
            times[i] = struct.unpack_from("<d", raw, i * size)[0]
    put_times(raw, 0, size, times)


if __name__ == "__main__":
    {"make": make, "time": time, "shuffle": shuffle}[sys.argv[1]](*sys.argv[2:])
