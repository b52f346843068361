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
assert g["flood"]["energy_j"] is None and g["flood"]["reason"], g["flood"]
assert g["epoch"]["count"] == 1 and g["step"]["count"] == 9 and abs(g["step"]["energy_j"] - 40.5) <= g["step"]["energy_within_j"]'
ranges few.nvmt 5
run nvmtop report --by range few.nvmt
ok 'fewer than three readings: the reason' says out '^--: power is read fewer than three times'

# Two recordings: 20 % more power in the steps of the second, which has other ids and another name.
ranges more.nvmt 6 "" 18 1000
run nvmtop report --by range --format json run.nvmt more.nvmt
cp out two.json
two='
d = json.load(open("two.json"))
c = {(x["domain"], x["name"]): {q["quantity"]: q for q in x["quantities"]} for x in d["comparison"]}
def sides(domain, name, quantity): return c[domain, name][quantity]["sides"]'
ok 'the ranges of two' py "$two"'
assert len(d["traces"]) == 2 and len(c) == 10, c.keys()
q = c["", "aten::addmm"]["count"]
assert ([s["mean"] for s in q["sides"]], q["difference"], q["verdict"]) == ([18, 18], 0, None), q
assert abs(sides("DALI", "load", "time_per_range")[0]["mean"] - 0.1) < 1e-9
assert abs(c["DALI", "load"]["time_per_range"]["difference_percent"]) < 1e-6'
ok 'joules of one, with their bounds' py "$two"'
for name, joules, other, many in ("step", 4.5, 5.4, 9), ("epoch", 46, 54.1, 1):
    q = c["", name]["energy_per_range"]
    a, b = q["sides"]
    assert abs(a["mean"] - joules) <= a["within"] and abs(b["mean"] - other) <= b["within"], (a, b)
    g = {x["name"]: x for x in d["traces"][0]["groups"]}[name]
    assert abs(a["mean"] * many / g["energy_j"] - 1) < 0.01 and abs(a["within"] * many / g["energy_within_j"] - 1) < 1e-9
    assert abs(q["difference_within"] ** 2 - a["within"] ** 2 - b["within"] ** 2) < 1e-9
    assert abs(q["difference_percent"] - 100 * (other / joules - 1)) < 1.5'
ok 'no verdict on the programs' py "$two"'
assert not [q for x in c.values() for q in x.values() if q["verdict"] not in (None, "partly unknown")]'
ok 'what only one has' py "$two"'
q = c["flood", "flood"]["count"]
assert ([(s["n"], s["mean"]) for s in q["sides"]], q["difference"]) == ([(0, None), (1, 6)], None), q
assert sides("flood", "flood", "energy_per_range")[1]["reason"]'
run nvmtop report --by range --format csv run.nvmt more.nvmt
ok 'csv has what json has' py "$two"'
same = lambda text, v: text == (v or "") if v is None or isinstance(v, str) else float(text) == v
n = 0
for x in csv.DictReader(open("out")):
    q = c[x["domain"], x["name"]].get(x["quantity"])
    n += 1
    assert None not in x.values() and None not in x, x
    assert all(same(x[k], q[k]) for k in ("signal", "unit", "difference", "difference_percent", "difference_within", "verdict")), (x, q)
    assert all(same(x["ab"[i] + "_" + k], s[k]) for i, s in enumerate(q["sides"]) for k in ("n", "mean", "within", "coverage")), (x, q)
assert n == 3 * len(c), n'
run nvmtop report --by range run.nvmt more.nvmt
ok 'a table of them' says out '^step  *J  *4[.0-9]*  *0[.0-9]*  *5[.0-9]*  *0[.0-9]*  *+[12][0-9].[0-9] %  *+-[0-9.]* %$'
ok 'of which runs, and that it is these two' sh -c 'grep -q "difference of these two runs" out && ! grep "differs \|within noise" out'
ok 'only in one: said' says out '^flood: flood .* only in B$'
ok 'without joules, too' says out '^flood: flood  *J  *--  *--  *only in B$'
ok 'files are named as those of phases' is "$(head -2 out | tr '\n' ' ')" 'A: run.nvmt B: more.nvmt '
run nvmtop report --by range --format markdown run.nvmt more.nvmt
ok 'in Markdown' says out '^| step | J | 4.*| +[12][0-9].[0-9] % | +-[0-9.]* % |  |$'
run nvmtop report --by thread --format json run.nvmt more.nvmt
ok 'threads are the same without their ids' py '
c = {x["name"]: [s["mean"] for s in x["quantities"][0]["sides"]] for x in json.load(open("out"))["comparison"]}
assert c["python3 main"] == [37, 37] and c["python3 loader"] == [7, 7] and c["flood"] == [None, 3] == c["flood #2"], c'

