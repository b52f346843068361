#!/usr/bin/env python3
"""Checks a log (.nvmt) against its own rows, as read by nvmt-log.py.

  nvmt-log-check.py FILE           LOD, STAT and INDEX against the rows; exit 1 on errors
  nvmt-log-check.py --judge FILE   the content as one JSON object, like nvmt.py check for version 1:
                                   counts, times, and n, nan, mean, min and max of each channel
  nvmt-log-check.py --that EXPRESSION FILE...
                                   exit 0 if each file, which may be of version 1, is valid and the Python expression
                                   over that object, t, is true of it
  nvmt-log-check.py --tell EXPRESSION FILE...
                                   the same, and prints what the expression is of each
"""

import json
import math
import os
import struct
import sys
from importlib.machinery import SourceFileLoader

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
log = type(sys)("nvmt_log")
SourceFileLoader("nvmt_log", os.path.join(sys.path[0], "nvmt-log.py")).exec_module(log)

STAT = struct.Struct("<IQ4dqdqddQQd")
ENTRY = struct.Struct("<QIBBHq4I")
ZOOMS = {28: 1, 32: 2, 34: 2, 36: 2, 38: 3, 40: 3, 42: 3}


def lod(payload):
    """zoom, and sections: tier, first bin, minima, maxima, sums, counts."""
    b, out = log.Bytes(payload), []
    zoom = b.get("BBH")[0]
    while b.left():
        tier, _, columns, n, first = b.get("BBHIq")
        kinds = log.columns_of(b, 4 * columns)
        if tier > 3 or not 0 < n <= 256:
            raise log.Damage("section")
        v = [log.array(b, k, first_k, n) for k, first_k in kinds]
        out.append((tier, first, [v[k * columns:(k + 1) * columns] for k in range(4)]))
    return zoom, out


def stats(payload):
    b = log.Bytes(payload)
    level, _, size, n = b.get("BBHI")
    late = list(zip(b.get("4I"), b.get("4q")))
    if size < STAT.size:
        raise log.Damage("record")
    p = log.unshuffle(b.take(n * size), n, size)
    return level, [STAT.unpack_from(p, i * size) for i in range(n)], late


def entries(payload):
    """Distances to the first byte, the INDEX before and what no INDEX lists; groups; LOD and STAT of levels 2 and 3."""
    b = log.Bytes(payload)
    _, _, size, n_groups, n_sums, _, begin, before, rest = b.get("BBHIIIQQQ")
    groups, sums = log.unshuffle(b.take(n_groups * size), n_groups, size), log.unshuffle(b.take(n_sums * 20), n_sums, 20)
    return (begin, before, rest, [struct.unpack_from("<QQqII4I", groups, i * size) for i in range(n_groups)],
            list(struct.iter_unpack("<QqI", sums)))


