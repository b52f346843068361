#!/usr/bin/env python3
"""Writes logs as docs/format-nvmt.md, and a FILE.bin as nvmtop-trace(5) has them; shares no code with nvmtop.

  nvmt_write.py FILE [--seconds S] [--scale X] [--jitter SEED] [--repeat N] [--labels A,B]
                [--moments SEED] [--reps even|holes]

The values are given by formulas (those marked * are not in version 1):

  gpu.util     tenths of a percent, i mod 1001
  cpu0.util    100 i / n, a ramp over the whole trace
  cpu1.util    50 + 40 sin(2 pi t / 2 s)
  ramp.power   1000 mW per second, starting at 0
  wave.power   5000 + 1000 sin(2 pi t / 1 s) mW, times X
  temp.cpu     40 + t degrees; temp.gpu was never read
  throttle.x*  1 while 1 <= t < 1.5 (mod 4), else 0
  count.f*     i * 0.1, in the fast tier
  power.total* is ramp.power and wave.power; most.hot* is temp.cpu
  ticks.n*     i, a counter in the fast tier; spent.j* 3 J per second; events.n* one event per second

--moments: rails with switching loads, read at random moments of each tick; a mark every 10 s.

Marks are at 2 s, 4 s, 6 s, ...; their labels are "work" and "rest" in turn.
"""

import math
import os
import random
import struct
import zlib

START_MONO, START_REAL, START_BOOT = 5_000_000_000_123, 1_700_000_000_000_000_000, 6_000_000_000_123


def f32(v):
    return struct.unpack("<f", struct.pack("<f", v))[0]


def f32s(values):
    return list(struct.unpack(f"<{len(values)}f", struct.pack(f"<{len(values)}f", *values)))


def text(s):
    raw = s.encode()
    return struct.pack("<H", len(raw)) + raw


def shuffle(raw, width):
    return b"".join(raw[k::width] for k in range(width))


