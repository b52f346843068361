#!/bin/sh
# Numbers out of traces whose numbers are known: by formula, and by a plain
# calculation over the values that an independent writer put in.
. "$NVMTOP_SRC/tests/cli/lib.sh"
TZ=UTC0
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$NVMTOP_SRC/tests/tools
export TZ PYTHONDONTWRITEBYTECODE PYTHONPATH
write() { "$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" "$@"; }
truth() {
    file=$1
    shift
    "$python" "$NVMTOP_SRC/tests/tools/report_truth.py" "$@" <"$file"
}
cat >pick.py <<'END'
import json, sys
d = json.load(sys.stdin)
w = d["traces"][0]["whole"]
e = d["traces"][0]["phases"]
s = {x["name"]: x for x in w["signals"]}
def es(i): return {x["name"]: x for x in e[i]["signals"]}
def near(a, b, tolerance): return abs(a - b) <= tolerance
sys.exit(0 if eval(sys.argv[1]) else json.dumps(d, indent=1)[:3000])
END
holds() { "$python" pick.py "$2" <"$1"; }

write waves.nvmt
run nvmtop report --format json waves.nvmt
ok 'a trace of an independent writer' is "$status" 0
cp out waves.json
ok 'every statistic of every signal and phase' truth waves.json '{}'
# 200 J less 0.11 s at 12.095 W on average that nobody recorded
ok 'energy of a ramp' holds waves.json "near(s['ramp.power']['energy_j'], 200 - 0.11 * 12.095, 1e-6)"
ok 'energy of whole sine waves' holds waves.json "near(es(1)['wave.power']['energy_j'], 10, 1e-3)"
ok 'time that is not covered is not bridged' holds waves.json "near(s['ramp.power']['covered_s'], 19.89, 1e-9)"
ok 'mean power is over the time that is covered' \
    holds waves.json "near(s['ramp.power']['mean_power_w'], 198.66955 / 19.89, 1e-6)"
ok 'the energies of the phases are that of the whole' holds waves.json \
    "near(sum(es(i)['ramp.power']['energy_j'] for i in range(len(e))), s['ramp.power']['energy_j'], 1e-9)"
# The sampler was late before it had made a row.
"$python" -c 'import nvmt_write as w
t = w.Trace()
for i in range(1000):
    t.row(0, 5_000_000 + i * 1_000_000, **{"gpu.util": 1})
t.gaps.append((0, 0, 0, 5_000_000, 4))
open("late.nvmt", "wb").write(t.log())'
nvmtop report --format json late.nvmt >late.json
ok 'a gap before the first row counts' holds late.json "[x['ticks']['fast']['late'] for x in (w, e[0])] == [4, 4]"
ok 'temperature rise' holds waves.json "s['temp.cpu']['rise'] == 20"
ok 'time throttled' holds waves.json "near(s['throttle.x']['throttled_s'], 2.5, 1e-9)"
ok 'late and lost ticks, where they were' holds waves.json \
    "w['ticks']['fast']['late'] == 50 and e[1]['ticks']['fast']['late'] == 50 and w['ticks']['medium']['lost'] == 10"
ok 'phases and their labels' holds waves.json "[x['label'] for x in e] == [''] + ['work', 'rest'] * 4 + ['work']"
ok 'their times' holds waves.json "(e[1]['from_s'], e[1]['to_s'], e[9]['to_s']) == (2, 4, 20)"
ok 'the median of a ramp is its middle' holds waves.json "near(s['cpu0.util']['p50'], 50, 0.15)"

run nvmtop --print 80x24 --replay waves.nvmt --view signals
ok 'it is shown, too' says out 'wave .*5.0 W'
run nvmtop --print 80x24 --replay waves.nvmt
ok 'a size that is not known is left out' says out 'RAM 1.0 GiB'

run nvmtop --print 120x60 --replay waves.nvmt --view phases
ok 'where means of a phase are, too, counters have none' sh -c '! sed 2d out | grep "ticks.n\|spent.j\|events.n" && grep -q "most.hot .*[0-9]" out'

run nvmtop report --format json --per 50 --phase work --select ramp.power waves.nvmt
ok 'per item: of the phases of one label' \
    holds out "len(e) == 5 and e[0]['items'] == 50 and near(e[0]['s_per_item'], 0.04, 1e-12)"
