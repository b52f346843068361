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

write waves.bin
run nvmtop --report --format json waves.bin
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
open("late.bin", "wb").write(t.bytes())'
nvmtop --report --format json late.bin >late.json
ok 'a gap before the first row counts' holds late.json "[x['ticks']['fast']['late'] for x in (w, e[0])] == [4, 4]"
ok 'temperature rise' holds waves.json "s['temp.cpu']['rise'] == 20"
ok 'time throttled' holds waves.json "near(s['throttle.x']['throttled_s'], 2.5, 1e-9)"
ok 'late and lost ticks, where they were' holds waves.json \
    "w['ticks']['fast']['late'] == 50 and e[1]['ticks']['fast']['late'] == 50 and w['ticks']['medium']['lost'] == 10"
ok 'phases and their labels' holds waves.json "[x['label'] for x in e] == [''] + ['work', 'rest'] * 4 + ['work']"
ok 'their times' holds waves.json "(e[1]['from_s'], e[1]['to_s'], e[9]['to_s']) == (2, 4, 20)"
ok 'the median of a ramp is its middle' holds waves.json "near(s['cpu0.util']['p50'], 50, 0.15)"

run nvmtop --print 80x24 --replay waves.bin --view signals
ok 'it is shown, too' says out 'wave .*5.0 W'
run nvmtop --print 80x24 --replay waves.bin
ok 'a size that is not known is left out' says out 'RAM 1.0 GiB'

run nvmtop --print 120x60 --replay waves.bin --view phases
ok 'where means of a phase are, too, counters have none' sh -c '! sed 2d out | grep "ticks.n\|spent.j\|events.n" && grep -q "most.hot .*[0-9]" out'

run nvmtop --report --format json --per 50 --phase work --select ramp.power waves.bin
ok 'per item: of the phases of one label' \
    holds out "len(e) == 5 and e[0]['items'] == 50 and near(e[0]['s_per_item'], 0.04, 1e-12)"
ok 'per item: energy' holds out "near(es(0)['ramp.power']['energy_per_item_j'], 6 / 50, 1e-9)"
run nvmtop --report --format json --from 1 --to 3 waves.bin
ok 'a stretch' holds out "[x['duration_s'] for x in e] == [1, 1] and near(s['ramp.power']['energy_j'], 4, 1e-9)"

# 50 ticks in the phase from 2 s to 4 s were late: the value behind them, 14.7 %,
# stands for 51 ms.
write counters.bin --counters
run nvmtop --report --format json counters.bin
ok 'means of counters weigh the time' holds out "near(es(1)['gpu.util']['mean'],
    sum(i % 1001 / 10 for i in [*range(2001, 3100), *[3150] * 51, *range(3151, 4001)]) / 2000, 1e-9)"
ok 'and say so' holds out "s['gpu.util']['mean_of'] == 'counters' and 'mean_of' not in s['cpu0.util']"

# Loads that are faster than the readings, in step with the clock and not: 101 runs of 10 s.
write moments.bin --moments 1 --seconds 1010
run nvmtop --report --format json --phase run --select '*.power' moments.bin
cp out moments.json
cat >within.py <<'END'
import json
from nvmt_write import LOADS, load_j
d = json.load(open("moments.json"))["traces"][0]
for rail in LOADS:
    runs = [(e["from_s"], e["to_s"], s) for e in d["phases"] for s in e["signals"] if s["name"] == rail + ".power"][:100]
    off = [(s["energy_j"] - load_j(rail, b) + load_j(rail, a), s["energy_within_j"]) for a, b, s in runs]
    inside = sum(abs(e) <= within for e, within in off)
    bias = sum(e for e, _ in off) / load_j(rail, 1000)
    assert len(runs) == 100 and inside >= 95 and abs(bias) < 0.01, (rail, len(runs), inside, bias)
    assert all(0 < within < 40 and s["read_every_s"] == 0.01 for (_, within), (_, _, s) in zip(off, runs)), (rail, off)
