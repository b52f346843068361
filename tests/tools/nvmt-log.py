#!/usr/bin/env python3
"""An independent reader of nvmtop's log (.nvmt), written from docs/format-nvmt.md: shares no
code with nvmtop and needs only libzstd.

  nvmt-log.py FILE            all of it as JSON lines: session, rows, ranges, marks, gaps, changes, end
  nvmt-log.py --brief FILE    the same without the rows

nvmt-log-check.py checks its content for consistency.
"""

import ctypes
import itertools
import math
import struct
import sys
import zlib

MAGIC, SIGNATURE = b"\xabNV\n", b"\x89NVL\r\n\x1a\n"
HEAD = struct.Struct("<4s4BIIQIIqII")
META, DATA, MARK, GAP, STATE, RANGE, LOD, STATS, INDEX, END, EVENT = range(1, 12)
VERSION, LATE = 3, 1 << 31
ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ZSTD.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


class Damage(Exception):
    pass


class Bytes:
    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def left(self):
        return len(self.raw) - self.at

    def take(self, n):
        if self.left() < n:
            raise Damage("too short")
        self.at += n
        return self.raw[self.at - n:self.at]

    def get(self, form):
        form = "<" + form
        v = struct.unpack(form, self.take(struct.calcsize(form)))
        return v[0] if len(v) == 1 else v

    def text(self):
        return self.take(self.get("H")).decode("utf-8", "replace")

    def records(self, length="H"):
        while self.left():
            yield Bytes(self.take(self.get(length)))


class Head:
    def __init__(self, p):
        (magic, self.kind, self.version, self.codec, self.flags, self.session, self.generation, self.seq,
         self.stored, self.raw, self.cell, self.crc, crc) = HEAD.unpack(p)
        self.good = (magic == MAGIC and crc == zlib.crc32(p[:44]) and self.stored <= 1 << 20 and
                     self.raw <= 16 << 20 and abs(self.cell) < 1 << 35)


def chunks(p):
    """Yields head, offset and payload (or the error) of each chunk; None, offset, length for
    other bytes."""
    at, session, bad = 0, None, 0
    while at + 48 <= len(p):
        at = p.find(MAGIC, at)
        if at < 0 or at + 48 > len(p):
            break
        h = Head(p[at:at + 48])
        if not h.good or (session is not None and h.session != session) or at + 48 + h.stored > len(p):
            at += 1
            continue
        if at > bad and session is not None:
            yield None, bad, at - bad
        session = h.session
        try:
            payload = unpack(h, p[at + 48:at + 48 + h.stored])
        except Damage as e:
            payload = e
        yield h, at, payload
        at += 48 + h.stored
        bad = at
    if bad < len(p):
        yield None, bad, len(p) - bad


def unpack(h, p):
    if zlib.crc32(p) != h.crc:
        raise Damage("checksum")
    if h.kind == META:
        if p[:8] != SIGNATURE:
            raise Damage("signature")
        p = p[8:]
    if h.codec == 1:
        out = ctypes.create_string_buffer(h.raw + 1)
        if ZSTD.ZSTD_getFrameContentSize(p, len(p)) != h.raw or ZSTD.ZSTD_decompress(out, h.raw, p, len(p)) != h.raw:
            raise Damage("zstd")
        return out.raw[:h.raw]
    if h.codec or len(p) != h.raw:
        raise Damage("codec" if h.codec else "length")
    return p


def unshuffle(p, n, size):
    out = bytearray(n * size)
    for k in range(size):
        out[k::size] = p[k * n:k * n + n]
    return bytes(out)


def unzigzag(z):
    return -(z >> 1) - 1 if z & 1 else z >> 1


def values(numbers, number):
    """What the numbers stand for: signed 64-bit integers, fractions of them, or bits of floats."""
    if number < 4:
        unit, n = (1, 10, 1000, 1000)[number], len(numbers)
        v = [k / unit for k in numbers]
        return struct.unpack(f"<{n}f", struct.pack(f"<{n}f", *v)) if number == 3 else v
    if number == 4:
        return struct.unpack(f"<{len(numbers)}f", struct.pack(f"<{len(numbers)}I", *[k & 0xffffffff for k in numbers]))
    return struct.unpack(f"<{len(numbers)}d", struct.pack(f"<{len(numbers)}q", *numbers))