ok 'per item: energy' holds out "near(es(0)['ramp.power']['energy_per_item_j'], 6 / 50, 1e-9)"
run nvmtop report --format json --from 1 --to 3 waves.nvmt
ok 'a stretch' holds out "[x['duration_s'] for x in e] == [1, 1] and near(s['ramp.power']['energy_j'], 4, 1e-9)"

# 50 ticks in the phase from 2 s to 4 s were late: the value behind them, 14.7 %,
# stands for 51 ms.
write counters.nvmt --counters
run nvmtop report --format json counters.nvmt
ok 'means of counters weigh the time' holds out "near(es(1)['gpu.util']['mean'],
    sum(i % 1001 / 10 for i in [*range(2001, 3100), *[3150] * 51, *range(3151, 4001)]) / 2000, 1e-9)"
ok 'and say so' holds out "s['gpu.util']['mean_of'] == 'counters' and 'mean_of' not in s['cpu0.util']"

# Loads that are faster than the readings, in step with the clock and not: 101 runs of 10 s.
write moments.nvmt --moments 1 --seconds 1010
run nvmtop report --format json --phase run --select '*.power' moments.nvmt
cp out moments.json
cat >within.py <<'END'
import json
from nvmt_write import LOADS, load_j
d = json.load(open("moments.json"))["traces"][0]
for rail in LOADS:
    runs = [(e["from_s"], e["to_s"], s) for e in d["phases"] for s in e["signals"] if s["name"] == rail + ".power"][:100]
    bias = sum(s["energy_j"] - load_j(rail, b) + load_j(rail, a) for a, b, s in runs) / load_j(rail, 1000)
    assert len(runs) == 100 and abs(bias) < 0.01, (rail, len(runs), bias)
    # This file does not say over which time its power is averaged.
    assert all(s["energy_within_j"] is None and s["read_every_s"] == 0.01 for _, _, s in runs), rail
END
ok 'the energy of 100 runs has no bias, and no bound where windows are unknown' "$python" within.py
run nvmtop report --phase 1 --select 'step.power' moments.nvmt
ok 'the bound in a table' says out '^energy  *J  *+- J  *mean W'
ok 'none, and why' says out 'the file does not say over which time step.power is averaged$'
run nvmtop report --format markdown --phase 1 --select 'step.power' moments.nvmt
ok 'the bound in Markdown' says out '^| energy | J | +- J | mean W'

write plain.bin
run nvmtop report --format json plain.bin
ok 'version 1 alone' truth out '{}' plain
ok 'its gaps are told by its times' \
    holds out "d['traces'][0]['gaps_from'] == 'times' and w['ticks']['fast']['late'] == 50"

# More samples than are sorted in memory.
write long.nvmt --seconds 70 --repeat 33 --jitter 1
run nvmtop report --format json long.nvmt
ok 'more samples than fit: every statistic' truth out 'dict(seconds=70.0, repeat=33.0, jitter=1)'

# Side by side: one run of each, which says nothing about the programs.
write a.nvmt --jitter 1
write b.nvmt --jitter 2 --scale 1.2
run nvmtop report --format json a.nvmt b.nvmt
cat >compare.py <<'END'
import json, sys
d = json.load(sys.stdin)
c = {x["phase"]: {(q["signal"], q["quantity"]): q for q in x["quantities"]} for x in d["comparison"]}
def means(phase, *key): return [x["mean"] for x in c[phase][key]["sides"]]
def near(a, b, tolerance): return abs(a - b) <= tolerance
sys.exit(0 if eval("(" + sys.argv[1] + ")") else repr(c)[:2000])
END
compared() { "$python" compare.py "$1" <out; }
ok 'phases of one label are one' \
    compared "set(c) == {'phase 0', 'work', 'rest', 'whole'} and c['work'][('wave.power', 'energy')]['sides'][0]['n'] == 1"