END
ok 'the energy of 95 runs of 100 is within the bound' "$python" within.py
run nvmtop --report --format csv --phase 1 --select 'step.power' moments.bin
ok 'the bound as CSV' "$python" -c 'import csv, json
r = next(csv.DictReader(open("out")))
e = json.load(open("moments.json"))["traces"][0]["phases"][0]["signals"]
assert [float(r["energy_within_j"])] == [s["energy_within_j"] for s in e if s["name"] == "step.power"], r
assert r["read_every_s"] == "0.01", r'
run nvmtop --report --phase 1 --select 'step.power' moments.bin
ok 'the bound in a table' says out '^energy  *J  *+- J  *mean W'
ok 'which loads are not resolved' says out 'loads faster than 20 ms do not$'
run nvmtop --report --format markdown --phase 1 --select 'step.power' moments.bin
ok 'the bound in Markdown' says out '^| energy | J | +- J | mean W'
run nvmtop --report --select '*.power' waves.bin
ok 'readings in step with a clock have no bound' sh -c '! grep -q "+- J" out'
ok 'and may be wrong' says out 'in step with a clock: the energy of$'

write plain.bin --plain
run nvmtop --report --format json plain.bin
ok 'version 1 alone' truth out '{}' plain
ok 'its gaps are told by its times' \
    holds out "d['traces'][0]['gaps_from'] == 'times' and w['ticks']['fast']['late'] == 50"

# More samples than are sorted in memory.
write long.bin --seconds 70 --repeat 33 --jitter 1
run nvmtop --report --format json long.bin
ok 'more samples than fit: every statistic' truth out 'dict(seconds=70.0, repeat=33.0, jitter=1)'

# Side by side.
write a.bin --jitter 1
write b.bin --jitter 2 --scale 1.2
run nvmtop --report --format json a.bin b.bin
cat >compare.py <<'END'
import json, sys
c = {x["phase"]: {(q["signal"], q["quantity"]): q["traces"] for q in x["quantities"]}
     for x in json.load(sys.stdin)["comparison"]}
def t(x, y): return 2.306004 * ((x["sd"] ** 2 + y["sd"] ** 2) / 5) ** 0.5     # 8 degrees of freedom
sys.exit(0 if eval(sys.argv[1]) else repr(c)[:2000])
END
compared() { "$python" compare.py "$1" <out; }
ok 'phases of one label are one' \
    compared "set(c) == {'phase 0', 'work', 'rest', 'whole'} and c['work'][('wave.power', 'energy')][0]['n'] == 5"
ok 'a real difference is one' compared "c['work'][('wave.power', 'energy')][1]['verdict'] == 'differs'"
ok 'noise is noise' compared "c['work'][('cpu0.util', 'mean')][1]['verdict'] == 'within noise'"
ok 'the difference is the true one' compared "abs(c['work'][('wave.power', 'energy')][1]['difference'] - 2) < 0.05"
ok 'what occurs once says nothing about noise' \
    compared "c['whole'][('wave.power', 'energy')][1]['verdict'] == 'unknown'"
ok "the interval is Welch's" \
    compared "(lambda x, y: abs(y['difference_ci95'] / t(x, y) - 1) < 1e-3)(*c['work'][('cpu0.util', 'mean')])"
ok 'a label is told from a number' "$python" -c 'import json
c = {x["phase"]: (x["label"], x["number"]) for x in json.load(open("out"))["comparison"]}
assert c == {"phase 0": (None, 0), "work": ("work", None), "rest": ("rest", None), "whole": (None, None)}, c'
run nvmtop --report --format csv a.bin b.bin
ok 'as CSV' "$python" -c 'import csv
r = list(csv.DictReader(open("out")))
assert len(r) > 50 and r[1]["verdict"] in ("differs", "within noise", "unknown"), r[1]'
run nvmtop --report --format csv waves.bin
ok 'CSV of one' "$python" -c 'import csv
r = list(csv.DictReader(open("out")))
assert len({x["signal"] for x in r}) * 11 == len(r), len(r)
assert all(len(x) >= 32 and None not in x and None not in x.values() for x in r)'

# Power that is not known is neither saved nor equal.
write even.bin --reps even --jitter 1
write holes.bin --reps holes --jitter 1
run nvmtop --report --format json even.bin holes.bin
ok 'mean power of the time that is known' \
    compared "[x['mean'] for x in c['step'][('main.power', 'mean')]] == [10000, 10000]"
