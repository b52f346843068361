#!/bin/sh
# Each range is in a report, in every export, in a copy, in Python, and on the screen, also one that begins after the
# last row or before the first. What there is is known from the reader of the log that shares no code with nvmtop.
. "$NVMTOP_SRC/tests/cli/lib.sh"
find_python_module
build=${NVMTOP%/src/nvmtop}
tools=$NVMTOP_SRC/tests/tools
library() { test -z "$EMU" && "$python" -c 'import nvmtop' 2>err; }

# tells FILE: the names of its ranges with their numbers, as each part of nvmtop tells them
in_log() {
    "$python" "$tools/nvmt-log.py" --brief "$1" | "$python" -c 'import collections, json, re, sys
r = [x["range"] for x in map(json.loads, sys.stdin) if "range" in x]
c = collections.Counter(re.split(", (?:seq|op_id) = ", x["name"])[0] for x in r)
print(sorted(c.items()))'
}
counted='
print(sorted(collections.Counter(re.split(", (?:seq|op_id) = ", n)[0] for n in names).items()))'
in_jsonl() {
    nvmtop export jsonl "$1" | "$python" -c 'import collections, json, re, sys
names = [r["name"] for r in map(json.loads, sys.stdin) if r.get("row") == "range"]'"$counted"
}
in_csv() {
    nvmtop export csv "$1" | "$python" -c 'import collections, csv, re, sys
names = [r["event"] for r in csv.DictReader(sys.stdin) if r["row"] == "range"]'"$counted"
}
in_perfetto() {
    nvmtop export perfetto -o x.pftrace --force "$1" && "$python" "$tools/perfetto.py" x.pftrace | "$python" -c 'import collections, json, re, sys
d = json.load(sys.stdin)
names = [s[2] for s in d["slices"] if s[3].startswith(("python3/", "a,b", "flood/", "marked/"))]'"$counted"
}
in_report() {
    nvmtop report --by range --format json "$1" | "$python" -c 'import json, sys
print(sorted((g["name"], g["count"]) for g in json.load(sys.stdin)["traces"][0]["groups"]))'
}
in_python() {
    "$python" -c 'import collections, re, sys, nvmtop
names = [r.name for r in nvmtop.read_trace(sys.argv[1]).ranges]'"$counted" "$1"
}
# As the view of names has them: a name after its domain, and the number.
on_screen() {
    nvmtop replay --no-config --print 120x40 --view ranges "$1" | "$python" -c 'import re, sys
out = []
for line in sys.stdin:
    m = re.match("[| ]*((?:[\\w]+: )?\\w.*?) +(\\d+) +[\\d.]+ ?[num]?s ", line)
    if m:
        out.append((re.sub("^\\w+: ", "", m.group(1)), int(m.group(2))))
print(sorted(out))'
}
agrees() {
    truth=$(in_log "$1")
    for where in jsonl csv perfetto report; do
        is "$where: $(in_$where "$1")" "$where: $truth" || return 1
    done
    is "$(on_screen "$1")" "$truth" || return 1
    library || return 0
    is "$(in_python "$1")" "$truth"
}
# FILE NAME: of all of it, and of a copy of all of it
all_agree() {
    ok "$2: all agree" agrees "$1"
    run nvmtop cut "$1" --from 0 --force -o copy.nvmt
    ok "$2: a copy has as many" is "$(in_log copy.nvmt)" "$(in_log "$1")"
    ok "$2: and says the same" agrees copy.nvmt
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