ok 'the difference is the true one' compared "near(c['work'][('wave.power', 'energy')]['difference'], 2, 0.05)"
ok 'in percent, too' compared "near(c['work'][('wave.power', 'energy')]['difference_percent'], 20, 0.5)"
ok 'no verdict on the programs' compared "not [q for x in c.values() for q in x.values() if q['verdict'] not in (None, 'partly unknown')]"
ok 'a label is told from a number' "$python" -c 'import json
c = {x["phase"]: (x["label"], x["number"]) for x in json.load(open("out"))["comparison"]}
assert c == {"phase 0": (None, 0), "work": ("work", None), "rest": ("rest", None), "whole": (None, None)}, c'
run nvmtop report a.nvmt b.nvmt
ok 'in the table, neither' sh -c '! grep "differs\|within noise" out && grep -q "difference of these two runs" out'
run nvmtop report --format csv waves.nvmt
ok 'CSV of one' "$python" -c 'import csv
r = list(csv.DictReader(open("out")))
assert len({x["signal"] for x in r}) * 11 == len(r), len(r)
assert all(len(x) >= 32 and None not in x and None not in x.values() for x in r)'

# The bounds are those of the measurement.
for i in 1 2; do
    nvmtop record --duration 0.5 --sysroot "$roots/agx_orin-36" -o bound$i.nvmt 2>/dev/null
done
run nvmtop report --format json --select '*.power' bound1.nvmt bound2.nvmt
bounds='[(x[s, "mean"], q) for x in c.values() for (s, k), q in x.items() if k == "energy" and q["difference_within"] is not None]'
ok 'a difference has the bounds of both runs' compared "len($bounds) > 1 and
    all(near(q['difference_within'] ** 2, sum(s['within'] ** 2 for s in q['sides']), 1e-9) for _, q in $bounds)"
ok 'and the same in watts' compared "all(near(w['sides'][0]['within'] / w['sides'][0]['mean'],
    q['sides'][0]['within'] / q['sides'][0]['mean'], 1e-9) for w, q in $bounds if w['sides'][0]['mean'])"

# Several runs of each. A run is one number: here is what they are by a plain calculation.
for i in 1 2 3; do
    write a$i.nvmt --jitter 1$i --scale 1.0$i
    write b$i.nvmt --jitter 2$i --scale 1.2$i
done
run nvmtop report --format json a1.nvmt a2.nvmt a3.nvmt --against b1.nvmt b2.nvmt b3.nvmt
cp out sides.json
ok 'a run is one number' compared "[s['n'] for s in c['work'][('wave.power', 'energy')]['sides']] == [3, 3] and d['first_side'] == 3"
ok 'of each trace, the mean over its phases of a label' "$python" -c '
import json
d = json.load(open("sides.json"))
runs = [[s["energy_j"] for e in t["phases"] if e["label"] == "work" for s in e["signals"] if s["name"] == "wave.power"] for t in d["traces"]]
q = [q for x in d["comparison"] if x["phase"] == "work" for q in x["quantities"] if (q["signal"], q["quantity"]) == ("wave.power", "energy")][0]
got = q["sides"][0]["runs"] + q["sides"][1]["runs"]
assert all(len(r) == 5 and abs(sum(r) / 5 - g) < 1e-3 for r, g in zip(runs, got)), (runs, got)
for side, r in zip(q["sides"], (got[:3], got[3:])):
    mean = sum(r) / 3
    sd = (sum((x - mean) ** 2 for x in r) / 2) ** 0.5
    assert abs(side["mean"] - mean) < 1e-9 and abs(side["sd"] - sd) < 1e-9
v = [s["sd"] ** 2 / 3 for s in q["sides"]]
df = sum(v) ** 2 / (v[0] ** 2 / 2 + v[1] ** 2 / 2)
assert 2 < df < 4.0001 and 2.776 < q["difference_ci95"] / sum(v) ** 0.5 < 4.3, (df, q)'
ok 'a real difference is one' compared "c['work'][('wave.power', 'energy')]['verdict'] == 'differs'"
ok 'noise is noise' compared "c['work'][('cpu0.util', 'mean')]['verdict'] != 'differs'"
run nvmtop report --format csv a1.nvmt a2.nvmt a3.nvmt --against b1.nvmt b2.nvmt b3.nvmt
ok 'CSV has what JSON has' "$python" -c 'import csv, json
c = {(x["phase"], q["signal"] or "", q["quantity"]): q for x in json.load(open("sides.json"))["comparison"] for q in x["quantities"]}
r = [x for x in csv.DictReader(open("out")) if int(x["a_n"]) + int(x["b_n"])]
assert len(r) == len(c) > 50, (len(r), len(c))
for x in r:
    q = c[x["phase"], x["signal"], x["quantity"]]
    assert None not in x.values() and None not in x and x["verdict"] == (q["verdict"] or ""), x
    for k in "difference", "difference_percent", "difference_ci95", "p":
        assert (x[k] == "" and q[k] is None) or float(x[k]) == q[k], (x, q)
    for k in "n", "mean", "sd", "coverage":
        for side in 0, 1:
            v = q["sides"][side][k]
            assert (x["ab"[side] + "_" + k] == "" and v is None) or float(x["ab"[side] + "_" + k]) == v, (x, q)'
