#!/bin/sh
# Each range is in a report, in every export, in a copy, in Python, and on the screen, also one that begins after the
# last row or before the first. What there is is known from the reader of the log that shares no code with nvmtop.
. "$NVMTOP_SRC/tests/cli/lib.sh"
find_python_module
build=${NVMTOP%/src/nvmtop}
cat >agree.py <<'END'
"""agree.py FILE COPY...: fails unless each part of nvmtop tells the same names of ranges and their numbers, of the copies, too
agree.py FILE --tell: the names and numbers"""
import collections
import csv
import io
import json
import os
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader

TOOLS = os.path.join(os.environ["NVMTOP_SRC"], "tests/tools")
log, perfetto = type(sys)("log"), type(sys)("perfetto")
SourceFileLoader("log", os.path.join(TOOLS, "nvmt-log.py")).exec_module(log)
SourceFileLoader("perfetto", os.path.join(TOOLS, "perfetto.py")).exec_module(perfetto)


def nvmtop(*args):
    return subprocess.run([*os.environ["EMU"].split(), os.environ["NVMTOP"], *args], stdout=subprocess.PIPE, check=True,
                          encoding="utf-8").stdout


def counted(names):
    return sorted(collections.Counter(re.split(", (?:seq|op_id) = ", n)[0] for n in names).items())


def in_log(file):
    with open(file, "rb") as f:
        r = log.Recording(f.read())
    return counted(x["name"] for x in [*r.ranges, *r.again.values()])


def in_jsonl(file):
    return counted(r["name"] for r in map(json.loads, nvmtop("export", "jsonl", file).splitlines()) if r.get("row") == "range")


def in_csv(file):
    return counted(r["event"] for r in csv.DictReader(io.StringIO(nvmtop("export", "csv", file))) if r["row"] == "range")


def in_perfetto(file):
    nvmtop("export", "perfetto", "-o", "x.pftrace", "--force", file)
    with open("x.pftrace", "rb") as f:
        d = perfetto.decode(f.read())
    return counted(s[2] for s in d["slices"] if s[3].startswith(("python3/", "a,b", "flood/", "marked/")))


def in_report(file):
    d = json.loads(nvmtop("report", "--by", "range", "--format", "json", file))
    return sorted((g["name"], g["count"]) for g in d["traces"][0]["groups"])


def on_screen(file):
    """As the view of names has them: a name after its domain, and the number."""
    lines = nvmtop("replay", "--no-config", "--print", "120x40", "--view", "ranges", file).splitlines()
    found = [re.match(r"[| ]*((?:[\w]+: )?\w.*?) +(\d+) +[\d.]+ ?[num]?s ", line) for line in lines]
    return sorted((re.sub(r"^\w+: ", "", m[1]), int(m[2])) for m in found if m)


def in_python(file):
    import nvmtop as module

    return counted(r.name for r in module.read_trace(file).ranges)


truth = in_log(sys.argv[1])
if sys.argv[2:] == ["--tell"]:
    print(truth)
    sys.exit()
ways = [in_log, in_jsonl, in_csv, in_perfetto, in_report, on_screen] + [in_python] * (os.environ["LIBRARY"] == "yes")
wrong = [f"{file}: {way.__name__}: {told}" for file in sys.argv[1:] for way in ways if (told := way(file)) != truth]
sys.exit("\n".join([*wrong, f"the truth: {truth}"]) if wrong else 0)
END
# A library with sanitizers ends the Python that loads it.
LIBRARY=
test -z "$EMU" && "$python" -c 'import nvmtop' 2>err && LIBRARY=yes
export NVMTOP EMU LIBRARY
agrees() { "$python" agree.py "$@"; }
in_log() { "$python" agree.py "$1" --tell; }
# FILE NAME: of all of it, and of a copy of all of it
all_agree() {
    run nvmtop cut "$1" --from 0 --force -o copy.nvmt
    ok "$2: all agree, and a copy has as many and says the same" agrees "$1" copy.nvmt
}

for hz in 0 1 10 1000; do
    $EMU "$build/tests/tools/ranges" $hz.nvmt 4000 "" 15 0 $hz
    all_agree $hz.nvmt "rows at $hz Hz"
done
in_log 1.nvmt >out
ok 'as many as were made' says out "('flood', 4000)"

# Three parts: the edges are in nested ranges, in two that overlap, and in one that is open at the end.
parts() {
    rm -f part?.nvmt
    nvmtop cut "$1" --to 1.265 -o part1.nvmt && nvmtop cut "$1" --from 1.265 --to 3.25 -o part2.nvmt &&
        nvmtop cut "$1" --from 3.25 -o part3.nvmt
}
for hz in 1 1000; do
    run parts $hz.nvmt
    ok "parts at $hz Hz" is "$status" 0
    ok "parts at $hz Hz: all agree on the second" agrees part2.nvmt
done
nvmtop export jsonl part2.nvmt >rows
ok 'a part has begin and end of what goes beyond it' "$python" -c 'import json
r = {x["name"]: (round(x["time_s"], 6), round(x["end_s"], 6), x["open"]) for x in map(json.loads, open("rows")) if x.get("row") == "range"}
assert r["epoch"] == (-1.165, 2.635, False) and r["request 1"] == (-0.265, 0.235, False), r
assert r["server"] == (1.735, 2.735, True), r'
run nvmtop report part2.nvmt --format csv
ok 'and does not last as long as that' "$python" -c 'import csv
t = [float(r["to_s"]) for r in csv.DictReader(open("out"))]
assert max(t) <= 1.985 + 1e-6, max(t)'

# Of a program that is recorded, whose ranges are open at its end.
unset NVTX_INJECTION64_PATH NVMTOP_NVTX NVMTOP_NVTX_DIR
for hz in 1 10 1000; do
    run nvmtop record --demo --nvtx --stats --fast-hz $hz --medium-hz 1 --slow-hz 1 --force -o open.nvmt -- $EMU "$build/tests/tools/marked" open
    ok "open at the end, $hz Hz: as many as were made" is "$(in_log open.nvmt)" "[('copy', 3), ('request', 1), ('run', 1), ('step', 3)]"
    ok "open at the end, $hz Hz: in the table of --stats" says err '^run  *1 '
    all_agree open.nvmt "open at the end, $hz Hz"
done
done_testing
