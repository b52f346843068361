#!/usr/bin/env python3
"""Compares a JSON report of waves() of nvmt_write.py, on standard input, with a plain
calculation from the values written to the trace.

  report_truth.py "dict(seconds=20.0)" [plain]
"""
import json
import math
import sys

from nvmt_write import f32, waves

bad = []


def near(what, got, want, tolerance=1e-11):
    if got is None or abs(got - want) > tolerance * max(1, abs(want)):
        bad.append(f"{what}: {got} instead of {want}")


def rank(v, q):
    return v[max(0, math.ceil(q * len(v) - 1e-9) - 1)]


def values(t, name):
    if name.endswith(".power"):
        pairs = zip(t.data[name[:-6] + ".voltage"], t.data[name[:-6] + ".current"])
        return [f32(v * a / 1000) for v, a in pairs]
    if name == "temp.hottest" and name not in t.data:       # of the zones of version 1
        zones = [v for k, v in t.data.items() if k.startswith("temp.")]
        return [max((x for x in row if x is not None), default=None) for row in zip(*zones)]
    return t.data[name]


def check_signal(t, p, s, a, b, plain):
    tier = ("fast", "medium", "slow").index(s["tier"])
    what = f"{p['phase']} {s['name']}"
    v = [x for x, at in zip(values(t, s["name"]), t.times[tier]) if a <= at < b]
    if s["name"] == "gpu.util" and plain:   # version 1 cannot express missing values
        v = [x or 0.0 for x in v]
    kept = sorted(x for x in v if x is not None)
    near(what + " samples", s["samples"], len(kept))
    near(what + " missing", s["missing"], len(v) - len(kept))
    if not kept:
        if s["mean"] is not None or s["p50"] is not None:
            bad.append(what + " has numbers without a sample")
        return 0
    if s["name"] in ("ticks.n", "spent.j", "events.n"):     # counters: their increase up to b
        first = [x for x, at in zip(values(t, s["name"]), t.times[tier]) if at <= a] or kept
        rise = [x for x, at in zip(values(t, s["name"]), t.times[tier]) if at <= b]
        near(what + " rise", s["rise"], rise[-1] - first[-1 if first is not kept else 0])
        if [s[key] for key in ("mean", "sd", "p50", "p95", "p99")] != [None] * 5:
            bad.append(what + " is a counter and has a mean")
        return 1
    mean = math.fsum(kept) / len(kept)
    near(what + " mean", s["mean"], mean)
    if len(kept) > 1:
        near(what + " sd", s["sd"], math.sqrt(math.fsum((x - mean) ** 2 for x in kept) / (len(kept) - 1)), 1e-9)
    want = [kept[0], rank(kept, 0.5), rank(kept, 0.95), rank(kept, 0.99), kept[-1]]
    got = [s[key] for key in ("min", "p50", "p95", "p99", "max")]
    # Quantiles of more samples than are sorted come from bins.
    off = 1e-3 * (kept[-1] - kept[0]) if len(kept) > 65536 else 0
    if any(abs(x - y) > off for x, y in zip(got, want)):
        bad.append(f"{what}: {got} instead of {want}")
    return 1


def main():
    d = json.load(sys.stdin)["traces"][0]
    t = waves(**eval(sys.argv[1]))
    t.complete()       # computes the rest
    end = max(x[-1] for x in t.times) + 1
    bounds = [0] + [m[0] for m in t.marks] + [end]
    if len(d["phases"]) != len(bounds) - 1:
        sys.exit(f"{len(d['phases'])} phases")
    parts = list(zip(d["phases"], bounds, bounds[1:])) + [(d["whole"], 0, end)]
    checked = sum(check_signal(t, p, s, a, b, len(sys.argv) > 2) for p, a, b in parts for s in p["signals"])
    print(checked, "checked,", len(bad), "wrong", *bad[:20], sep="\n")
    sys.exit(1 if bad or checked < 10 * len(parts) else 0)


main()
