#!/bin/sh
# Reports by range, thread and domain of a trace whose ranges and power are known.
. "$NVMTOP_SRC/tests/cli/lib.sh"
ranges() { $EMU "$(dirname "$NVMTOP")/../tests/tools/ranges" "$@"; }
py() { "$python" -c "import csv, json
$1"; }
load='
g = {x["name"]: x for x in json.load(open("out"))["traces"][0]["groups"]}'
ranges run.nvmt
run nvmtop report --by range --format json run.nvmt
cp out range.json
ok 'by range' is "$status" 0
ok 'counts, and names without what differs in each call' py "$load"'
n = {k: x["count"] for k, x in g.items()}
assert n["aten::addmm"] == 18 and n["step"] == 9 and n["load"] == 7 and len(n) == 9, n
assert g["load"]["domain"] == "DALI" and g["step"]["domain"] == ""'
ok 'total and mean time' py "$load"'
assert abs(g["step"]["total_s"] - 2.7) < 1e-9 and abs(g["step"]["mean_s"] - 0.3) < 1e-9'
ok 'joules within their bound' py "$load"'
for name, joules in ("epoch", 46), ("step", 40.5), ("forward", 13.5), ("aten::addmm", 5.4), ("load", 9):
    x = g[name]
    assert abs(x["energy_j"] - joules) <= x["energy_within_j"] < 0.2 * joules, x'
ok 'without nested ranges' py "$load"'
assert abs(g["epoch"]["own_s"] - 1.1) < 1e-9 and abs(g["step"]["own_s"] - 1.8) < 1e-9
assert abs(g["epoch"]["own_energy_j"] - 5.5) <= g["epoch"]["own_energy_within_j"], g["epoch"]'
ok 'GPU load within and after' py "$load"'
assert abs(g["step"]["gpu_percent"] - 90) < 0.5 and abs(g["load"]["gpu_percent"] - 77.3) < 2
# after a step 50 of 100 ms, and the last one has 300 ms
assert abs(g["step"]["after_gpu_percent"] - 90 * 9 * 50 / (8 * 100 + 300)) < 2, g["step"]'
run nvmtop report --by thread --format csv run.nvmt
ok 'by thread' py '
g = {x["name"]: x for x in csv.DictReader(open("out"))}
assert g["python3 main 100/100"]["count"] == "37" and len(g) == 4, g'
run nvmtop report --by thread run.nvmt
ok 'the table has whole names of threads' is "$(grep -c '^python3 loader 100/101 ' out)" 2
ok 'and its columns are aligned' is "$(sed -n '/^thread/,/^$/p' out | awk 'NF { print length }' | sort -u | wc -l)" 1
run nvmtop report --by domain run.nvmt
ok 'by domain' says out '^default  *39 '
ok 'load that goes on is marked' says out '^>: the GPU goes on'
run nvmtop report --by range --format csv run.nvmt
ok 'csv has what json has' py '
a = json.load(open("range.json"))["traces"][0]["groups"]
b = list(csv.DictReader(open("out")))
assert [{k: "" if v is None else str(v) for k, v in x.items() if isinstance(v, str)} for x in a] == \
    [{k: y[k] for k, v in x.items() if isinstance(v, str)} for x, y in zip(a, b)]
assert all(v is None or isinstance(v, str) or float(y[k]) == v for x, y in zip(a, b) for k, v in x.items())'
run nvmtop report --by range --format markdown run.nvmt
ok 'markdown' says out '^| step | 9 |'
run nvmtop report --by range --from 1 --to 2 --format json run.nvmt
ok 'a part of the time' py "$load"'
assert abs(g["epoch"]["total_s"] - 1) < 1e-9 and "server" not in g, g'
run nvmtop report --by range --phase half --format json run.nvmt
ok 'a phase' py "$load"'
assert "load" in g and "request 1" not in g and g["epoch"]["count"] == 1, sorted(g)'
run nvmtop report --by range --select VDD_IN.power run.nvmt
ok 'the joules of a rail' says out 'are those of VDD_IN.power'
run nvmtop report --by range --select nonesuch run.nvmt
ok 'of no rail: status 1' is "$status" 1
ok 'of no rail: said' says err 'nonesuch'

# More than fit into one part, which readings cannot tell from what is between them.
ranges flood.nvmt 600000
run nvmtop report --by range --format json flood.nvmt
ok 'all of many are counted' py "$load"'
assert g["flood"]["count"] == 600000 and abs(g["flood"]["total_s"] - 0.6) < 1e-9, g["flood"]
assert g["flood"]["energy_within_j"] > g["flood"]["energy_j"] / 2, g["flood"]
assert g["epoch"]["count"] == 1 and g["step"]["count"] == 9 and abs(g["step"]["energy_j"] - 40.5) <= g["step"]["energy_within_j"]'
ranges few.nvmt 5
run nvmtop report --by range few.nvmt
ok 'fewer than three readings: the reason' says out '^--: power is read fewer than three times'

run nvmtop report --by range --summary run.nvmt
ok '--summary is for phases' is "$status" 2
run nvmtop report --by range --per 5 run.nvmt
ok '--per is for phases' is "$status" 2
run nvmtop report --by colour run.nvmt
ok 'by what: said' says err 'phase, range, thread or domain'
"$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" waves.bin
run nvmtop report --by range waves.bin
ok 'no ranges: said' says out 'no ranges were recorded'
nvmtop report waves.bin >one
run nvmtop report --by phase waves.bin
ok 'by phase is the report' cmp one out
done_testing