run nvmtop report a1.nvmt a2.nvmt a3.nvmt --against b1.nvmt
ok 'one run of one of them: no verdict' sh -c '! grep "differs\|within noise" out && grep -q "^work .* too few runs" out'
ok 'and how to get one' says out 'is seen in two or more runs of each'
for wrong in '--against a.nvmt' 'a.nvmt --against' 'a.nvmt --against b.nvmt --against b.nvmt' '--summary a.nvmt --against b.nvmt'; do
    run nvmtop report $wrong
    ok "report $wrong: status 2" is "$status" 2
    ok "report $wrong: why" says err '^nvmtop: --against '
done

# A run in which the power is not known for part of a phase is none of its runs.
write even.nvmt --reps even
write holes.nvmt --reps holes
run nvmtop report --format json even.nvmt holes.nvmt even.nvmt --against even.nvmt even.nvmt
ok 'power that is not known in one run: the others' compared "([s['n'] for s in c['step'][('main.power', 'energy')]['sides']] == [2, 2]
    and means('step', 'main.power', 'energy') == [10, 10] and c['step'][('main.power', 'energy')]['verdict'] is None)"
run nvmtop report even.nvmt holes.nvmt even.nvmt --against even.nvmt even.nvmt
ok 'and their number' says out '^step  *J  *10.00 .*(2 and 2 runs)$'
run nvmtop report holes.nvmt holes.nvmt holes.nvmt
ok 'power that is not known in any run: said' says out '^--: known for less than 99 % of the time'

# Runs of one program: a line a phase.
run nvmtop report --per 50 a1.nvmt a2.nvmt a3.nvmt
ok 'several runs: what is in the lines' is "$(sed -n '/^phase  *s /p' out | tr -s ' ')" 'phase s J W J per item n'
ok 'mean, deviation and number' says out '^work  *2.000 +- 0.0[0-9]*  *3[0-9.]* +- 0.[0-9]*  *1[0-9.]* +- 0.[0-9]* 0.6[0-9]* +- 0.00[0-9]*  *3$'
run nvmtop report --format json a1.nvmt a2.nvmt a3.nvmt
ok 'in JSON one side, and no verdict' compared "all(len(q['sides']) == 1 and 'verdict' not in q for x in c.values() for q in x.values())"

# 200 programs, which 200 times are the same on both sides: run by run they differ by an offset as great as the noise of a
# phase, and each has three phases of its label. By chance 10 of 200 differ, more than 16 in 2 of 100 cases.
"$python" - <<'END'
import nvmt_write as w
for part in range(40):
    for run in range(5):
        for side in "AB":
            open(f"{part}{side}{run}.nvmt", "wb").write(w.one_run(f"{part}{side}{run}", n=5).log())
for run in range(5):
    for part in range(5):
        open(f"C{part}C{run}.nvmt", "wb").write(w.one_run(f"C{part}C{run}", 1, n=5).log())
END
differ() { # PART SIDE: those that do, each seen for itself
    for k in 0 1 2 3 4; do
        nvmtop report --format csv --phase c$k --select main.power $1A?.nvmt --against $2?.nvmt || return
    done >csv
    sed -n 's/,.*,differs,.*//p' csv | uniq
}
for part in $(seq 0 39); do differ $part ${part}B; done >by-chance
ok 'runs of the same program: at most 16 of 200 differ' test "$(wc -l <by-chance)" -le 16
for part in 0 1 2 3 4; do differ $part C${part}C; done >by-program
ok 'a program that takes 1 W more: at least 24 of 25 do' test "$(wc -l <by-program)" -ge 24

