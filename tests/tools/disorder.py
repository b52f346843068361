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
        for i, ns in enumerate(t.times[tier]):
            struct.pack_into("<d", body, i * len(row), ns / 1e9)
        out.append(bytes(body))
    for k, (ns, _) in enumerate(t.marks):
        out.append(struct.pack("<QQ", k + 1, t.first_row(ns)))
    raw = b"".join(out)
    with open(path, "wb") as f:
        f.write(raw)


class File:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            self.raw = bytearray(f.read())
        self.counts = struct.unpack_from("<4Q", self.raw, 56)
        self.at = [HEADER]
        for count, size in zip(self.counts, SIZES + (16,)):
            self.at.append(self.at[-1] + count * size)

    def put(self, tier, row, seconds):
        struct.pack_into("<d", self.raw, self.at[tier] + row * SIZES[tier], seconds)

    def save(self):
        with open(self.path, "wb") as f:
            f.write(self.raw)


def time(path, tier, row, what):
    f = File(path)
    tier, row = int(tier), int(row)
    row += f.counts[tier] if row < 0 else 0
    if what[0] == "+":
        bit = int(what[1:])
        f.raw[f.at[tier] + row * SIZES[tier] + bit // 8] ^= 1 << bit % 8
    else:
        f.put(tier, row, float(what))
    f.save()


def shuffle(path, tier, how):
    f = File(path)
    tier = int(tier)
    n, rng = f.counts[tier], random.Random(5)
    last = n / (1000, 100, 10)[tier]
    kept = {n // 128 * k for k in range(127)} | {n - 1} if how == "between" else set()
    for i in range(n):
        if how == "backwards":
            f.put(tier, i, last * (n - i) / n)
        elif how == "repeated":
            f.put(tier, i, last / 2)
        elif how == "blocks":
            f.put(tier, i, last * ((i * 7 // 1000) % 7) / 7)
        elif i not in kept:
            f.put(tier, i, rng.random() * last)
    f.save()


if __name__ == "__main__":
    {"make": make, "time": time, "shuffle": shuffle}[sys.argv[1]](*sys.argv[2:])
