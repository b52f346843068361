#!/bin/sh
# How long something was throttled is one number: in the summary of record, the report, on the line of what
# limits, among the events, and in the Thermal view.  The truth is when a file had which content.  It is in the
# fast tier, whose rows are read by the thread that makes them: their times are those of the readings.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$NVMTOP_SRC/tests/tools
export PYTHONDONTWRITEBYTECODE PYTHONPATH

mkdir root
echo 0 >root/throttle
printf 'board throttled\ntitle Throttled\nfast wave gpu.util = 5\n' >throttled.board
echo 'fast value throttle.gpu-throttle-alert label=gpu-throttle-alert path=/throttle' >>throttled.board
cat >flip.py <<'END'
import sys, time
def put(text):
    with open("root/throttle", "r+") as f:
        f.write(text)
    return time.clock_gettime(time.CLOCK_MONOTONIC)
time.sleep(0.62)
begun = put("1")
time.sleep(1.27)
ended = put("0")
time.sleep(0.55)
print(begun, ended)
END
run nvmtop record -o run.nvmt --board ./throttled.board --sysroot root --fast-hz 10 -- "$python" flip.py
ok 'recorded' test "$status" = 0
cp out flipped
cp err summary
nvmtop report --format json run.nvmt >report.json
nvmtop export csv --select 'throttle*' run.nvmt >rows.csv
cat >judge.py <<'END'
import csv, json, re, sys
begun, ended = map(float, open("flipped").read().split())
rows = [r for r in csv.reader(l for l in open("rows.csv") if not l.startswith("#")) if r[1:2] == ["fast"]]
at = [float(r[0]) for r in rows]
longest = max(b - a for a, b in zip(at, at[1:]))
report = [s for s in json.load(open("report.json"))["traces"][0]["whole"]["signals"]
          if s["name"].startswith("throttle")][0]["throttled_s"]
texts = {"summary": (open("summary").read(), r"throttle\S* for ([0-9.]+) s"),
         "limit": (open("thermal").read(), r"limit: .*GPU throttled ([0-9.]+) s"),
         "events": (open("signals").read(), r"events .* ([0-9.]+) s"),
         "thermal": (open("thermal").read(), r"\n +gpu +([0-9.]+) s")}
said = {}
for place, (text, pattern) in texts.items():
    found = re.search(pattern, text)
    said[place] = found and found[1]
print("# file %.3f s, report %.3f s, %s" % (ended - begun, report, said))
# Each edge is seen by the next reading: on a machine that stalls, the readings are further apart.
if sys.argv[1] == "truth":
    sys.exit(abs(report - (ended - begun)) > longest)
