#!/bin/sh
# The plugin of Nsight Systems, started as nsys does, with a library in the place of nsys that takes counters.
. "$NVMTOP_SRC/tests/cli/lib.sh"
if test -n "$EMU" || ! ${CC:-cc} -shared -fPIC -w -o tool.so "$NVMTOP_SRC/tests/tools/nvtx-receiver.c" 2>/dev/null ||
    test "$(getconf LONG_BIT)" != 64; then
    echo '1..0 # SKIP no compiler for this machine, or not 64 bits: ./bootstrap installs one'
    exit 0
fi
unset NVTX_INJECTION64_PATH NVTX_TOOL NVMTOP_BOARD JETSON_MODEL_NAME
nsys=${NVMTOP%/*}/nsys/nvmtop-nsys
folder=$NVMTOP_SRC/src/nsys
NVTX_GOT=$scratch/got
export NVTX_GOT

# What the tool got; n(NAME): values of a counter, as (time, value)
got() {
    "$python" -c 'import sys
counters, values, missing, batches, lines = {}, {}, {}, {}, []
for line in open("got"):
    if not line.endswith("\n"): break
    w = line.split()
    lines.append(line.strip())
    if w[0] == "counter": counters[w[2]] = (w[1], w[3].rstrip(":"), line.split(":", 1)[1].strip())
    if w[0] == "value": values.setdefault(w[1], []).append((int(w[2]), float(w[3])))
    if w[0] == "missing": missing.setdefault(w[1], []).append((int(w[2]), int(w[3])))
    if w[0] == "batch": batches.setdefault(w[1], []).append((int(w[2]), int(w[3]), int(w[4])))
n = lambda name: values.get(counters[name][0], [])
gone = lambda name: missing.get(counters[name][0], [])
# whether the newest record of a counter is a value; a reading that came too late is missing, until the next one
here = lambda name: max(n(name), default=(0,))[0] > max(gone(name), default=(0,))[0]
unit = lambda name: counters[name][1]
about = lambda name: counters[name][2]
sys.exit(0 if eval(sys.argv[1]) else "\n".join(lines)[:3000])' "$1"
}
# start ARGUMENT...; stop: leaves $status
start() {
    rm -f got
    NVTX_INJECTION64_PATH=$scratch/tool.so "$nsys" "$@" >out 2>err &
    pid=$!
}
stop() {
    kill -TERM $pid
    wait $pid
    status=$?
}
# full NAME N: until a counter has N values
full() { got "len(n('$1')) >= $2"; }

# --- what nsys reads ---
ok 'the manifest has a name' grep -qx 'PluginName: nvmtop' "$folder/nsys-plugin.yaml"
ok 'a description' grep -q '^Description: [^:#]*$' "$folder/nsys-plugin.yaml"
ok 'and the program' test -x "${nsys%/*}/$(sed -n 's/^ExecutablePath: //p' "$folder/nsys-plugin.yaml")"

# --- not started by nsys ---
run "$nsys"
ok 'without nsys: status 2' is $status 2
ok 'without nsys: it says who starts it' says err 'Nsight Systems starts this program: nsys profile --enable=nvmtop'
ok 'without nsys: in one line' one_line err
run env NVTX_INJECTION64_PATH=/nowhere.so "$nsys"
ok 'no such library: status 1' is $status 1
ok 'no such library: its name' says err '/nowhere.so'
echo 'int InitializeInjectionNvtx2(void) { return 1; }' >bare.c
${CC:-cc} -shared -fPIC -o bare.so bare.c
run env NVTX_INJECTION64_PATH="$scratch/bare.so" "$nsys"
ok 'a tool without extensions: status 1' is $status 1
ok 'a tool without extensions: a sentence' says err 'takes no counters'
for how in refuses no-counters; do
    run env NVTX_TOOL=$how NVTX_INJECTION64_PATH="$scratch/tool.so" "$nsys" board=demo
    ok "a tool that $how: status 1" is $status 1
    ok "a tool that $how: a sentence" one_line err
done

# --- arguments ---
for bad in hz=0 hz=1001 hz= hz=x hz=nan 1000 --help select; do
    run env NVTX_INJECTION64_PATH="$scratch/tool.so" "$nsys" "$bad"
    ok "$bad: status 2" is $status 2
    ok "$bad: it says what is expected" says err "\"$bad\": expected hz="
done
run env NVTX_INJECTION64_PATH="$scratch/tool.so" "$nsys" board=demo 'select=gpu.*' select=nothing
ok 'a pattern without a signal: status 2' is $status 2
ok 'a pattern without a signal: it is named' says err '"nothing"'
run env NVTX_INJECTION64_PATH="$scratch/tool.so" "$nsys" board=nothing
ok 'no such board: status 2' is $status 2

# --- a demo ---
start board=demo
ok 'values of all tiers arrive' soon got 'len(n("gpu.util")) > 200 and len(n("power.total")) > 20 and len(n("temp.gpu")) > 2'
stop
ok 'SIGTERM: status 0' is $status 0
ok 'without a word' test ! -s out -a ! -s err
ok 'it gives the tables of NVTX 3' got '"nvtx 16 24 3 1: 0 1 1 1 1 1 1 0" in lines'
ok 'it loads the extension of counters' got '"extension 4 3 40 0x102 1 63" in lines'
ok 'the domain' got 'lines.count("domain nvmtop") == 1'
ok 'counters are doubles of the machine, with a unit and a clock' got \
    'counters and all(about(c).startswith("56 20 17 0, 72 5 2 16 1/1, 24 2 1 14, 1") for c in counters)'
ok 'rails in W' got 'unit("VDD_GPU_SOC.power") == unit("power.total") == "W" and 1 < n("power.total")[0][1] < 60'
ok 'loads in %, from 0 to 100' got 'all(unit(c) == "%" and ", from 0, to 100, 3 ," in about(c) for c in ("gpu.util", "emc.util"))'
ok 'temperatures in degrees' got 'unit("temp.gpu") == unit("temp.hottest") == "C" and 10 < n("temp.gpu")[0][1] < 110'
ok 'clocks in MHz' got 'all(unit(c) == "MHz" and 100 < n(c)[0][1] < 5000 for c in ("cpu0.freq", "emc.rate"))'
ok 'nothing else' got 'not [c for c in counters if "ram" in c or "nvmtop" in c or "voltage" in c or "current" in c]'
ok 'each value has a time, in order' got 'all(0 < a[0] < b[0] for v in values.values() for a, b in zip(v, v[1:]))'
ok 'of the monotonic clock, before it is sent' got \
    'all(b[2] == 1 for l in batches.values() for b in l) and all(v[0][0] < batches[c][-1][0] - 1 and v[-1][0] < batches[c][-1][0] < v[-1][0] + 60e9 for c, v in values.items())'
ok 'loads come at no more than 1 kHz' got 'len(n("gpu.util")) <= (n("gpu.util")[-1][0] - n("gpu.util")[0][0]) / 1e6 + 3'
ok 'rails at no more than 100 Hz' got 'len(n("power.total")) <= (n("power.total")[-1][0] - n("power.total")[0][0]) / 1e7 + 3'
ok 'temperatures at no more than 10 Hz' got 'len(n("temp.gpu")) <= (n("temp.gpu")[-1][0] - n("temp.gpu")[0][0]) / 1e8 + 3'
ok 'many values in a batch' got 'max(b[1] for b in batches[counters["gpu.util"][0]]) > 10'

start board=demo hz=50 'select=gpu.*' select=cpu.util
ok 'hz and select: values arrive' soon got 'len(n("gpu.util")) > 20 and len(n("gpu.freq")) > 20'
stop
ok 'hz and select: status 0' is $status 0
ok 'select: these and no others' got 'all(c == "cpu.util" or c.startswith("gpu.") for c in counters) and {"cpu.util", "gpu.util", "gpu.freq"} <= set(counters)'
ok 'hz: no more than that' got 'all(len(n(c)) <= (n(c)[-1][0] - n(c)[0][0]) / 2e7 + 3 for c in ("gpu.util", "gpu.freq"))'

# --- a tool without batches gets the newest value ---
NVTX_TOOL=no-batches
export NVTX_TOOL
start board=demo
ok 'no batches: values arrive' soon got 'len(n("gpu.util")) > 20 and len(n("power.total")) > 20 and len(n("temp.gpu")) > 2'
stop
ok 'no batches: status 0' is $status 0
NVTX_TOOL=no-domains
start board=demo
ok 'no domains: values arrive all the same' soon full gpu.util 20
stop
ok 'no domains: status 0' is $status 0
unset NVTX_TOOL

# --- values, and those that are missing ---
cp -R -P "$roots/orin_nx-36-offline" nx && chmod -R u+w nx
nvmtop once --json --sysroot nx >once.json
cat >values.py <<'P'
import json, sys
once = {c["name"]: c for c in json.load(open("once.json"))["channels"]}
scale = {"mW": 1e-3, "Hz": 1e-6}
name, seen, missing = {}, {}, set()
for w in (l.split() for l in open("got")):
    if w[0] == "counter": name[w[1]] = w[2]
    if w[0] == "value": # a reading that came too late was missing, until the next one
        seen.setdefault(name[w[1]], set()).add(float(w[3]))
        missing.discard(name[w[1]])
    if w[0] == "missing" and w[3] == "2": missing.add(name[w[1]])
bad = []
for c in name.values():
    v = once[c]["value"]
    want = set() if v is None else {v * scale.get(once[c]["unit"], 1)}
    if len(seen.get(c, set())) != len(want) or any(abs(a - b) > 1e-4 * abs(b) for a, b in zip(seen.get(c, ()), want)) or (v is None) != (c in missing):
        bad.append((c, v, seen.get(c), c in missing))
sys.exit(str(bad) if bad or not any(once[c]["value"] is None for c in name.values()) else 0)
P
start sysroot=nx
ok 'a board: values arrive' soon got 'len(n("VDD_IN.power")) > 5 and len(n("temp.tj")) > 2 and len(n("gpu.util")) > 50'
ok 'values are those of the board' soon "$python" values.py
stop
tj=$(dirname "$(grep -lx tj-thermal nx/sys/class/thermal/thermal_zone*/type)")/temp
was=$(cat "$tj")
start sysroot=nx
ok 'a zone has values' soon full temp.tj 2
ok 'and is not missing' soon got 'here("temp.tj")'
: >"$tj"
ok 'it has no value any more: unavailable' soon got 'not here("temp.tj")'
ok 'once, with the reason' got 'gone("temp.tj")[-1][1] == 2 and len([m for m in gone("temp.tj") if m >= max(n("temp.tj"))]) == 1'
echo "$was" >"$tj"
ok 'its values return' soon got 'here("temp.tj")'
stop
ok 'none was made up' got "all(abs(v - $was / 1000) < 1e-4 for t, v in n('temp.tj'))"
done_testing