ok 'no energy where a fifth is known' compared "[x['mean'] for x in c['step'][('main.power', 'energy')]] == [10, None]"
ok 'and no verdict' compared "{c['step'][('main.power', q)][1]['verdict'] for q in ('energy', 'mean')} == {'partly unknown'}"
ok 'but how much is known' compared "abs(c['step'][('main.power', 'energy')][1]['coverage'] - 0.2) < 0.02"
ok 'what is known has one' compared "c['step'][('gpu.util', 'mean')][1]['verdict'] == 'within noise'"
run nvmtop --report --format csv even.bin holes.bin
ok 'as CSV' "$python" -c 'import csv
r = [x for x in csv.DictReader(open("out")) if x["signal"] == "main.power" and x["phase"] == "step"]
assert [x["verdict"] for x in r] == ["", "partly unknown"] * 2, r
assert [round(float(x["coverage"]), 1) for x in r] == [1, 0.2, 1, 0.2], r'
for format in table markdown; do
    run nvmtop --report --all --format $format even.bin holes.bin
    ok "as $format" says out 'energy, main.power.* -- .*unknown time'
    ok "and its share" says out 'B: .* known for only 20.0 % of the time'
done
run nvmtop --report --per 10 --format json --select main.power holes.bin
ok 'no joules an item, either' holds out "s['main.power']['energy_per_item_j'] is None"
run nvmtop --report --per 10 --select main.power holes.bin
ok 'in the table, too' says out '^main.power .* -- '
run nvmtop --report --per 50 --format json --select ramp.power waves.bin
ok 'what is missing of an item is as the rest' \
    holds out "near(s['ramp.power']['energy_per_item_j'], 198.66955 / 19.89 * 20 / 500, 1e-9)"

# Of many differences some look real by chance; and not every repetition is independent.
write same.bin --reps even --jitter 2
write walk1.bin --reps walk --jitter 1
write walk2.bin --reps walk --jitter 2
write shift.bin --reps shift --jitter 2
verdicts() { # A B EXPRESSION
    nvmtop --report --format json "$1" "$2" >out && "$python" -c 'import json, sys
c = json.load(open("out"))["comparison"]
v = [q["traces"][1] for g in c for q in g["quantities"] if g["phase"] == "step" and q["signal"] and q["signal"][0] == "q"]
chance = [x for x in v if x["p"] < 0.05]
differ = [x for x in v if x["verdict"] == "differs"]
drift = [x for x in differ if x["drifts"]]
sys.exit(0 if eval(sys.argv[1]) else "%d of %d, %d by chance, %d drift" % (len(differ), len(v), len(chance), len(drift)))' "$3"
}
ok 'the same program twice: nothing differs' verdicts even.bin same.bin 'len(v) == 60 and chance and not differ'
ok 'another one: all of it differs, and seldom with a warning' \
    verdicts even.bin shift.bin 'len(differ) == 60 and len(drift) <= 6'
ok 'what drifts within a run has a warning' verdicts walk1.bin walk2.bin 'len(differ) > 5 and len(drift) > 0.8 * len(differ)'
run nvmtop --report --all walk1.bin walk2.bin
ok 'in the table' says out 'differs ~'
ok 'and what it means' says out '^~: drifts'
run nvmtop --report --all walk1.bin
ok 'where repetitions are summed up' says out '+-.*~ '
run nvmtop --report --format csv walk1.bin walk2.bin
ok 'in CSV' says out ',differs,.*,drifts$'

# First of all a line a phase.
run nvmtop --report waves.bin
ok 'the first table is by phase' is "$(sed -n '3p;5p' out | tr -s ' ' | tr '\n' ' ')" \
    'phase from s to s s J mean W GPU % max C 1 work 2.000 4.000 2.000 16.00 8.000 50.92 43.90 '
