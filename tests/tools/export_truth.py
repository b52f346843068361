#!/usr/bin/env python3
"""Compares exports of waves() with the values written to the trace.

  export_truth.py csv|jsonl|perfetto FILE
"""
import csv
import gc
import json
import sys

from nvmt_write import START_BOOT, START_MONO, START_REAL, f32, waves

TIERS = ("fast", "medium", "slow")
t = waves()
t.complete()
for r in t.rails:
    pairs = zip(t.data[r + ".voltage"], t.data[r + ".current"])
    t.data[r + ".power"] = [f32(v * a / 1000) for v, a in pairs]
MARKS = [(m[0], i + 1, m[1]) for i, m in enumerate(t.marks)]


def tier_of(name):
    n = len(t.data[name])
    return [len(x) for x in t.times].index(n)


def ns(text):
    whole, part = text.split(".")
    assert len(part) == 9, text
    return int(whole) * 10 ** 9 + int(part)


def same(name, want, got):
    """A float in the file is printed as a float: 17.2, not 17.200000762939453."""
    if want is None or got is None:
        return want is got
    single = name.startswith(("cpu", "emc", "temp")) or name.endswith(".power")
    return want == (f32(got) if single else got) and (not single or len(repr(got)) <= 16)


def compare(rows, marks, gaps):
    """rows: tier -> [(ns, {name: value})]"""
    for tier, word in enumerate(TIERS):
        assert [r[0] for r in rows[word]] == t.times[tier], word
        for i, (_, values) in enumerate(rows[word]):
            for name, v in values.items():
                assert same(name, t.data[name][i], v), (word, i, name, v, t.data[name][i])
    names = {n for word in TIERS for n in rows[word][0][1]}
    assert names == set(t.data), names ^ set(t.data)
    assert marks == MARKS, marks
    assert gaps == 2, gaps


def from_csv(path):
    rows, marks, gaps, starts, last = {w: [] for w in TIERS}, [], 0, 0, -1
    with open(path, newline="") as f:
        table = csv.reader(f)
        head = [c.split(" [")[0] for c in next(table)]
        tiers = {n: TIERS[tier_of(n)] for n in head[4:]}
        for line in table:
            assert len(line) == len(head)
            at, row, _, event = ns(line[0]), *line[1:4]
            if row == "mark":
                marks.append((at, int(line[2]), event))
            elif row == "gap":
                gaps += 1
            elif row == "start":
                assert (at, event) == (0, "2023-11-14T22:13:20.000000000Z"), event
                starts += 1
            else:
                assert at >= last, "not in the order of time"
                last = at
                cells = dict(zip(head[4:], line[4:]))
                assert all(not v for n, v in cells.items() if tiers[n] != row)
                rows[row].append((at, {n: float(v) if v else None for n, v in cells.items() if tiers[n] == row}))
    assert starts == 1
    compare(rows, marks, gaps)


def from_jsonl(path):
    rows, marks, gaps = {w: [] for w in TIERS}, [], 0
    with open(path) as f:
        first = json.loads(next(f))["trace"]
        assert first["start"] == {"monotonic_ns": START_MONO, "realtime_ns": START_REAL, "boottime_ns": START_BOOT}
        assert first["facts"]["board"] == "test_board" and first["hz"] == {"fast": 1000, "medium": 100, "slow": 10}
        for line in f:
            at = ns(line[len('{"time_s":'):line.index(",")])
            v = json.loads(line)
            del v["time_s"], v["phase"]
            row = v.pop("row")
            if row == "mark":
                marks.append((at, len(marks) + 1, v["label"]))
            elif row == "gap":
                gaps += v["missed"] in (10, 50)
            else:
                rows[row].append((at, v))
    compare(rows, marks, gaps)


def from_perfetto(path):
    from perfetto import decode

    with open(path, "rb") as f:
        d = decode(f.read())
    assert d["clocks"] == {1: START_REAL, 3: START_MONO, 6: START_BOOT}, d["clocks"]
    for name, values in t.data.items():
        times = t.times[tier_of(name)]
        want = [(START_MONO + at, 3, v) for at, v in zip(times, values) if v is not None]
        assert d["counters"].get(name, []) == want, name
    tracks = {x["name"]: x for x in d["tracks"].values()}
    assert tracks["ramp.power"]["counter"]["unit_name"] == "mW"
    assert tracks["ram.used"]["counter"] == {"unit": 3, "multiplier": 1024, "unit_name": ""}
    (board,) = [u for u, x in d["tracks"].items() if x["parent"] is None]
    assert d["tracks"][board]["name"] == "A test"
    assert "made up" in tracks["ramp.power"]["description"], tracks["ramp.power"]
    ranks = sorted((x["rank"], n) for n, x in tracks.items() if n.startswith("ramp."))
    assert [n for _, n in ranks] == ["ramp.voltage", "ramp.current", "ramp.power"], ranks
    marks = [(at, name) for at, where, name in d["instants"] if where == "marks"]
    assert marks == [(START_MONO + at, f"mark {i}: {label}") for at, i, label in MARKS], marks
    assert len(d["instants"]) == len(MARKS)
    gaps = [s for s in d["slices"] if "/gaps/" in s[3]]
    want = [(START_MONO + a, START_MONO + b, f"{n} ticks {('late', 'lost')[cause]}", "A test/gaps/" + TIERS[tier])
            for tier, cause, a, b, n in t.gaps]
    assert gaps == want, gaps
    d["slices"] = [s[:3] for s in d["slices"] if "/gaps/" not in s[3]]
    bounds = [START_MONO] + [m[0] for m in marks] + [START_MONO + max(x[-1] for x in t.times)]
    assert [(a, b) for a, b, _ in d["slices"]] == list(zip(bounds, bounds[1:])), d["slices"]
    assert d["slices"][1][2] == "phase 1: work"


gc.disable()  # there are no cycles, and many objects
{"csv": from_csv, "jsonl": from_jsonl, "perfetto": from_perfetto}[sys.argv[1]](sys.argv[2])