# Power that is not known is neither saved nor equal.
run nvmtop report --format json even.nvmt holes.nvmt
ok 'mean power of the time that is known' \
    compared "[round(x, 6) for x in means('step', 'main.power', 'mean')] == [10000, 10000]"
ok 'no energy where a fifth is known' compared "means('step', 'main.power', 'energy') == [10, None]"
ok 'and no verdict' compared "{c['step'][('main.power', q)]['verdict'] for q in ('energy', 'mean')} == {'partly unknown'}"
ok 'but how much is known' compared "abs(c['step'][('main.power', 'energy')]['sides'][1]['coverage'] - 0.2) < 0.02"
run nvmtop report --format csv even.nvmt holes.nvmt
ok 'as CSV' "$python" -c 'import csv
r = [x for x in csv.DictReader(open("out")) if x["signal"] == "main.power" and x["phase"] == "step"]
assert [x["verdict"] for x in r] == ["partly unknown"] * 2, r
assert [round(float(x["b_coverage"]), 1) for x in r] == [0.2, 0.2], r'
for format in table markdown; do
    run nvmtop report --all --format $format even.nvmt holes.nvmt
    ok "as $format, with what is known of it" says out 'energy, main.power.* -- .*20.0 % known'
done
run nvmtop report --per 10 --format json --select main.power holes.nvmt
ok 'no joules an item, either' holds out "s['main.power']['energy_per_item_j'] is None"
run nvmtop report --per 10 --select main.power holes.nvmt
ok 'in the table, too' says out '^main.power .* -- '
run nvmtop report --per 50 --format json --select ramp.power waves.nvmt
ok 'what is missing of an item is as the rest' \
    holds out "near(s['ramp.power']['energy_per_item_j'], 198.66955 / 19.89 * 20 / 500, 1e-9)"

# First of all a line a phase.
run nvmtop report waves.nvmt
ok 'the first table is by phase' is "$(sed -n '3p;5p' out | tr -s ' ' | tr '\n' ' ')" \
    'phase from s to s s J mean W GPU % max C 1 work 2.000 4.000 2.000 16.00 8.000 50.92 43.90 '
nvmtop report waves.nvmt | sed '/^whole$/,$d' >long
run nvmtop report --summary waves.nvmt
ok 'alone' cmp long out
ok 'with what is not known of the power' says out '^6 rest .*!$'
run nvmtop report --summary --select gpu.util a.nvmt b.nvmt
ok 'of several traces, whatever is selected' is "$(grep -c '^whole .* J\|^whole  *0.000 .*[0-9]' out)" 2
run nvmtop report --summary --format json waves.nvmt
ok 'as JSON' "$python" -c 'import json
t = json.load(open("out"))["traces"][0]
assert [round(x["energy_j"], 1) for x in t["phases"][:3]] == [12, 16, 20] and "signals" not in t["whole"], t
assert t["whole"]["hottest_c"] == 60 and t["phases"][1]["power"] == "power.total", t["whole"]'
run nvmtop report --summary --format csv waves.nvmt
ok 'as CSV' "$python" -c 'import csv
r = list(csv.DictReader(open("out")))
assert len(r) == 11 and r[1]["label"] == "work" and round(float(r[1]["mean_power_w"]), 2) == 8, r[1]
assert r[10]["phase"] == "whole" and float(r[10]["hottest_c"]) == 60, r[10]'
run nvmtop report --summary --format markdown waves.nvmt
ok 'as Markdown' says out '^| 1 work | 2.000 | 4.000 | 2.000 | 16.00 | '
run nvmtop export csv --summary waves.nvmt
ok 'a summary of what is no report: status 2' is "$status" 2

# What people see.
golden() {
    name=$1
    shift
    nvmtop "$@" >got 2>err
    test -z "${UPDATE:-}" || cp got "$NVMTOP_SRC/tests/expected/$name"
    ok "$name" diff -u "$NVMTOP_SRC/tests/expected/$name" got
}
golden report-table.txt report --per 50 --select 'gpu.util,cpu0*,*.power,temp.*,throttle*' waves.nvmt
golden report-pair.txt report --select 'gpu.util,cpu0*,*.power,temp.cpu' a.nvmt b.nvmt
golden report-three.txt report --select 'gpu.util,*.power' a.nvmt b.nvmt waves.nvmt
golden report-sides.txt report a1.nvmt a2.nvmt a3.nvmt --against b1.nvmt b2.nvmt b3.nvmt
golden report-pair.md report --format markdown --select 'gpu.util,*.power' a.nvmt b.nvmt
golden report-first.txt report waves.nvmt
golden report-first-pair.txt report --per 50 a.nvmt b.nvmt
golden report-first-three.txt report a.nvmt b.nvmt waves.nvmt