class Check:
    """Bins and statistics, computed from the rows."""

    def __init__(self, r):
        self.r, self.wrong, self.count, self.last_index = r, [], {}, None
        self.cells, self.values = {}, {}  # bins of zoom 27; times and values
        for tier, cells in r.rows.items():
            base = min(r.tiers[tier]["zoom"], 27)
            for cell, t, v, _ in cells:
                for number, column in v.items():
                    got = [(x, y) for x, y in zip(t, column) if not math.isnan(y)]
                    if not got:
                        continue
                    self.values.setdefault(number, []).extend(got)
                    bins = self.cells.setdefault(number, {})
                    new = tree(got, base)
                    bins[cell] = merge(bins[cell], new) if cell in bins else new
        self.zooms = {n: {27: bins} for n, bins in self.cells.items()}
        self.place = {n: (c["tier"], c["column"]) for n, c in r.channels.items()}
        for h, at, payload in r.chunks:
            self.count[h.kind] = self.count.get(h.kind, 0) + 1
            if h.kind == log.LOD:
                self.lod(h, *lod(payload))
            elif h.kind == log.STATS:
                self.stats(h, *stats(payload))
            elif h.kind == log.INDEX:
                self.index(h, at, *entries(payload))

    def bins(self, number, zoom):
        zooms = self.zooms[number]
        if zoom not in zooms:
            up = {}
            for i in sorted(self.bins(number, zoom - 1)):
                b = zooms[zoom - 1][i]
                up[i >> 1] = merge(up[i >> 1], b) if i >> 1 in up else b
            zooms[zoom] = up
        return zooms[zoom]

    def lod(self, h, zoom, sections):
        if zoom not in ZOOMS:
            return self.wrong.append(f"seq {h.seq}: LOD of zoom {zoom}")
        bits = 27 + 6 * ZOOMS[zoom] - zoom
        span = (h.cell << 27 >> zoom) >> bits
        there = {}
        for tier, first, (lo, hi, total, count) in sections:
            for number, place in self.place.items():
                if place[0] == tier and place[1] < len(count):
                    c = place[1]
                    for i, n in enumerate(count[c]):
                        if n:
                            there[number, first + i] = (lo[c][i], hi[c][i], total[c][i], int(n))
        want = {(number, i): b for number in self.cells for i, b in self.bins(number, zoom).items()
                if i >> bits == span and zoom >= self.r.tiers[self.place[number][0]]["zoom"] + 2}
        for key in want.keys() | there.keys():
            if want.get(key) != there.get(key):
                self.wrong.append(f"seq {h.seq}: LOD zoom {zoom} channel {key[0]} bin {key[1]}: "
                                  f"{there.get(key)} for {want.get(key)}")

    def stats(self, h, level, records, late):
        from_ns, to_ns = h.cell << 27, (h.cell + (1 << 6 * level)) << 27
        want = {}
        for number, values in self.values.items():
            got = [x for x in values if from_ns <= x[0] < to_ns]
            if got:
                want[number] = self.stat(number, got, from_ns, to_ns)
        for tier, said in enumerate(late):
            there = [g["to"] - g["from"] for g in self.r.late() if g["tier"] == tier and from_ns <= g["to"] < to_ns]
            if said != (len(there), max(there, default=0)):
                self.wrong.append(f"seq {h.seq}: STAT has late ticks {said} of tier {tier}, the rows {there}")
        if want.keys() != {s[0] for s in records}:
            self.wrong.append(f"seq {h.seq}: STAT of other channels than have values")
        for s in records:
            for name, a, b, scale in zip("n min max sum squares first_t first last_t last integral known above "
                                         "rise".split(), s[1:], *want.get(s[0], ((), ()))):
                if abs(a - b) > 1e-9 * scale:
                    self.wrong.append(f"seq {h.seq}: STAT channel {s[0]} {name}: {a!r} for {b!r}")

    def stat(self, number, got, from_ns, to_ns):
        """The expected value, and the scale of the allowed error of 1e-9."""
        cover = round(5e9 / self.r.tiers[self.place[number][0]]["hz"])
        v = [y for _, y in got]
        mean = math.fsum(v) / len(v)
        pairs = list(zip(got, got[1:]))
        near = [(t1 - t0, a, b) for (t0, a), (t1, b) in pairs if t1 - t0 <= cover]
        size, squares = math.fsum(map(abs, v)), math.fsum((x - mean) ** 2 for x in v)
        parts = [(a + b) / 2 * (dt / 1e9) for dt, a, b in near]
        rise = math.fsum(b - a for (_, a), (_, b) in pairs if b > a)
        return ((len(v), min(v), max(v), math.fsum(v), squares, *got[0], *got[-1], math.fsum(parts),
                 sum(x[0] for x in near), sum(x[0] for x in near if x[1] > 0), rise),
                (0, 0, 0, size, squares + mean * mean * 1e-6, 0, 0, 0, 0, math.fsum(map(abs, parts)), 0, 0, rise))

    def index(self, h, at, begin, before, rest, groups, sums):
        """Each group is where its entry says, as a whole, and each INDEX leads to the one before."""
        def wrong(why):
            self.wrong.append(f"seq {h.seq}: INDEX: {why}")

        def head(distance):
            to = self.r.head(at - distance) if 0 < distance <= at else None
            return to if to and to.good else wrong(f"no chunk {distance} bytes before")

        if begin != at or before != (at - self.last_index if self.last_index is not None else 0):
            wrong("it does not lead to the one before")
        self.last_index = at
        if rest:
            head(rest)
        for first, to_sums, cell, length, _, *rows in groups:
            own = [(c, place, p) for c, place, p in self.r.chunks if c.cell >> 6 == cell >> 6 and c.kind < log.LOD]
            if not own or own[0][1] != at - first or own[-1][1] + 48 + own[-1][0].stored != at - first + length:
                wrong(f"the group of cell {cell} is elsewhere")
            count = [0] * 4
            for c, _, p in own:
                for tier, t, _, _ in log.data(c, p) if c.kind == log.DATA else ():
                    count[tier] += len(t)
            if count != rows:
                wrong(f"{rows} rows of the group of cell {cell}, there are {count}")
            to = head(to_sums) if to_sums else None
            if to and (to.kind not in (log.LOD, log.STATS) or to.cell != cell):
                wrong(f"no LOD or STAT of cell {cell} {to_sums} bytes before")
        for distance, cell, level in sums:
            to = head(distance)
            if to and (to.kind not in (log.LOD, log.STATS) or to.cell != cell or level not in (2, 3)):
                wrong(f"no LOD or STAT of level {level} {distance} bytes before")


