#!/bin/sh
# Values for other programs: a line each interval, live, of a stream and of a file, in each format.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$NVMTOP_SRC/tests/tools
export PYTHONDONTWRITEBYTECODE PYTHONPATH
py() { "$python" -c "import json, re, math, sys
$1"; }
lines() { test "$(wc -l <"$1")" -ge "$2"; }

"$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" waves.nvmt

# --- numbers: those of the formulas in nvmt_write.py ---
run nvmtop stream --interval 0.2 --stat mean,min,max --select count.f,ramp.power,temp.cpu,spent.j,temp.gpu waves.nvmt
ok 'a trace' is "$status" 0
read='r = [json.loads(x) for x in open("out")]'
ok 'a trace: one line an interval' py "$read
assert len(r) == 100 and [round(x['elapsed'], 6) for x in r] == [round(0.2 * (i + 1), 6) for i in range(100)], len(r)
assert all(x['seconds'] == 0.2 for x in r[:99])"
ok 'a trace: mean, minimum and maximum of all readings' py "$read
x = r[1]
assert abs(x['count.f.mean'] - sum(i * 0.1 for i in range(200, 400)) / 200) < 1e-9, x
assert abs(x['count.f.min'] - 20) < 1e-9 and abs(x['count.f.max'] - 39.9) < 1e-9, x
assert abs(x['ramp.power.mean'] - sum(range(200, 400, 10)) / 20) < 1e-9, x
assert (x['ramp.power.min'], x['ramp.power.max']) == (200, 390), x
assert abs(x['temp.cpu.mean'] - 40.25) < 1e-5, x"
ok 'a trace: of a counter its newest value' py "$read
assert abs(r[4]['spent.j.mean'] - r[4]['spent.j.max']) < 1e-9, r[4]"
ok 'a trace: its own times' py "$read
assert abs(r[0]['time'] - 1700000000.2) < 0.01, r[0]"
ok 'what is missing is null, with its reason, in each line' py "$read
assert all(x['temp.gpu.mean'] is None and x['missing']['temp.gpu'] for x in r)"
run nvmtop stream --interval 3s --select gpu.util,count.f waves.nvmt
ok 'without --stat the mean has the name of the signal' py "$read
assert abs(r[0]['count.f'] - sum(i * 0.1 for i in range(3000)) / 3000) < 1e-6 and 'gpu.util' in r[0] and len(r[0]) == 5, r[0]"
ok 'the rest at the end is a line of its own' py "$read
assert len(r) == 7 and 1.9 < r[6]['seconds'] < 2.1, r[-1]"
run nvmtop stream --interval 0.2 --format csv --select temp.gpu,count.f,ramp.power --stat max waves.nvmt
ok 'CSV' py "import csv; r = list(csv.DictReader(open('out')))
assert list(r[0]) == ['time', 'elapsed', 'seconds', 'ramp.power.max [mW]', 'temp.gpu.max [C]', 'count.f.max', 'missing'], list(r[0])
assert r[1]['ramp.power.max [mW]'] == '390' and r[1]['temp.gpu.max [C]'] == '' and r[1]['missing'].startswith('temp.gpu: '), r[1]"

# --- a stream, and its file ---
nvmtop --demo --record - --duration 1.6 2>err | tee kept.nvmt | nvmtop stream - --interval 0.05 --stat mean,min,max >piped 2>err2
ok 'of a stream: without a word' test ! -s err2
nvmtop stream kept.nvmt --interval 0.05 --stat mean,min,max >filed
ok 'it has lines' lines piped 30
ok 'the same lines as of its file' cmp piped filed
nvmtop stream - --format openmetrics --interval 0.5 <kept.nvmt >metrics
ok 'as metrics, too' py "import openmetrics as o
r = o.expositions(open('metrics').read())
assert len(r) >= 3 and all('nvmtop_gpu_busy_ratio' in x for x in r), len(r)"
head -c $(($(wc -c <kept.nvmt) / 2)) kept.nvmt | nvmtop stream - >out 2>err
ok 'a stream that was cut: status 3' is $? 3
run nvmtop stream - </dev/null
ok 'no stream: status 1' is "$status" 1

# --- joules ---
run nvmtop stream --format openmetrics --interval 0.5 waves.nvmt
ok 'joules of a ramp of 1 W a second: t squared / 2' py "import openmetrics as o
r = o.expositions(open('out').read())
j = [x['nvmtop_rail_joules_total'][(('rail', 'ramp'),)] for x in r]
assert all(a <= b for a, b in zip(j, j[1:])), j
assert abs(j[5] - 4.5) < 0.1, j[5]
b = [x['nvmtop_cpu_busy_seconds_total'][(('cpu', '1'),)] for x in r]
assert all(a <= b for a, b in zip(b, b[1:])) and abs(b[3] - 1.0) < 0.01, b[3]"

# --- live ---
$EMU "$NVMTOP" stream --demo --interval 0.1 >live 2>err &
pid=$!
ok 'live: each line comes when it is made' soon lines live 5
kill -TERM $pid
wait $pid
ok 'live: ends at SIGTERM with status 0' is $? 0
ok 'live: without a word' test ! -s err
ok 'live: whole lines, of a tenth of a second each' py "r = [json.loads(x) for x in open('live')]
assert all(x['seconds'] == 0.1 for x in r), r[0]
assert all(abs(b['elapsed'] - a['elapsed'] - 0.1) < 1e-6 for a, b in zip(r, r[1:]))
assert all((x[k] is None) == (k in x.get('missing', {})) for x in r for k in x if '.' in k), r[0]"
rm live # the shell that is to become nvmtop may not have emptied it when it is looked at
$EMU "$NVMTOP" stream --interval 0.1 --sysroot "$roots/orin_nano-36-super" >live 2>err &
pid=$!
soon grep -q 'thermal_zone2' live
kill -INT $pid
wait $pid
ok 'a tree of files: ends at SIGINT' is $? 0
ok 'a tree of files: a gated zone is null, with its reason' py "r = [json.loads(x) for x in open('live')]
assert all(x['temp.cv0'] is None for x in r), r
assert any('thermal_zone2' in x['missing']['temp.cv0'] for x in r), r[0]"
(
    $EMU "$NVMTOP" stream --demo --interval 0.05 2>err
    echo $? >gone
) | head -n 1 >first
soon test -s gone
ok 'the reader goes away: ends with status 0' is "$(cat gone)" 0
ok 'the reader goes away: without a word' test ! -s err
mkfifo slow
$EMU "$NVMTOP" stream --demo --interval 0.01 >slow 2>err &
pid=$!
exec 7<slow
sleep 4
kill -TERM $pid
cat <&7 >lines &
cat=$!
wait $pid
ok 'a slow reader: status 0' is $? 0
exec 7<&-
wait $cat
ok 'a slow reader: it is told what was skipped' says err 'the reader was too slow: [0-9]* intervals have no line'
# Intervals in which a busy machine sampled nothing have no line, either.
ok 'a slow reader: whole lines, of all the time' py "r = [json.loads(x) for x in open('lines')]
holes = [b['elapsed'] - a['elapsed'] - b['seconds'] for a, b in zip(r, r[1:])]
assert all(-1e-6 < x < 0.5 for x in holes), holes"
run env LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 $EMU "$NVMTOP" stream --select count.f --interval 0.2 waves.nvmt
ok 'numbers have a point in every locale' py "$read
assert abs(r[0]['count.f'] - 9.95) < 1e-9"

# --- tegrastats ---
for b in "$roots"/*; do
    echo "$(basename "$b"): $(timeout 20 $EMU "$NVMTOP" stream --interval 0.2 --format tegrastats --sysroot "$b" 2>/dev/null | head -n 1 |
        sed 's/^[0-9-]* [0-9:]* /DATE /')"
done >got
test -z "${UPDATE:-}" || cp got "$NVMTOP_SRC/tests/expected/tegrastats.txt"
ok 'lines of tegrastats of all boards' diff -u "$NVMTOP_SRC/tests/expected/tegrastats.txt" got
ok 'the date is from release 35 on' py "
for x in open('got'):
    old = re.match(r'(\w+)-32: ', x)
    assert x.split(': ', 1)[1].startswith('DATE ') == (not old), x"
ln -s "$NVMTOP" nvmtop-tegrastats
$EMU ./nvmtop-tegrastats --demo --interval 100 --logfile log 2>err &
pid=$!
ok 'as nvmtop-tegrastats: milliseconds, and a log' soon lines log 3
kill -TERM $pid
wait $pid
ok 'as nvmtop-tegrastats: status 0' is $? 0
ok 'expressions of programs that read it' py "
for x in open('log'):
    assert re.match(r'\d\d-\d\d-20\d\d \d\d:\d\d:\d\d RAM ', x), x
    ram = re.search(r'RAM (\d+)/(\d+)MB', x)
    assert 0 < int(ram[1]) < int(ram[2]), x
    assert 0 <= int(re.search(r'GR3D_FREQ (\d+)%', x)[1]) <= 100
    assert re.search(r'CPU \[((?:\d+%@\d+|off)(?:,(?:\d+%@\d+|off))*)\]', x), x
    assert re.search(r'(?:tj|GPU)@(\d+\.?\d*)C', x) and re.search(r'VDD_GPU_SOC (\d+)mW', x), x
    zones = dict(re.findall(r'(\w+)@(-?[\d.]+)C', x))
    assert set(zones) == {'cpu', 'gpu', 'soc0', 'soc1', 'soc2', 'tj', 'Tboard', 'Tdiode'}, x
    assert all(20 < float(t) < 110 for t in zones.values()), x
    assert len(re.findall(r'(\w+) (\d+)mW/(\d+)mW', x)) == 4, x"
# The program of docs/integrate.md that stands for tegrastats, as the agent of beszel calls it.
mkdir bin
sed -n '/^## beszel/,/^exec/p' "$NVMTOP_SRC/docs/integrate.md" | sed -n '/^#!/,$p' >bin/tegrastats
chmod +x bin/tegrastats
ln -s "$NVMTOP" bin/nvmtop-tegrastats
(
    PATH=$scratch/bin:$PATH sh bin/tegrastats --interval 100 2>err
    echo $? >gone
) | head -n 3 >log
ok 'as tegrastats: lines' test "$(wc -l <log)" -eq 3
ok 'as tegrastats: of this machine' py "
for x in open('log'):
    assert re.search(r'RAM (\d+)/(\d+)MB', x) and 'CPU [' in x, x"
ok 'as tegrastats: expressions of the agent of beszel, on all boards' py "
for x in open('got'):
    ram, temp = re.search(r'RAM (\d+)/(\d+)MB', x), re.search(r'(?:tj|GPU)@(\d+\.?\d*)C', x)
    power = re.search(r'(GPU_SOC|CPU_GPU_CV)\s+(\d+)mW|VDD_SYS_GPU\s+(\d+)/\d+', x)
    assert ram and (temp or x.startswith('pc: ')), x
    assert power or not ('GPU_SOC' in x or 'CPU_GPU_CV' in x or 'VDD_SYS_GPU' in x), x"
ok 'and of zones' py "
for x in open('got'):
    if x.startswith(('orin_nano', 'agx_thor', 'nano', 'tx2-')):
        assert all(-50 < float(t) < 120 for _, t in re.findall(r'(\w+)@(-?[\d.]+)C', x)) and '@' in x and 'C ' in x, x"
run nvmtop stream --format tegrastats --select '*.power' --interval 1 waves.nvmt
ok 'power: of the interval, and of all the time' py "x = [re.search(r'ramp (\d+)mW/(\d+)mW', x) for x in open('out')]
assert (int(x[2][1]), int(x[2][2])) == (2495, 1495), x[2]"

# --- metrics of one reading ---
bad=
for b in "$roots"/*; do
    nvmtop once --format openmetrics --sysroot "$b" >om 2>err
    "$python" "$NVMTOP_SRC/tests/tools/openmetrics.py" om >why 2>&1 || bad="$bad $b: $(cat why)"
done
ok 'OpenMetrics 1.0 of all boards' is "$bad" ''
# On a busy machine a reading may come too late for one.
rails_are_known() {
    run nvmtop once --format openmetrics --sysroot "$roots/agx_orin-36"
    grep '^nvmtop_rail_watts{rail="VIN_SYS_5V0"}' out && grep '^nvmtop_temperature_celsius{zone="tj"}' out
}
soon rails_are_known
ok 'its names, units and reasons' py "import openmetrics as o
x = o.expositions(open('out').read())[0]
assert abs(x['nvmtop_rail_watts'][(('rail', 'VIN_SYS_5V0'),)] - 4.86864) < 1e-12, x['nvmtop_rail_watts']
assert x['nvmtop_temperature_celsius'][(('zone', 'tj'),)] == 52.875
assert x['nvmtop_engine_busy_ratio'][(('engine', 'VIC'),)] == 0.361
assert x['nvmtop_memory_used_bytes'][()] == 5260288 * 1024
assert (('zone', 'cv0'),) not in x['nvmtop_temperature_celsius']
assert any(dict(k)['signal'] == 'temp.cv0' and dict(k)['reason'] for k in x['nvmtop_missing_info'])
(info,) = x['nvmtop_info']
assert dict(info)['soc'] == 'tegra234' and dict(info)['release'] == 'L4T 36.4.3', info"
umask 077
echo old >node.prom
run nvmtop once --textfile node.prom --sysroot "$roots/agx_orin-36"
ok 'a textfile' is "$status" 0
ok 'a textfile: nothing on standard output' test ! -s out
ok 'a textfile: others can read it' is "$(stat -c %a node.prom)" 644
ok 'a textfile: nothing is left beside it' is "$(ls node.prom*)" node.prom
umask 022
if command -v promtool >/dev/null; then
    bad=
    for b in "$roots"/*; do
        nvmtop once --textfile node.prom --sysroot "$b" 2>err
        promtool check metrics <node.prom >why 2>&1 || bad="$bad $b: $(cat why)"
    done
    ok 'promtool accepts it, of all boards' is "$bad" ''
else
    skip 'promtool accepts it, of all boards' 'promtool is not installed: it is in the package prometheus'
fi
run nvmtop once --textfile no/such/node.prom
ok 'a textfile in no folder: status 1' is "$status" 1
ok 'a textfile in no folder: one sentence' one_line err

# --- input that is wrong ---
for bad in '--interval 0' '--interval -1' '--interval 1e9' '--interval x' '--format xml' '--format' '--stat median' '--stat ,' \
    '--select gpu.utli' '--select ,' '--stat max --format tegrastats' '--demo waves.nvmt' 'waves.nvmt waves.nvmt'; do
    run nvmtop stream $bad
    case $bad in --select*) run nvmtop stream $bad waves.nvmt ;; esac
    ok "$bad: status 2" is "$status" 2
    ok "$bad: one sentence" test "$(wc -l <err)" -le 2 -a -s err
done
run nvmtop stream no-such.nvmt
ok 'no such file: status 1' is "$status" 1
run $EMU ./nvmtop-tegrastats --interval 0.5
ok 'as nvmtop-tegrastats: half a millisecond is none' is "$status" 2
if test -w /dev/full; then
    run nvmtop stream --logfile /dev/full waves.nvmt
    ok 'a full disk: status 1' is "$status" 1
    ok 'a full disk: named' says err '/dev/full.*No space left'
fi
run nvmtop stream --logfile no/such/log waves.nvmt
ok 'no folder for the log: status 1' is "$status" 1

# --- other programs, as docs/integrate.md has them ---
if command -v jq >/dev/null; then
    ok 'jq' is "$(nvmtop stream --interval 1 --select count.f waves.nvmt | jq -s 'length, .[1]."count.f"' | tr '\n' ' ')" '20 149.95 '
else
    skip 'jq' 'jq is not installed'
fi
# The configuration of docs/integrate.md, with a recording in place of the machine.
if command -v telegraf >/dev/null; then
    sed -n '/^```toml/,/^```/{/^```/d;p;}' "$NVMTOP_SRC/docs/integrate.md" |
        sed "s|^  command.*|  command = [\"$NVMTOP\", \"stream\", \"$PWD/waves.nvmt\"]|" >telegraf.conf
    telegraf --config telegraf.conf --test --test-wait 3 >out 2>err
    ok 'telegraf' says out '^> jetson.*gpu.util='
else
    skip 'telegraf' 'telegraf is not installed'
fi
# And without it: its parser of JSON takes a number of seconds as the time, numbers as fields, and leaves out null and texts.
selected=$(sed -n 's/^  command = .*"--select", "\([^"]*\)".*/\1/p' "$NVMTOP_SRC/docs/integrate.md")
timeout 20 $EMU "$NVMTOP" stream --interval 0.2 --select "$selected" --sysroot "$roots/agx_orin-36" 2>err | head -n 1 >out
ok 'the line for telegraf has a time, numbers and reasons' py "(x,) = [json.loads(x) for x in open('out')]
assert type(x['time']) is float and {'gpu.util', 'VDD_CPU_CV.power', 'temp.tj'} <= set(x), list(x)
assert all(v is None or type(v) in (int, float) for k, v in x.items() if k != 'missing'), x
assert all(type(v) is str for v in x['missing'].values()), x"
if command -v prometheus-node-exporter >/dev/null; then
    mkdir textfiles
    nvmtop once --textfile textfiles/nvmtop.prom --sysroot "$roots/agx_orin-36"
    port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory=textfiles \
        --web.listen-address="127.0.0.1:$port" >exporter 2>&1 &
    pid=$!
    scrape() {
        py "import urllib.request
open('scraped', 'wb').write(urllib.request.urlopen('http://127.0.0.1:$port/metrics').read())"
    }
    soon scrape
    kill $pid
    wait $pid
    ok 'node_exporter reads the textfile without an error' says scraped '^node_textfile_scrape_error 0'
    ok 'node_exporter has its values' says scraped '^nvmtop_temperature_celsius{zone="tj"} 52.875'
    ok 'node_exporter knows counters' says scraped '^# TYPE nvmtop_energy_joules_total counter'
else
    skip 'node_exporter' 'prometheus-node-exporter is not installed'
fi
done_testing