def array(b, kind, first, n):
    width, number, which = kind & 7, kind >> 3 & 7, kind >> 6
    if which == 3:
        b.take(b.get("I"))
        return [math.nan] * n
    if kind == 0:
        return [math.nan] * n
    if not 1 <= width <= 5 or number > 5:
        raise Damage("kind")
    bits, m = None, n
    if which:
        bits = int.from_bytes(b.take((n + 7) // 8), "little")
        if bits >> n or not bits or (which == 2 and not bits & 1):
            raise Damage("bits of rows")
        m = bin(bits).count("1")
    size = 0 if width == 1 else 1 << (width - 2)
    p = b.take((m - 1) * size)
    if size:
        steps = struct.unpack(f"<{m - 1}{'BHIQ'[width - 2]}", unshuffle(p, m - 1, size))
        numbers = list(itertools.accumulate(map(unzigzag, steps), initial=first))
        if min(numbers) < -1 << 63 or max(numbers) >= 1 << 63:
            numbers = [(k + (1 << 63)) % (1 << 64) - (1 << 63) for k in numbers]
        v = values(numbers, number)
    else:
        v = values([first], number) * m
    if bits is None:
        return list(v)
    v, out = iter(v), []
    for i in range(n):
        out.append(next(v) if bits >> i & 1 else out[-1] if which == 2 else math.nan)
    return out


def columns_of(b, columns):
    """The kinds and the first numbers of columns."""
    kinds = b.take(columns)
    return list(zip(kinds, struct.unpack(f"<{columns}q", unshuffle(b.take(8 * columns), columns, 8))))


def data(h, payload):
    """Sections: tier, times, columns, and for each row whether one tick before it was skipped."""
    b, out = Bytes(payload), []
    while b.left():
        tier, unit, columns, n, t0, step = b.get("BBHIqI")
        if tier > 3 or not 0 < n <= 65536 or columns > 4096 or unit > 1:
            raise Damage("section")
        kinds = columns_of(b, columns)
        r = struct.unpack(f"<{n}I", unshuffle(b.take(4 * n), n, 4))
        t = [t0 + (i * step + unzigzag(r[i] & ~LATE)) * (1000 if unit else 1) for i in range(n)]
        if r[0] & ~LATE or any(x >= y for x, y in zip(t, t[1:])) or any(x >> 27 != h.cell for x in t):
            raise Damage("times")
        out.append((tier, t, [array(b, k, first, n) for k, first in kinds], [bool(x & LATE) for x in r]))
    return out


class Recording:
    def __init__(self, p):
        self.file = p
        self.session, self.channels, self.tiers, self.end = {"facts": {}}, {}, {}, None
        self.generations, self.chunks, self.problems, self.unknown = {}, [], [], 0
        self.marks, self.gaps, self.changes, self.events = {}, {}, {}, {}
        self.ranges, self.again = [], {}
        self.rows = {}  # tier: [cell, times, values by channel number, single late ticks before a row]
        seq = None
        for h, at, payload in chunks(p):
            if not h:
                self.problems.append({"at": at, "bytes": payload, "why": "no chunk"})
                continue
            if seq is not None and h.seq > seq + 1:
                self.problems.append({"seq": seq + 1, "missing": h.seq - seq - 1})
            if seq is not None and h.seq <= seq:
                self.problems.append({"seq": h.seq, "why": "again"})
                continue
            seq = h.seq
            try:
                self.take(h, at, payload)
            except (Damage, struct.error) as e:
                self.problems.append({"at": at, "seq": h.seq, "kind": h.kind, "cell": h.cell, "why": str(e)})

    def take(self, h, at, payload):
        if h.version != VERSION or not META <= h.kind <= EVENT:
            if h.flags & 1:
                sys.exit(f"needs a newer program: kind {h.kind}, version {h.version}")
            self.unknown += 1
            return
        if isinstance(payload, Damage):
            raise payload
        self.chunks.append((h, at, payload))
        if h.kind == META:
            self.meta(h, Bytes(payload))
        elif h.kind == DATA:
            self.data(h, payload)
        elif h.kind == MARK:
            for r in Bytes(payload).records():
                m = {"id": r.get("Q"), "t": r.get("q"), "label": r.text()}
                self.marks.setdefault((m["t"], m["id"]), m)
        elif h.kind == GAP:
            for r in Bytes(payload).records():
                g = dict(zip(("tier", "cause", "from", "to", "missed"), r.get("BBqqQ")))
                self.gaps.setdefault((g["from"], r.raw), g)
        elif h.kind == STATE:
            for r in Bytes(payload).records():
                c = {"t": r.get("q"), "what": r.text(), "from": r.text(), "to": r.text()}
                self.changes.setdefault((c["t"], r.raw), c)
        elif h.kind == EVENT:
            for r in Bytes(payload).records():
                e = dict(zip(("from", "to", "channel", "kind", "flags", "count", "above"), r.get("qqIBBQq")))
                before = self.events.get((e["from"], e["channel"]))
                if not before or (before["to"], -before["flags"]) <= (e["to"], -e["flags"]):
                    self.events[e["from"], e["channel"]] = e
        elif h.kind == RANGE:
            self.take_ranges(Bytes(payload))
        elif h.kind == END:
            b = Bytes(payload)
            reason, distance = b.get("BQ")
            self.end = {"reason": reason, "distance": distance, "next": b.text()}
            if distance and self.head(at - distance).kind != INDEX:
                raise Damage("END leads to no INDEX")

    def take_ranges(self, b):
        """Those with flag 1 or 4 stay apart: the next of the same begin, lane, depth and name replaces them."""
        names = [b.text() for _ in range(b.get("I"))]
        lanes = [(b.get("I"), b.get("I"), b.text(), b.text(), b.text()) for _ in range(b.get("I"))]
        n, end = b.get("I"), 0
        raw = unshuffle(b.take(40 * n), n, 40)
        for step, length, name, lane, colour, depth, flags, payload, value in struct.iter_unpack("<qqIIIHBBQ", raw):
            end += step
            r = {"begin": end - length, "end": end, "name": names[name], "lane": lanes[lane], "depth": depth, "flags": flags}
            key = r["begin"], r["lane"], depth, r["name"]
            self.again.pop(key, None)
            if flags & 5:
                self.again[key] = r
            else:
                self.ranges.append(r)

    def head(self, at):
        return Head(self.file[at:at + 48])

    def meta(self, h, b):
        channels = {}
        while b.left():
            tag = b.get("H")
            r = Bytes(b.take(b.get("I")))
            if tag == 1:
                self.session["writer"] = r.text()
            elif tag == 2:
                self.session["uuid"], self.session["boot"] = r.take(16).hex(), r.take(16).hex()
            elif tag == 3:
                self.session["start"] = r.get("3q")
            elif tag == 4:
                self.session.setdefault("anchors", []).append(r.get("3q"))
            elif tag == 5:
                tier, zoom, columns, hz = r.get("BBHd")
                self.tiers[tier] = {"zoom": zoom, "columns": columns, "hz": hz}
            elif tag == 6:
                key = r.text()
                self.session["facts"][key] = r.text()
            elif tag == 7:
                c = dict(zip(("number", "tier", "column", "index", "lo", "hi", "warn", "crit", "period"),
                             r.get("IBHH4dq")))
                for key in ("name", "label", "kind", "unit", "family", "source", "note", "missing", "kernel",
                            "was"):
                    c[key] = r.text()
                c["window"], c["age"] = r.get("2q") if r.left() else (-1, 0)
                channels[c["tier"], c["column"]] = c
                self.channels[c["number"]] = c
            elif tag == 10:
                self.session["part"], self.session["previous"] = r.get("I"), r.text()
            elif tag == 11:
                if r.get("B") == 0 and any(c[0].kind == RANGE for c in self.chunks):
                    raise Damage("META denies the ranges before it")
        if channels:
            self.generations[h.generation] = channels

    def data(self, h, payload):
        if h.generation not in self.generations:
            raise Damage("generation")
        sections = data(h, payload)
        for tier, t, _, _ in sections:
            cells = self.rows.get(tier)
            if cells and t[0] <= cells[-1][1][-1]:
                raise Damage("older than rows before")
        for tier, t, columns, late in sections:
            v = {self.generations[h.generation][tier, c]["number"]: column for c, column in enumerate(columns)
                 if (tier, c) in self.generations[h.generation]}
            self.rows.setdefault(tier, []).append((h.cell, t, v, late))

    def late(self):
        """The gaps of single late ticks."""
        for tier, cells in self.rows.items():
            before = self.session["start"][0]
            for _, t, _, late in cells:
                for ns, was_late in zip(t, late):
                    if was_late:
                        yield {"tier": tier, "cause": 0, "from": before, "to": ns, "missed": 1}
                    before = ns

    def lines(self, rows):
        yield {"session": self.session, "tiers": self.tiers, "channels": list(self.channels.values())}
        for tier, cells in sorted(self.rows.items()) if rows else ():
            for _, t, v, _ in cells:
                for i, ns in enumerate(t):
                    yield {"tier": tier, "t": ns, "v": {k: c[i] for k, c in v.items() if not math.isnan(c[i])}}
        for r in self.ranges + list(self.again.values()):
            yield {"range": r}
        for key, events in (("mark", self.marks), ("gap", self.gaps), ("change", self.changes), ("event", self.events)):
            for k in sorted(events):
                yield {key: events[k]}
        yield {"end": self.end, "rows": {t: sum(len(c[1]) for c in cells) for t, cells in self.rows.items()},
               "late": {t: sum(sum(c[3]) for c in cells) for t, cells in self.rows.items()},
               "ranges": len(self.ranges) + len(self.again),
               "open": sum(r["flags"] & 1 for r in self.again.values()),
               "chunks": len(self.chunks), "unknown": self.unknown, "problems": self.problems}


if __name__ == "__main__":
    import json

    with open(sys.argv[-1], "rb") as f:
        recording = Recording(f.read())
    for line in recording.lines("--brief" not in sys.argv):
        print(json.dumps(line, ensure_ascii=False))