nvmtop --report waves.bin | sed '/^whole$/,$d' >long
run nvmtop --report --summary waves.bin
ok 'alone' cmp long out
ok 'with what is not known of the power' says out '^6 rest .*!$'
run nvmtop --report --summary --select gpu.util a.bin b.bin
ok 'of several traces, whatever is selected' is "$(grep -c '^whole .* J\|^whole  *0.000 .*[0-9]' out)" 2
run nvmtop --report --summary --format json waves.bin
ok 'as JSON' "$python" -c 'import json
t = json.load(open("out"))["traces"][0]
assert [round(x["energy_j"], 1) for x in t["phases"][:3]] == [12, 16, 20] and "signals" not in t["whole"], t
assert t["whole"]["hottest_c"] == 60 and t["phases"][1]["power"] == "power.total", t["whole"]'
run nvmtop --report --summary --format csv waves.bin
ok 'as CSV' "$python" -c 'import csv
r = list(csv.DictReader(open("out")))
assert len(r) == 11 and r[1]["label"] == "work" and round(float(r[1]["mean_power_w"]), 2) == 8, r[1]
assert r[10]["phase"] == "whole" and float(r[10]["hottest_c"]) == 60, r[10]'
run nvmtop --report --summary --format markdown waves.bin
ok 'as Markdown' says out '^| 1 work | 2.000 | 4.000 | 2.000 | 16.00 | '
run nvmtop --export csv --summary waves.bin
ok 'a summary of what is no report: status 2' is "$status" 2

# What people see.
golden() {
    name=$1
    shift
    nvmtop "$@" >got 2>err
    test -z "${UPDATE:-}" || cp got "$NVMTOP_SRC/tests/expected/$name"
    ok "$name" diff -u "$NVMTOP_SRC/tests/expected/$name" got
}
golden report-table.txt --report --per 50 --select 'gpu.util,cpu0*,*.power,temp.*,throttle*' waves.bin
golden report-pair.txt --report --select 'gpu.util,cpu0*,*.power,temp.cpu' a.bin b.bin
golden report-three.txt --report --select 'gpu.util,*.power' a.bin b.bin waves.bin
golden report-pair.md --report --format markdown --select 'gpu.util,*.power' a.bin b.bin
golden report-first.txt --report waves.bin
golden report-first-pair.txt --report --per 50 a.bin b.bin
golden report-first-three.txt --report a.bin b.bin waves.bin

# The answer first: the phases, the whole, and how to get the rest.
demo=$NVMTOP_SRC/tests/traces/demo.bin
nvmtop --report "$demo" >first
ok 'two tables' is "$(grep -c '^phase \|^signal \|^energy \|^temperature \|^counter ' first)" 2
ok 'the second one is of the whole' is "$(sed '1,/^whole  /d;/^signal /,$d' first | sed -n 2p)" whole
ok 'the last line says how to get the rest' is "$(tail -n 1 first)" 'More: nvmtop report --phase N FILE (all of one phase), or --all'
nvmtop --report --phase 1 "$demo" >one
ok 'a phase in full' is "$(grep -c '^signal \|^energy \|^temperature \|^not measured' one; grep -c '^More' one)" '4
0'
nvmtop --report --all "$demo" >all
ok 'all phases in full' is "$(grep -c '^signal ' all; grep -c '^More' all)" "$(($(nvmtop --report --summary "$demo" | grep -c '^[0-9w]') + 0))
0"
nvmtop --report --format json "$demo" >first
nvmtop --report --all --format json "$demo" >all
ok 'JSON is complete' cmp first all
nvmtop --report "$demo" "$demo" >first
ok 'of two: time, energy and power by phase' is "$(grep ':$' first)" 'duration:
energy, power.total:
mean, power.total:'
ok 'and how to get the rest' says first '^More: '
run nvmtop --report --all --summary "$demo"
ok 'everything and only the phases: status 2' is "$status" 2
run nvmtop --report --per 100 --summary waves.bin
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
nvmtop --report --all "$demo" "$demo" | grep -v '/' >piped
for n_columns in 80 120; do
    columns $n_columns --all
    ok "it fits into $n_columns columns" test "$(widest wide$n_columns)" -le $n_columns
    ok 'with whole names' is "$(names wide$n_columns)" "$(names piped)"
done
ok 'those of the trace' says piped 'energy, VDDQ_VDD2_1V8AO.power '
ok 'in 120 columns as in a pipe' cmp wide120 piped
ok 'and in 80 without the least important columns' sh -c 'grep -q "B - A.*95 %" piped && ! grep -q "95 %" wide80'
# A name that has no room, even then, is cut with an ellipsis, and only there.
"$python" - <<'END'
import nvmt_write as w
t = w.Trace()
for i in range(2000):
    t.row(0, i * 1_000_000, **{"gpu.util": 1})