# The answer first: the phases, the whole, and how to get the rest.
demo=$NVMTOP_SRC/tests/traces/demo.nvmt
nvmtop report "$demo" >first
ok 'two tables' is "$(grep -c '^phase \|^signal \|^energy \|^temperature \|^counter ' first)" 2
ok 'the second one is of the whole' is "$(sed '1,/^whole  /d;/^signal /,$d' first | sed -n 2p)" whole
ok 'the last line says how to get the rest' is "$(tail -n 1 first)" 'More: nvmtop report --phase N FILE (all of one phase), or --all'
nvmtop report --phase 1 "$demo" >one
ok 'a phase in full' is "$(grep -c '^signal \|^energy \|^temperature \|^not measured' one; grep -c '^More' one)" '4
0'
nvmtop report --all "$demo" >all
ok 'all phases in full' is "$(grep -c '^signal ' all; grep -c '^More' all)" "$(($(nvmtop report --summary "$demo" | grep -c '^[0-9w]') + 0))
0"
nvmtop report --format json "$demo" >first
nvmtop report --all --format json "$demo" >all
ok 'JSON is complete' cmp first all
nvmtop report "$demo" "$demo" >first
ok 'of two: time, energy and power by phase' is "$(grep ':$' first)" 'duration:
energy, power.total:
mean, power.total:'
ok 'and how to get the rest' says first '^More: '
run nvmtop report --all --summary "$demo"
ok 'everything and only the phases: status 2' is "$status" 2
run nvmtop report --per 100 --summary waves.nvmt
ok 'the phases have what an item costs' is "$(sed -n '3p;5p' out | tr -s ' ' | tr '\n' ' ')" \
    'phase ms/item J/item s J mean W GPU % max C 1 work 20.000 0.1600 2.000 16.00 8.000 50.92 43.90 '

# A terminal decides how wide tables are; elsewhere nothing is cut. What is printed on one of that many columns:
cat >columns.py <<'END'
import os, sys, terminal
pid, master, slave = terminal.spawn(sys.argv[2:], (int(sys.argv[1]), 50), os.environ)
os.close(slave)
text = b""
try:
    while more := os.read(master, 65536):
        text += more
except OSError:
    pass
os.waitpid(pid, 0)
sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
END
columns() { env LC_ALL=C.UTF-8 "$python" columns.py "$1" $EMU "$NVMTOP" report "$2" "$demo" "$demo" | grep -v '/' >"wide$1" && test -s "wide$1"; }
widest() { env LC_ALL=C.UTF-8 "$python" -c 'import sys; print(max(len(l.rstrip("\n")) for l in open(sys.argv[1], encoding="utf-8")))' "$1"; }
names() { env LC_ALL=C.UTF-8 grep -o '^[A-Za-z, ]*[A-Za-z0-9_]*\.[A-Za-z0-9_.]*' "$1" | sort -u; }
nvmtop report --all "$demo" "$demo" | grep -v '/' >piped
for n_columns in 80 120; do
    columns $n_columns --all
    ok "it fits into $n_columns columns" test "$(widest wide$n_columns)" -le $n_columns
    ok 'with whole names' is "$(names wide$n_columns)" "$(names piped)"
done
ok 'those of the trace' says piped 'energy, VDDQ_VDD2_1V8AO.power '
ok 'in 120 columns as in a pipe' cmp wide120 piped
ok 'and in 80 without the least important columns' sh -c 'grep -q "A  *+-  *B  *+-  *B - A" piped && ! grep -q "A  *+-  *B" wide80'
# A name that has no room, even then, is cut with an ellipsis, and only there.
"$python" - <<'END'
import nvmt_write as w
t = w.Trace()
for i in range(2000):
    t.row(0, i * 1_000_000, **{"gpu.util": 1})
for i, label in enumerate(("推論の開始", "x" * 60, "end")):
    t.marks.append((500_000_000 * (i + 1), label))
