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
e = d["traces"][0]["epochs"]
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
ok 'every statistic of every signal and epoch' truth waves.json '{}'
# 200 J less 0.11 s at 12.095 W on average that nobody recorded
ok 'energy of a ramp' holds waves.json "near(s['ramp.power']['energy_j'], 200 - 0.11 * 12.095, 1e-6)"
ok 'energy of whole sine waves' holds waves.json "near(es(1)['wave.power']['energy_j'], 10, 1e-3)"
ok 'time that is not covered is not bridged' holds waves.json "near(s['ramp.power']['covered_s'], 19.89, 1e-9)"
ok 'mean power is over the time that is covered' \
    holds waves.json "near(s['ramp.power']['mean_power_w'], 198.66955 / 19.89, 1e-6)"
ok 'the energies of the epochs are that of the whole' holds waves.json \
    "near(sum(es(i)['ramp.power']['energy_j'] for i in range(len(e))), s['ramp.power']['energy_j'], 1e-9)"
ok 'temperature rise' holds waves.json "s['temp.cpu']['rise'] == 20"
ok 'time throttled' holds waves.json "near(s['throttle.x']['throttled_s'], 2.5, 1e-9)"
ok 'late and lost ticks, where they were' holds waves.json \
    "w['ticks']['fast']['late'] == 50 and e[1]['ticks']['fast']['late'] == 50 and w['ticks']['medium']['lost'] == 10"
ok 'epochs and their labels' holds waves.json "[x['label'] for x in e] == [''] + ['work', 'rest'] * 4 + ['work']"
ok 'their times' holds waves.json "(e[1]['from_s'], e[1]['to_s'], e[9]['to_s']) == (2, 4, 20)"
ok 'the median of a ramp is its middle' holds waves.json "near(s['cpu0.util']['p50'], 50, 0.15)"

run nvmtop --print 80x24 --replay waves.bin
ok 'it is shown, too' says out 'wave .*5.0 W'

run nvmtop --report --format json --per 50 --epoch work --select ramp.power waves.bin
ok 'per item: of the epochs of one label' \
    holds out "len(e) == 5 and e[0]['items'] == 50 and near(e[0]['s_per_item'], 0.04, 1e-12)"
ok 'per item: energy' holds out "near(es(0)['ramp.power']['energy_per_item_j'], 6 / 50, 1e-9)"
run nvmtop --report --format json --from 1 --to 3 waves.bin
ok 'a stretch' holds out "[x['duration_s'] for x in e] == [1, 1] and near(s['ramp.power']['energy_j'], 4, 1e-9)"

# 50 ticks in the epoch from 2 s to 4 s were late: the value behind them, 14.7 %,
# stands for 51 ms.
write counters.bin --counters
run nvmtop --report --format json counters.bin
ok 'means of counters weigh the time' holds out "near(es(1)['gpu.util']['mean'],
    sum(i % 1001 / 10 for i in [*range(2001, 3100), *[3150] * 51, *range(3151, 4001)]) / 2000, 1e-9)"
ok 'and say so' holds out "s['gpu.util']['mean_of'] == 'counters' and 'mean_of' not in s['cpu0.util']"

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
c = {x["epoch"]: {(q["signal"], q["quantity"]): q["traces"] for q in x["quantities"]}
     for x in json.load(sys.stdin)["comparison"]}
def t(x, y): return 2.306004 * ((x["sd"] ** 2 + y["sd"] ** 2) / 5) ** 0.5     # 8 degrees of freedom
sys.exit(0 if eval(sys.argv[1]) else repr(c)[:2000])
END
compared() { "$python" compare.py "$1" <out; }
ok 'epochs of one label are one' \
    compared "set(c) == {'epoch 0', 'work', 'rest', 'whole'} and c['work'][('wave.power', 'energy')][0]['n'] == 5"
ok 'a real difference is one' compared "c['work'][('wave.power', 'energy')][1]['verdict'] == 'differs'"
ok 'noise is noise' compared "c['work'][('cpu0.util', 'mean')][1]['verdict'] == 'within noise'"
ok 'the difference is the true one' compared "abs(c['work'][('wave.power', 'energy')][1]['difference'] - 2) < 0.05"
ok 'what occurs once says nothing about noise' \
    compared "c['whole'][('wave.power', 'energy')][1]['verdict'] == 'unknown'"
ok "the interval is Welch's" \
    compared "(lambda x, y: abs(y['difference_ci95'] / t(x, y) - 1) < 1e-3)(*c['work'][('cpu0.util', 'mean')])"
ok 'a label is told from a number' "$python" -c 'import json
c = {x["epoch"]: (x["label"], x["number"]) for x in json.load(open("out"))["comparison"]}
assert c == {"epoch 0": (None, 0), "work": ("work", None), "rest": ("rest", None), "whole": (None, None)}, c'
run nvmtop --report --format csv a.bin b.bin
ok 'as CSV' "$python" -c 'import csv
r = list(csv.DictReader(open("out")))
assert len(r) > 50 and r[1]["verdict"] in ("differs", "within noise", "unknown"), r[1]'
run nvmtop --report --format csv waves.bin
ok 'CSV of one' "$python" -c 'import csv
r = list(csv.DictReader(open("out")))
assert len({x["signal"] for x in r}) * 11 == len(r), len(r)
assert all(len(x) == 30 and None not in x.values() for x in r)'

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
nvmtop --report --per 3 "$NVMTOP_SRC/tests/traces/demo.bin" >wide
nvmtop --report a.bin "$NVMTOP_SRC/tests/traces/demo.bin" >>wide
ok 'tables fit eighty columns' "$python" -c 'import sys
long = [l for l in open("wide", encoding="utf-8") if len(l) > 81 and "/" not in l]
sys.exit(long[0] if long else 0)'

# What is not there.
run nvmtop --report --epoch nothing waves.bin
ok 'no such epoch: status 1' is "$status" 1
ok 'no such epoch: named' says err 'nothing'
run nvmtop --report --select 'gpu.util,vdd*' waves.bin
ok 'no such signal: status 1' is "$status" 1
ok 'no such signal: named' says err 'vdd'
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
nvmtop --report orin.bin >out
ok 'no two signals have the same name in a table' told_apart out
ok 'and all of them are there' is "$(grep -c '^throttle\.[^:]*[0-9]$' out)" 8
nvmtop --report orin.bin orin.bin | sed '/^whole/,$d' | grep -v ' s  ' >out
ok 'nor where two traces are compared' sh -c "grep -o '^throttle[^ ]*' out | sort | uniq -d | grep . && exit 1; grep -q '^throttle' out"
ok 'joules since the start of the program are not compared' sh -c '! grep "^energy.total" out'
done_testing