sys.exit(any(text is None or text != "%.1f" % report for text in said.values()))
END
# A tenth of a second after the first reading that is 0 again.
after=$("$python" -c 'import csv
rows = [r for r in csv.reader(l for l in open("rows.csv") if not l.startswith("#")) if r[1:2] == ["fast"]]
last = max(i for i, r in enumerate(rows) if r[-1] == "1")
print("%.3f" % (float(rows[last + 1][0]) + 0.1))')
for view in thermal signals; do
    nvmtop --print 120x30 --replay run.nvmt --at "$after" --view $view >$view 2>err
done
ok 'the report has the time for which the file had it' "$python" judge.py truth
ok 'summary, limit line, events and Thermal say the same as the report' "$python" judge.py same
"$python" judge.py same

# Throttled from 1.1 to 1.3 s. A phase that begins between two readings has what lies in it.
"$python" -c 'import nvmt_write as w
t = w.Trace()
t.extra = [("throttle.x", "throttle", 2, "", "heat")]
for i in range(30):
    t.row(2, i * 100_000_000, **{"throttle.x": float(11 <= i < 13)})
for i in range(3000):
    t.row(0, i * 1_000_000, **{"gpu.util": 0})
t.marks = [(1_010_000_000, "a"), (1_250_000_000, "b")]
open("mark.nvmt", "wb").write(t.log())'
nvmtop report --format json mark.nvmt >mark.json
ok 'a phase has the part that lies in it' "$python" -c 'import json
t = json.load(open("mark.json"))["traces"][0]
of = lambda p: [s for s in p["signals"] if s["name"] == "throttle.x"][0]["throttled_s"]
said = [round(of(p), 6) for p in t["phases"] + [t["whole"]]]
print(said)
assert said == [0, 0.15, 0.05, 0.2]'

# States of 5 ms, 20 ms and 3.6 s, and one that flickers, 5 ms of each 10 for a second, in files of which they are the
# content: at each place for as long as that, and for no longer than the part that is in it.
"$python" -c 'import nvmt_write as w
t = w.Trace()
name = "throttle.gpu-throttle-alert"
t.extra = [(name, "throttle", 0, "", "heat")]
on = [(2000, 2005), (6000, 6020), (10000, 13600)] + [(18000 + 10 * k, 18005 + 10 * k) for k in range(100)]
for i in range(24001):
    t.row(0, i * 1_000_000, **{"gpu.util": 0, name: float(any(a <= i < b for a, b in on))})
open("states.nvmt", "wb").write(t.log())'
cat >said.py <<'END'
import csv, json, re, sys
s, shown = float(sys.argv[1]), sys.argv[2]
name = "throttle.gpu-throttle-alert"
signals = json.load(open("part.json"))["traces"][0]["whole"]["signals"]
lines = list(csv.DictReader(l for l in open("part.csv") if not l.startswith("#")))
said = {"json": [r["throttled_s"] for r in signals if r["name"] == name][0],
        "csv": float([r["throttled_s"] for r in lines if name in r.values()][-1]),
        "text": float(re.search(r"throttled for ([0-9.]+) s", open("part.txt").read())[1])}
screen = {"thermal": re.search(r"\n +\S*throttle\S* +([0-9.]+ s)", open("thermal").read()),
          "events": re.search(r"events .* ([0-9.]+ s)", open("signals").read())}
screen = {k: m and m[1] for k, m in screen.items()}
print("#", said, screen)
assert all(abs(v - s) < 1e-6 for v in said.values()), said
assert all(v == shown for v in screen.values()), screen
END
# lasts FROM TO SECONDS ON-THE-SCREEN: what is said of that part
lasts() {
    rm -f part.nvmt
    nvmtop cut states.nvmt --from "$1" --to "$2" -o part.nvmt
    nvmtop report --all part.nvmt >part.txt
    nvmtop report --format json part.nvmt >part.json
    nvmtop report --format csv part.nvmt >part.csv
    for view in thermal signals; do
        nvmtop --print 120x30 --replay part.nvmt --view $view >$view 2>err
    done
    "$python" said.py "$3" "$4"
}
ok 'a state of 5 ms' lasts 1 4 0.005 '0.005 s'
ok 'one of 20 ms' lasts 5 8 0.020 '0.020 s'
ok 'one of 3.6 s' lasts 9 15 3.6 '3.6 s'
ok 'the part of it that is in a file, up to its last row' lasts 9 11.5 1.499 '1.5 s'
ok 'one that flickers, without its pauses' lasts 17 20 0.5 '0.5 s'
ok 'and a part of that' lasts 18.2 20 0.4 '0.4 s'

# States of 5 and 20 ms, and of 30 ms 20 ms apart. What the rows have is the truth: a busy machine may have no row in one.
cat >flicker.py <<'END'
import time
def put(text, s):
    with open("root/throttle", "r+") as f:
        f.write(text)
    time.sleep(s)
time.sleep(0.4)
for _ in range(4):
    for on in (0.005, 0.02):
        put("1", on)
        put("0", 0.3)
for _ in range(3):
    put("1", 0.03)
    put("0", 0.02)
time.sleep(0.4)
END
run nvmtop record -o short.nvmt --board ./throttled.board --sysroot root --fast-hz 1000 -- "$python" flicker.py
nvmtop export csv --select 'throttle*' short.nvmt >rows.csv
"$python" "$NVMTOP_SRC/tests/tools/nvmt-log.py" --brief short.nvmt >brief.jsonl
cat >events.py <<'END'
import csv, json
rows = [(float(r[0]), r[-1] == "1") for r in csv.reader(l for l in open("rows.csv") if not l.startswith("#")) if r[1:2] == ["fast"]]
lines = [json.loads(l) for l in open("brief.jsonl")]
start = lines[0]["session"]["start"][0]
truth, on = [], None
for i, (t, v) in enumerate(rows):
    stalled = i > 0 and t - rows[i - 1][0] > 0.005 # time in a gap does not count
    if on is not None and (stalled or not v):
        end = rows[i - 1][0] if stalled else t
        if truth and on - truth[-1][1] < 0.1:
            truth[-1] = truth[-1][0], end, truth[-1][2] + 1
        else:
            truth.append((on, end, 1))
        on = None
    if v and on is None:
        on = t
events = [((e["from"] - start) / 1e9, (e["to"] - start) / 1e9, e["count"]) for e in (l["event"] for l in lines if "event" in l)]
print("# of the rows:", [(round(a, 3), round(1000 * (b - a), 1), n) for a, b, n in truth])
assert len(events) == len(truth) >= 3, (events, truth)
assert all(abs(a - c) < 1e-6 and abs(b - d) < 1e-6 and n == m for (a, b, n), (c, d, m) in zip(events, truth)), (events, truth)
END
ok 'each short state is an event, and one that flickers is one' "$python" events.py
"$python" events.py

# A recorder that is killed has said that it began.
$EMU "$NVMTOP" record -o killed.nvmt --board ./throttled.board --sysroot root 2>err & # not by the function: itself is killed
recorder=$!
grown() { "$python" "$NVMTOP_SRC/tests/tools/nvmt-log.py" --brief killed.nvmt 2>&1 | grep -q "$1"; }
soon grown '"rows": {"0": [0-9]'
echo 1 >root/throttle
soon grown '"event"'
kill -9 $recorder
wait $recorder 2>wait
echo 0 >root/throttle
"$python" "$NVMTOP_SRC/tests/tools/nvmt-log.py" --brief killed.nvmt >brief.jsonl
ok 'an event that goes on is in the file' "$python" -c 'import json
events = [json.loads(l)["event"] for l in open("brief.jsonl") if l.startswith("{\"event")]
assert [e["flags"] for e in events] == [1], events'
done_testing