# Runs of two programs, and of one.
for i in 1 2 3; do
    ranges a$i.nvmt 0 "" 15.$i
    ranges b$i.nvmt $i "" 18.$i $i
done
run nvmtop report --by range --format json a1.nvmt a2.nvmt a3.nvmt --against b1.nvmt b2.nvmt b3.nvmt
ok 'a run is one number, and the verdict is of the runs' py '
q = [x for x in json.load(open("out"))["comparison"] if x["name"] == "step"][0]["quantities"][2]
for s in q["sides"]:
    mean = sum(s["runs"]) / 3
    sd = (sum((x - mean) ** 2 for x in s["runs"]) / 2) ** 0.5
    assert len(s["runs"]) == s["n"] == 3 and abs(s["mean"] - mean) < 1e-9 and abs(s["sd"] - sd) < 1e-9, s
a, b = q["sides"]
assert abs(a["sd"] / b["sd"] - 1) < 0.01 and abs(q["difference_ci95"] / (2.776445 * (a["sd"] ** 2 / 3 + b["sd"] ** 2 / 3) ** 0.5) - 1) < 1e-3, q
assert q["verdict"] == "differs" and q["difference_within"] is None, q'
run nvmtop report --by range a1.nvmt a2.nvmt a3.nvmt --against b1.nvmt b2.nvmt b3.nvmt
ok 'in a table' says out '^step  *J  *4[.0-9]*  *0[.0-9]*  *5[.0-9]*  *0[.0-9]*  *+1[0-9].[0-9] %  *+-[0-9.]* % differs$'
ok 'the same count is no difference' says out '^step  *9  *0  *9  *0  *+0.0 %  *+-0.000 %$'
run nvmtop report --by range a1.nvmt a2.nvmt a3.nvmt
ok 'of one program a line a range' says out '^step  *9 +- 0  *300.0 +- 0.00  *4[.0-9]* +- 0[.0-9]*  *3$'
run nvmtop report --by range --format csv a1.nvmt a2.nvmt a3.nvmt
ok 'in csv' py '
x = [x for x in csv.DictReader(open("out")) if x["name"] == "step"]
assert [y["quantity"] for y in x] == ["count", "time_per_range", "energy_per_range"] and 0.025 < float(x[2]["sd"]) < 0.035, x
assert all(None not in y.values() and None not in y and "verdict" not in y for y in x)'

run nvmtop report --by range run.nvmt "$NVMTOP_SRC/tests/traces/demo.nvmt"
ok 'another power signal is not compared: said' says out 'its joules are those of power.total, and not compared'

run nvmtop report --by range --summary run.nvmt
ok '--summary is for phases' is "$status" 2
run nvmtop report --by range --per 5 run.nvmt
ok '--per is for phases' is "$status" 2
run nvmtop report --by colour run.nvmt
ok 'by what: said' says err 'phase, range, thread or domain'
"$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" waves.nvmt
run nvmtop report --by range waves.nvmt
ok 'no ranges: said' says out 'no ranges were recorded'
run nvmtop report --by range waves.nvmt waves.nvmt
ok 'in none of two: said' says out 'no ranges were recorded'
run nvmtop report --by range --format json waves.nvmt waves.nvmt
ok 'in none of two, as JSON' "$python" -c 'import json; d = json.load(open("out")); assert len(d["traces"]) == 2 and "comparison" not in d, d'
run nvmtop report --by range --format csv waves.nvmt waves.nvmt
ok 'in none of two, as CSV' is "$(cut -d, -f1-3 out)" name,domain,signal
nvmtop report waves.nvmt >one
run nvmtop report --by phase waves.nvmt
ok 'by phase is the report' cmp one out
done_testing