def array(values):
    """The kind, the first number and the bytes of a column: the bits of floats."""
    known = [v for v in values if v is not None and v == v]
    if not known:
        return 0, 0, b""
    single = max(map(abs, known)) < 3e38 and f32s(known) == known
    if known.count(known[0]) == len(known):
        known = known[:1]
    k = struct.unpack(f"<{len(known)}{'I' if single else 'q'}", struct.pack(f"<{len(known)}{'f' if single else 'd'}", *known))
    steps = [b - a for a, b in zip(k, k[1:])]
    if not single:
        steps = [(d + (1 << 63)) % (1 << 64) - (1 << 63) for d in steps]
    raw = shuffle(struct.pack(f"<{len(steps)}Q", *[2 * d if d >= 0 else -2 * d - 1 for d in steps]), 8) if any(steps) else b""
    kind = (5 if raw else 1) | (4 if single else 5) << 3
    if None in values or math.nan in values:
        bits = sum(1 << i for i, v in enumerate(values) if v is not None and v == v)
        return kind | 1 << 6, k[0], bits.to_bytes((len(values) + 7) // 8, "little") + raw
    return kind, k[0], raw


def section(tier, hz, times, columns):
    step = round(1e9 / hz)
    residuals = [t - times[0] - i * step for i, t in enumerate(times)]
    zigzag = struct.pack(f"<{len(times)}I", *[2 * r if r >= 0 else -2 * r - 1 for r in residuals])
    arrays = [array(c) for c in columns]
    return (struct.pack("<BBHIqI", tier, 0, len(columns), len(times), times[0], step) +
            bytes(kind for kind, _, _ in arrays) + shuffle(struct.pack(f"<{len(arrays)}q", *[k for _, k, _ in arrays]), 8) +
            shuffle(zigzag, 4) + b"".join(raw for _, _, raw in arrays))


META, DATA, MARK, GAP, STATE, END, EVENT = 1, 2, 3, 4, 5, 10, 11


class Log:
    """Chunks as docs/format-nvmt.md has them; without LOD, STAT and INDEX, which readers make of the rows."""

    def __init__(self, channels, hz, facts, anchors, tiers):
        """channels: dicts, in order of tier and column; anchors: the first is the start; tiers: for each the times and
        the columns."""
        self.out, self.seq, self.channels, self.hz = [], 0, channels, hz
        self.session = int.from_bytes(os.urandom(4), "little") | 1  # each is a recording of its own
        self.facts, self.anchors, self.tiers = facts, anchors, tiers

    def chunk(self, kind, cell, raw):
        stored = (b"\x89NVL\r\n\x1a\n" if kind == META else b"") + raw
        head = struct.pack("<4sBBBBIIQIIqI", b"\xabNV\n", kind, 3, 0, 0, self.session, 1, self.seq, len(stored), len(raw), cell,
                           zlib.crc32(stored))
        self.seq += 1
        self.out.append(head + struct.pack("<I", zlib.crc32(head)) + stored)

    def meta(self, cell, full):
        def record(tag, body):
            return struct.pack("<HI", tag, len(body)) + body

        now = [a for a in self.anchors if a[0] >> 27 <= cell] or self.anchors
        if not full:
            return self.chunk(META, cell, record(4, struct.pack("<3q", *now[-1])))
        raw = record(1, text("nvmt_write.py")) + record(2, bytes(range(32)))
        raw += record(3, struct.pack("<3q", *self.anchors[0])) + record(4, struct.pack("<3q", *now[-1]))
        for tier, (_, columns) in enumerate(self.tiers):
            zoom = max(10, math.floor(math.log2(1e9 / self.hz[tier])))
            raw += record(5, struct.pack("<BBHd", tier, zoom, len(columns), self.hz[tier]))
        for key, value in self.facts.items():
            raw += record(6, text(key) + text(value))
        used = [0, 0, 0]
        for number, c in enumerate(self.channels):
            tier = c["tier"]
            body = struct.pack("<IBHH4dq", number, tier, used[tier], c.get("index", 0), *(c.get(k, math.nan) for k in
                               ("lo", "hi", "warn", "crit")), c.get("period", 0))
            for key in ("name", "label", "kind", "unit", "family", "source", "note", "missing", "kernel", "was"):
                body += text(c.get(key, ""))
            raw += record(7, body)
            used[tier] += 1
        self.chunk(META, cell, raw)

    def events(self, kind, cell, bodies):
        if bodies:
            self.chunk(kind, cell, b"".join(struct.pack("<H", len(b)) + b for b in bodies))

    def states(self):
        """The end of each throttling, notice and rise of a count, and its record."""
        used, out = [0, 0, 0], []
        for number, c in enumerate(self.channels):
            times, columns = self.tiers[c["tier"]]
            values = columns[used[c["tier"]]]
            used[c["tier"]] += 1
            kind = {"throttle": 0, "notice": 1, "throttle_count": 2}.get(c.get("kind"))
            if kind is None:
                continue
            spans, last = [], None  # [from, to, count, flags, above]
            for t, v in zip(times, values):
                if v is None or math.isnan(v):
                    continue
                if kind < 2 and last and last[1] > 0 and t - last[0] <= round(5e9 / self.hz[c["tier"]]):
                    spans[-1][1] = t
                    spans[-1][4] += t - last[0]
                    begins = 0
                else:
                    begins = int(v > 0) if kind < 2 else int(max(0, v - last[1])) if last else 0
                if begins and spans and t - spans[-1][1] < 100_000_000:
                    spans[-1][1:3] = t, spans[-1][2] + begins
                elif begins:
                    spans.append([t, t, begins, 0 if last else 2, 0])
                last = t, v
            if spans and kind < 2 and last[1] > 0:
                spans[-1][3] |= 1
            out += [(b, EVENT, struct.pack("<qqIBBQq", a, b, number, kind, flags, n, above)) for a, b, n, flags, above in spans]
        return out

    def bytes(self, marks=(), gaps=(), changes=()):
        """marks: (t, label); gaps: (tier, cause, from, to, missed); changes: (t, what, from, to)."""
        starts, group = [0, 0, 0], None
        cells = sorted({t >> 27 for times, _ in self.tiers for t in times} or {self.anchors[0][0] >> 27})
        events = [(t, MARK, struct.pack("<Qq", i + 1, t) + text(label)) for i, (t, label) in enumerate(marks)]
        events += [(g[3], GAP, struct.pack("<BBqqQ", *g)) for g in gaps]
        events += [(c[0], STATE, struct.pack("<q", c[0]) + b"".join(text(x) for x in c[1:])) for c in changes]
        events += self.states()
        metas = 0
        for cell in cells:
            if cell >> 6 != group:
                self.meta(cell, metas < 2 or cell >> 12 != group >> 6)
                group = cell >> 6
                metas += 1
            raw = b""
            for tier, (times, columns) in enumerate(self.tiers):
                first = last = starts[tier]
                while last < len(times) and times[last] >> 27 == cell:
                    last += 1
                if last > first:
                    raw += section(tier, self.hz[tier], times[first:last], [c[first:last] for c in columns])
                starts[tier] = last
            if raw:
                self.chunk(DATA, cell, raw)
            own = [e for e in events if e[0] >> 27 <= cell or cell == cells[-1]]
            for kind in (MARK, GAP, STATE, EVENT) if own else ():
                self.events(kind, cell, [body for _, k, body in own if k == kind])
            if own:
                events = [e for e in events if e[0] >> 27 > cell]
        self.chunk(END, cells[-1], struct.pack("<BQ", 0, 0) + text(""))
        return b"".join(self.out)


class Trace:
    """Rows as lists of values by name; None is missing. Times are in ns since the start."""

    def __init__(self, board="test_board", hz=(1000, 100, 10)):
        self.board, self.hz = board, hz
        self.cores, self.rails, self.zones = [], [], []
        self.times = ([], [], [])
        self.data = {}
        self.extra = []      # (name, kind, tier, unit, family)
        self.marks = []      # (ns, label)
        self.gaps = []       # (tier, cause, from, to, missed)
        self.emc = False
        self.facts = {"board": board, "title": "A test"}
        self.gpu_source = "made up"

    def row(self, tier, t, **values):
        self.times[tier].append(t)
        for name, v in values.items():
            self.data.setdefault(name, []).append(v)

    def rows(self, tier, times, **columns):
        self.times[tier].extend(times)
        for name, values in columns.items():
            self.data.setdefault(name, []).extend(values)

    def column(self, name, n):
        return self.data.get(name, [None] * n)

    def header(self):
        def names(words, count):
            return b"".join(w.encode()[:23].ljust(24, b"\0") for w in words).ljust(24 * count, b"\0")

        counts = [len(t) for t in self.times] + [len(self.marks)]
        out = struct.pack("<II32s4B3I4Q", 0x4E564D54, 1, self.board.encode(), len(self.cores), len(self.rails),
                          len(self.zones), self.emc, *self.hz, *counts)
        return out + names(self.rails, 8) + names(self.zones, 16) + bytes(64)

    def version1(self):
        self.complete()
        out = [self.header()]
        fast, medium, slow = self.times
        columns = [self.column(f"cpu{c}.util", len(fast)) for c in self.cores]
        gpu, used, free = (self.column(n, len(fast)) for n in ("gpu.util", "ram.used", "ram.available"))
        emc = self.column("emc.util", len(fast))
        for i, t in enumerate(fast):
            cores = [c[i] for c in columns]
            cells = [math.nan if c is None else c for c in cores] + [0.0] * (16 - len(cores))
            out.append(struct.pack("<dH16ffQQf", t / 1e9, round((gpu[i] or 0) * 10), *cells,
                                   math.nan if self.data["cpu.util"][i] is None else self.data["cpu.util"][i],
                                   used[i] or 0, free[i] or 0, -1.0 if emc[i] is None else emc[i]))
        for i, t in enumerate(medium):
            mv, ma, mw = [], [], []
            for r in self.rails:
                v, a = self.data[r + ".voltage"][i], self.data[r + ".current"][i]
                mv.append(v or 0)
                ma.append(a or 0)
                mw.append(math.nan if v is None else v * a / 1000)
            pad = [0] * (8 - len(mv))
            out.append(struct.pack("<d8I8I8f", t / 1e9, *(mv + pad), *(ma + pad), *(mw + pad)))
        for i, t in enumerate(slow):
            zones = [self.data["temp." + z][i] for z in self.zones]
            cells = [math.nan if z is None else z for z in zones] + [0.0] * (16 - len(zones))
            out.append(struct.pack("<d16f", t / 1e9, *cells))
        for k, (t, _) in enumerate(self.marks):
            out.append(struct.pack("<QQ", k + 1, self.first_row(t)))
        return b"".join(out)

    def first_row(self, t):
        return sum(x < t for x in self.times[0])

    def channels(self):
        rows = [("gpu.util", "GPU", "gpu_util", 0, "%", "gpu", 0)]
        for c in self.cores:
            rows.append((f"cpu{c}.util", f"cpu{c}", "core_util", 0, "%", "cpu", c))
        rows.append(("cpu.util", "CPU", "cpu_util", 0, "%", "cpu", 0))
        rows.append(("ram.used", "RAM", "ram_used", 0, "kB", "memory", 0))
        rows.append(("ram.available", "RAM free", "ram_available", 0, "kB", "memory", 0))
        if self.emc:
            rows.append(("emc.util", "EMC", "emc_util", 0, "%", "memory", 0))
        for i, r in enumerate(self.rails):
            rows.append((r + ".voltage", r, "rail_voltage", 1, "mV", "power", i))
            rows.append((r + ".current", r, "rail_current", 1, "mA", "power", i))
            rows.append((r + ".power", r, "rail_power", 1, "mW", "power", i))
        for i, z in enumerate(self.zones):
            rows.append(("temp." + z, z, "temperature", 2, "C", "heat", i))
        for name, kind, tier, unit, family in self.extra:
            rows.append((name, name, kind, tier, unit, family, 0))
        names = ("name", "label", "kind", "tier", "unit", "family", "index")
        return [dict(zip(names, row), source=self.gpu_source if row[0] == "gpu.util" else "made up") for row in rows]

    def complete(self):
        """Adds what is computed: the load of all cores, and power, as version 1 has them."""
        cores = [self.column(f"cpu{c}.util", len(self.times[0])) for c in self.cores]
        if not cores:
            self.data["cpu.util"] = [None] * len(self.times[0])
        elif any(None in c for c in cores):
            known = [[v for v in row if v is not None] for row in zip(*cores)]
            self.data["cpu.util"] = [f32(sum(k) / len(k)) if k else None for k in known]
        else:
            self.data["cpu.util"] = f32s([sum(row) / len(row) for row in zip(*cores)])
        for r in self.rails:
            volt, amp = (self.column(r + end, len(self.times[1])) for end in (".voltage", ".current"))
            watt = f32s([math.nan if v is None else v * a / 1000 for v, a in zip(volt, amp)])
            self.data[r + ".power"] = [w if w == w else None for w in watt]

    def log(self, anchors=()):
        self.complete()
        channels = self.channels()
        tiers = [([START_MONO + t for t in times],
                  [self.column(c["name"], len(times)) for c in channels if c["tier"] == tier])
                 for tier, times in enumerate(self.times)]
        log = Log(channels, self.hz, self.facts, [(START_MONO, START_REAL, START_BOOT), *anchors], tiers)
        return log.bytes([(START_MONO + t, label) for t, label in self.marks],
                         [(tier, cause, START_MONO + a, START_MONO + b, missed) for tier, cause, a, b, missed in self.gaps])


def waves(seconds=20.0, scale=1.0, jitter=None, repeat=2.0, labels=("work", "rest")):
    rng = random.Random(jitter)
    t = Trace()
    t.cores, t.rails, t.zones, t.emc = [0, 1], ["ramp", "wave"], ["cpu", "gpu"], True
    t.extra = [("count.f", "other", 0, "", "other"), ("ticks.n", "counter", 0, "", "other"),
               ("throttle.x", "throttle", 2, "", "heat"), ("spent.j", "other", 2, "J", "power"),
               ("events.n", "throttle_count", 2, "", "heat"),
               ("power.total", "power_total", 1, "mW", "power"), ("most.hot", "hottest", 2, "C", "heat")]
    n = round(seconds * 1000)
    rows = [i for i in range(n + 1) if not 3100 <= i < 3150]    # those are late
    times = [i * 1_000_000 + (rng.randrange(200_000) if jitter is not None else 0) for i in rows]
    t.rows(0, times, **{"gpu.util": [None if 500 <= i < 510 else i % 1001 / 10 for i in rows],
                        "cpu0.util": f32s([100 * i / n for i in rows]),
                        "cpu1.util": f32s([50 + 40 * math.sin(math.pi * (ns / 1e9)) for ns in times]),
                        "ram.used": [1_000_000 + i for i in rows], "ram.available": [8_000_000 - i for i in rows],
                        "emc.util": f32s([i % 7 for i in rows]), "count.f": [i * 0.1 for i in rows],
                        "ticks.n": [float(i) for i in rows]})
    t.gaps.append((0, 0, 3_099_000_000, 3_150_000_000, 50))
    times = [i * 10_000_000 for i in range(round(seconds * 100) + 1) if not 1205 <= i < 1215]   # lost: 0.1 s
    ramp = [round(ns / 1e6) for ns in times]
    wave = [round((5000 + 1000 * math.sin(2 * math.pi * ns / 1e9)) * scale + (rng.gauss(0, 100) if jitter is not None else 0))
            for ns in times]
    thousand = [1000] * len(times)
    t.rows(1, times, **{"ramp.voltage": thousand, "ramp.current": ramp, "wave.voltage": thousand, "wave.current": wave,
                        "power.total": [float(a + b) for a, b in zip(ramp, wave)]})
    t.gaps.append((1, 1, 12_040_000_000, 12_150_000_000, 10))
    for i in range(round(seconds * 10) + 1):
        ns = i * 100_000_000
        t.row(2, ns, **{"temp.cpu": f32(40 + ns / 1e9), "temp.gpu": None,
                        "throttle.x": float(10 <= i % 40 < 15), "spent.j": i * 0.3, "events.n": float(i // 10), "most.hot": 40 + ns / 1e9})
    for k in range(1, math.ceil(seconds / repeat)):
        t.marks.append((round(k * repeat * 1e9), labels[(k - 1) % len(labels)]))
    return t


LOADS = {"step": (0.010, 0.5), "frame": (1 / 30, 0.3), "odd": (0.007, 0.2), "slow": (1.0, 0.5)}


def load_j(name, s):
    """Energy of a rail of moments() in its first s seconds: 50 W in the first part of each
    period, 10 W in the rest."""
    period, share = LOADS[name]
    whole, rest = divmod(s, period)
    return 10 * s + 40 * (whole * period * share + min(rest, period * share))


def moments(seconds, seed):
    rng = random.Random(seed)
    t = Trace(hz=(10, 100, 10))
    t.rails = list(LOADS)
    t.facts["rails.moments"] = "random"
    t.rows(0, range(0, round(seconds * 10) * 100_000_000 + 1, 100_000_000))
    times = [i * 10_000_000 + rng.randrange(10_000_000) for i in range(round(seconds * 100) + 20)]
    t.rows(1, times)
    for name, (period, share) in LOADS.items():
        on = share * period
        t.data[name + ".voltage"] = [1000] * len(times)
        t.data[name + ".current"] = [50_000 if (ns / 1e9) % period < on else 10_000 for ns in times]
    t.marks = [(k * 10_000_000_000, "run") for k in range(1, round(seconds / 10) + 1)]
    return t


def reps(what, n=12):
    """n repetitions of 1 s at 10 W; with holes, power is known for a fifth of each second."""
    t = Trace(hz=(10, 10, 10))
    t.cores, t.rails = [0], ["main"]
    for k in range(10 * n + 1):
        ns = k * 100_000_000
        t.row(0, ns, **{"gpu.util": 50, "cpu0.util": 10.0, "ram.used": 1, "ram.available": 2})
        if what == "holes" and 2 <= k % 10 <= 8:
            continue
        t.row(1, ns, **{"main.voltage": 1000, "main.current": 10000})
    for k in range(n):
        t.marks.append((k * 1_000_000_000, "step"))
        if what == "holes":
            t.gaps.append((1, 1, k * 1_000_000_000 + 100_000_000, k * 1_000_000_000 + 900_000_000, 7))
    return t


def one_run(seed, more_w=0, n=25, times=3):
    """A run of n programs, c0 to c<n-1>, one after the other and that `times` times, 0.4 s each: its power is 10 W and
    more_w, an offset that a run of the program has, and noise of each phase, both with a deviation of 0.2 W."""
    rng = random.Random(seed)
    t = Trace(hz=(10, 10, 10))
    t.cores, t.rails = [0], ["main"]
    offsets = [rng.gauss(0, 0.2) for _ in range(n)]
    for k in range(n * times):
        level = 10 + more_w + offsets[k % n] + rng.gauss(0, 0.2)
        t.marks.append((k * 400_000_000, f"c{k % n}"))
        for j in range(4):
            ns = k * 400_000_000 + j * 100_000_000 + 50_000_000
            t.row(0, ns, **{"gpu.util": 50})
            t.row(1, ns, **{"main.voltage": 1000, "main.current": round(1000 * level)})
    t.row(2, 0)
    return t


def main():
    import argparse  # not for those who only want a trace

    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file")
    p.add_argument("--seconds", type=float, default=20.0)
    p.add_argument("--scale", type=float, default=1.0)
    p.add_argument("--jitter", type=int, default=None)
    p.add_argument("--repeat", type=float, default=2.0)
    p.add_argument("--labels", default="work,rest", help="of the marks, in turn")
    p.add_argument("--counters", action="store_true", help="the GPU load is a difference of counters")
    p.add_argument("--reps", help="repetitions: even or holes")
    p.add_argument("--moments", type=int, default=None)
    a = p.parse_args()
    if a.reps:
        t = reps(a.reps)
    else:
        t = (waves(a.seconds, a.scale, a.jitter, a.repeat, a.labels.split(",")) if a.moments is None
             else moments(a.seconds, a.moments))
    if a.counters:
        t.gpu_source = "/sys/devices/gpu.0/counters"
    with open(a.file, "wb") as f:
        f.write(t.version1() if a.file.endswith(".bin") else t.log())


if __name__ == "__main__":
    main()