def tree(got, base):
    bins = [(t >> base, (y, y, y, 1)) for t, y in got]
    joined = []
    while True:
        for i, b in bins:
            if joined and joined[-1][0] == i:
                joined[-1] = (i, merge(joined[-1][1], b))
            else:
                joined.append((i, b))
        if base == 27:
            return joined[0][1]
        bins, joined, base = [(i >> 1, b) for i, b in joined], [], base + 1


def merge(a, b):
    return min(a[0], b[0]), max(a[1], b[1]), a[2] + b[2], a[3] + b[3]


def column(values):
    got = [v for v in values if not math.isnan(v)]
    out = {"n": len(got), "nan": len(values) - len(got), "mean": None, "min": None, "max": None}
    if got:
        out.update(mean=math.fsum(got) / len(got), min=min(got), max=max(got))
    return out


def judge(r):
    """Errors are bytes outside chunks, and missing or damaged chunks."""
    start = r.session["start"]
    out = {"bytes": len(r.file), "board": r.session["facts"].get("board", ""), "hz": {}, "counts": {"sync": len(r.marks)},
           "start_ns": start[0], "real_ns": start[1], "end": r.end, "errors": r.problems, "gaps": [*r.gaps.values(), *r.late()],
           "sync": [{"id": m["id"], "time_s": (m["t"] - start[0]) / 1e9, "label": m["label"]}
                    for _, m in sorted(r.marks.items())]}
    for tier, name in enumerate(("fast", "medium", "slow")):
        cells = r.rows.get(tier, [])
        t = [(ns - start[0]) / 1e9 for _, times, _, _ in cells for ns in times]
        fields = {c["name"]: column([v for _, _, columns, _ in cells for v in columns.get(number, ())])
                  for number, c in r.channels.items() if c["tier"] == tier}
        out["hz"][name] = r.tiers[tier]["hz"]
        out["counts"][name] = len(t)
        out[name] = {"n": len(t), "increasing": all(a < b for a, b in zip(t, t[1:])), "fields": fields,
                     "first_s": t[0] if t else None, "last_s": t[-1] if t else None}
    return out


def judge_file(path):
    """The object, and whether the file is valid."""
    with open(path, "rb") as f:
        p = f.read()
    if p[:4] == log.MAGIC:
        recording = log.Recording(p)
        return judge(recording), recording.chunks and not recording.problems
    import nvmt

    t = nvmt.finite(nvmt.check(path))
    return t, not t["errors"]


def main():
    option = sys.argv[1] if len(sys.argv) > 1 else ""
    if option == "--judge":
        t, good = judge_file(sys.argv[2])
        json.dump(t, sys.stdout, indent=1)
        return 0 if good else 1
    if option in ("--that", "--tell"):
        for path in sys.argv[3:]:
            t, good = judge_file(path)
            v = good and eval(sys.argv[2], {"t": t})
            if not good or (option == "--that" and not v):
                print(path, json.dumps(t, indent=1)[:3000])
                return 1
            if option == "--tell":
                print(v)
        return 0
    with open(sys.argv[-1], "rb") as f:
        recording = log.Recording(f.read())
    bad = bool(recording.problems) or not recording.chunks
    check = Check(recording)
    for line in check.wrong[:50]:
        print(line)
    for line in recording.problems[:50]:
        print(json.dumps(line))
    print(f"{len(check.wrong)} wrong, {len(recording.problems)} problems; chunks of each kind: "
          f"{dict(sorted(check.count.items()))}")
    return 1 if check.wrong or bad else 0


if __name__ == "__main__":
    sys.exit(main())