for i, label in enumerate(("推論の開始", "x" * 60, "end")):
    t.marks.append((500_000_000 * (i + 1), label))
open("labels.bin", "wb").write(t.bytes())
END
demo=labels.bin
env LC_ALL=C.UTF-8 $EMU "$NVMTOP" report labels.bin >out
ok 'a label of 60 letters is whole in a pipe' says out '^2 x\{60\} '
env LC_ALL=C.UTF-8 "$python" columns.py 80 $EMU "$NVMTOP" report labels.bin >out
ok 'on a terminal it has an ellipsis' says out '^2 x*…x*  *'
aligned() { env LC_ALL=C.UTF-8 "$python" -c 'import sys, unicodedata
rows = sys.stdin.read().split("\n\n")[1].splitlines()
wide = {sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in row) for row in rows}
sys.exit(0 if len(rows) == 6 and len(wide) == 1 and max(wide) <= 80 else repr(rows))' <out; }
ok 'and columns are aligned below a label of double width' aligned
# What is not there.
run nvmtop --report --phase nothing waves.bin
ok 'no such phase: status 1' is "$status" 1
ok 'no such phase: named' says err 'nothing'
run nvmtop --report --select 'gpu.util,vdd*' waves.bin
ok 'no such signal: status 1' is "$status" 1
ok 'no such signal: named' says err 'vdd'
# Phase 3 is that from 6 s to 8 s; the label 3 is that of phase 2.
write numbers.bin --labels 7,3,5
froms() { "$python" -c 'import json,sys
print(*[round(x["from_s"]) for x in json.load(sys.stdin)["traces"][0]["phases"]])' <out; }
run nvmtop --report --format json --phase 3 waves.bin
ok 'a number is a number' is "$(froms)" 6
run nvmtop --report --phase 3 numbers.bin
ok 'a number that is a label, too: status 2' is "$status" 2
ok 'and a sentence that names both' says err 'n:3.*label:3'
run nvmtop --report --format json --phase n:3 numbers.bin
ok 'the number' is "$(froms)" 6
run nvmtop --report --format json --phase label:3 numbers.bin
ok 'the label' is "$(froms)" '4 10 16'
run nvmtop --report --format json --phase label:work waves.bin
ok 'a label that is none but a label' is "$(froms)" '2 6 10 14 18'
run nvmtop --export csv --phase 5 numbers.bin
ok 'an export does the same' is "$status" 2
run nvmtop --report --from 100 waves.bin
ok 'no such stretch: status 1' is "$status" 1
run nvmtop --report
ok 'no file: status 2' is "$status" 2
run nvmtop --report --format yaml waves.bin
ok 'no such format: status 2' is "$status" 2
run nvmtop --report --per 0 waves.bin
ok 'no items: status 2' is "$status" 2
run nvmtop --report nowhere.bin
ok 'no such file: status 1' is "$status" 1
head -c 1500000 waves.bin >cut.bin
run nvmtop --report --select gpu.util cut.bin
ok 'a cut file: status 3' is "$status" 3
ok 'a cut file: what is there is reported' says out 'gpu.util'
# Names that are cut can still be told from each other.
nvmtop --record --duration 0.3 --sysroot "$roots/agx_orin-36" orin.bin 2>err
told_apart() { grep -a '^throttle\.[^:]*[0-9]$\|^VDD.* [A-Z]$' "$1" | cut -d' ' -f1 | sort | uniq -d >twice && test ! -s twice; }
nvmtop --report --all orin.bin >out
ok 'no two signals have the same name in a table' told_apart out
ok 'and all of them are there' is "$(grep -c '^throttle\.[^:]*[0-9]$\|^throttle\..* events$' out)" 7
nvmtop --report --all orin.bin orin.bin | sed '/^whole/,$d' | grep -v ' s  ' >out
ok 'nor where two traces are compared' sh -c "grep -o '^throttle[^ ]*' out | sort | uniq -d | grep . && exit 1; grep -q '^throttle' out"
ok "counters are compared by what they rose" sh -c '! grep "^energy.total\|^nvmtop.late" out && grep -q "^rise, energy.total" out && grep -q "^rise, nvmtop.late" out'
done_testing
