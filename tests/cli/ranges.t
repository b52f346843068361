#!/bin/sh
# Ranges for other programs: each one once, with all that is known of it.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$NVMTOP_SRC/tests/tools
export PYTHONDONTWRITEBYTECODE PYTHONPATH
py() { "$python" -c "import csv, json, sys
from ranges import ranges
$1"; }
$EMU "$(dirname "$NVMTOP")/../tests/tools/ranges" ranges.nvmt

run nvmtop export csv ranges.nvmt
ok 'csv: each range, in order of begin' py '
rows = list(csv.DictReader(open("out", newline="")))
assert {len(list(r.values())) for r in rows} == {18} and not any(None in r.values() for r in rows)
got = [(float(r["time_s"]) * 1000, float(r["end_s"]) * 1000, r["event"], r["domain"], r["process"], int(r["pid"]),
        r["thread"], int(r["tid"]), int(r["depth"]), r["colour"] or None, r["payload"] and float(r["payload"]),
        r["open"] == "true", r["category"]) for r in rows if r["row"] == "range"]
want = [tuple("" if k == 10 and v is None else v for k, v in enumerate(r)) for r in ranges()]
assert sorted(got) == sorted(want), (got, want)
times = [float(r["time_s"]) for r in rows]
assert times == sorted(times)'
run nvmtop export csv --resample 10 --select gpu.util ranges.nvmt
ok 'csv, resampled: each range' py '
rows = [r for r in csv.DictReader(open("out", newline="")) if r["row"] == "range"]
assert sorted(r["event"] for r in rows) == sorted(r.name for r in ranges())'

run nvmtop export jsonl ranges.nvmt
ok 'jsonl: each range, in order of begin' py '
rows = [r for r in map(json.loads, open("out", encoding="utf-8")) if r.get("row") == "range"]
got = [(round(r["time_s"] * 1000), round(r["end_s"] * 1000), r["name"], r["domain"], r["process"], r["pid"], r["thread"],
        r["tid"], r["depth"], r["colour"], r["payload"], r["open"], r["category"]) for r in rows]
key = lambda r: str(r)
assert sorted(got, key=key) == sorted(map(tuple, ranges()), key=key), got
assert [r[0] for r in got] == [r.begin_ms for r in ranges()]'

run nvmtop export perfetto -o ranges.pftrace ranges.nvmt
"$python" "$NVMTOP_SRC/tests/tools/perfetto.py" ranges.pftrace >decoded
ok 'perfetto: slices on the track of their thread, and no other' py '
d = json.load(open("decoded"))
got = [(s[0] // 10**6 - 1000000, s[1] // 10**6 - 1000000, s[2], s[3], x[1], x[2], x[3])
       for s, x in zip(d["slices"], d["details"]) if not s[3].startswith("agx_orin/")]
want = []
for r in ranges():
    notes = {} if r.payload is None else {"payload": r.payload}
    if r.open:
        notes["open"] = 1
    path = "/".join([r.process] + [r.thread] * (r.tid != 0) + [r.domain or "NVTX"])
    want.append((r.begin_ms, r.end_ms, r.name, path, r.depth,
                 [r.domain or "default"] + [r.category] * (r.category != ""), notes))
assert sorted(map(str, got)) == sorted(map(str, want)), (got, want)
tracks = d["tracks"].values()
assert sorted(t["process"] for t in tracks if "process" in t) == [[100, "python3"], [200, "a,b\"c"]]
assert sorted(t["thread"] for t in tracks if "thread" in t) == [[100, 100, "main"], [100, 101, "loader"], [200, 200, ""]]
assert sum(t["name"] == "rpc" for t in tracks) == 2        # those that overlap do not nest'

run nvmtop export jsonl --from 1.1 --to 1.9 --tier slow ranges.nvmt
ok 'a stretch: the ranges that touch it' py '
got = [r["name"] for r in map(json.loads, open("out")) if r.get("row") == "range"]
assert sorted(got) == sorted(r.name for r in ranges() if r.begin_ms < 1900 and r.end_ms > 1100), got'
run nvmtop export jsonl --phase half --tier slow ranges.nvmt
ok 'a phase: the ranges that touch it' py '
got = [r["name"] for r in map(json.loads, open("out")) if r.get("row") == "range"]
assert sorted(got) == sorted(r.name for r in ranges() if r.end_ms > 2000), got'

# More of them than are kept in memory.
$EMU "$(dirname "$NVMTOP")/../tests/tools/ranges" flood.nvmt 1200000
run nvmtop export jsonl --tier slow flood.nvmt
ok 'a flood: each one, in order' py '
n = last = 0
for line in open("out", encoding="utf-8"):
    if "\"row\":\"range\"" in line:
        at = float(line[10:line.index(",")])
        assert at >= last, line
        n, last = n + 1, at
assert n == 1200000 + len(ranges()), n'
run nvmtop export csv --tier slow "$NVMTOP_SRC/tests/traces/demo.nvmt"
ok 'no ranges, no columns of them' sh -c '! head -n 1 out | grep -q end_s'
done_testing