open("labels.nvmt", "wb").write(t.log())
END
demo=labels.nvmt
env LC_ALL=C.UTF-8 $EMU "$NVMTOP" report labels.nvmt >out
ok 'a label of 60 letters is whole in a pipe' says out '^2 x\{60\} '
env LC_ALL=C.UTF-8 "$python" columns.py 80 $EMU "$NVMTOP" report labels.nvmt >out
ok 'on a terminal it has an ellipsis' says out '^2 x*…x*  *'
aligned() { env LC_ALL=C.UTF-8 "$python" -c 'import sys, unicodedata
rows = sys.stdin.read().split("\n\n")[1].splitlines()
wide = {sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in row) for row in rows}
sys.exit(0 if len(rows) == 6 and len(wide) == 1 and max(wide) <= 80 else repr(rows))' <out; }
ok 'and columns are aligned below a label of double width' aligned
# What is not there.
run nvmtop report --phase nothing waves.nvmt
ok 'no such phase: status 1' is "$status" 1
ok 'no such phase: named' says err 'nothing'
run nvmtop report --select 'gpu.util,vdd*' waves.nvmt
ok 'no such signal: status 1' is "$status" 1
ok 'no such signal: named' says err 'vdd'
# Phase 3 is that from 6 s to 8 s; the label 3 is that of phase 2.
write numbers.nvmt --labels 7,3,5
froms() { "$python" -c 'import json,sys
print(*[round(x["from_s"]) for x in json.load(sys.stdin)["traces"][0]["phases"]])' <out; }
run nvmtop report --format json --phase 3 waves.nvmt
ok 'a number is a number' is "$(froms)" 6
run nvmtop report --phase 3 numbers.nvmt
ok 'a number that is a label, too: status 2' is "$status" 2
ok 'and a sentence that names both' says err 'n:3.*label:3'
run nvmtop report --format json --phase n:3 numbers.nvmt
ok 'the number' is "$(froms)" 6
run nvmtop report --format json --phase label:3 numbers.nvmt
ok 'the label' is "$(froms)" '4 10 16'
run nvmtop report --format json --phase label:work waves.nvmt
ok 'a label that is none but a label' is "$(froms)" '2 6 10 14 18'
run nvmtop export csv --phase 5 numbers.nvmt
ok 'an export does the same' is "$status" 2
run nvmtop report --from 100 waves.nvmt
ok 'no such stretch: status 1' is "$status" 1
run nvmtop report
ok 'no file: status 2' is "$status" 2
run nvmtop report --format yaml waves.nvmt
ok 'no such format: status 2' is "$status" 2
run nvmtop report --per 0 waves.nvmt
ok 'no items: status 2' is "$status" 2
run nvmtop report nowhere.nvmt
ok 'no such file: status 1' is "$status" 1
cp waves.nvmt cut.nvmt
printf '%064d' 0 | dd of=cut.nvmt bs=1 seek=90000 conv=notrunc 2>/dev/null
run nvmtop report --select gpu.util cut.nvmt
ok 'a damaged file: status 3' is "$status" 3
ok 'a damaged file: what is there is reported' says out 'gpu.util'
# Names that are cut can still be told from each other.
nvmtop --record --duration 0.3 --sysroot "$roots/agx_orin-36" orin.nvmt 2>err
told_apart() { grep -a '^throttle\.[^:]*[0-9]$\|^VDD.* [A-Z]$' "$1" | cut -d' ' -f1 | sort | uniq -d >twice && test ! -s twice; }
nvmtop report --all orin.nvmt >out
ok 'no two signals have the same name in a table' told_apart out
ok 'and all of them are there' is "$(grep -c '^throttle\.[^:]*[0-9]$\|^throttle\..* events$' out)" 7
nvmtop report --all orin.nvmt orin.nvmt | sed '/^whole/,$d' | grep -v ' s  ' >out
ok 'nor where two traces are compared' sh -c "grep -o '^throttle[^ ]*' out | sort | uniq -d | grep . && exit 1; grep -q '^throttle' out"
ok "counters are compared by what they rose" sh -c '! grep "^energy.total\|^nvmtop.late" out && grep -q "^rise, energy.total" out && grep -q "^rise, nvmtop.late" out'
done_testing
