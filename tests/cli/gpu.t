#!/bin/sh
# The GPU by its counters and by its load, and gently.
. "$NVMTOP_SRC/tests/cli/lib.sh"

# A root of its own: the files that a GPU has, below the CPU and the memory of a PC.
mkdir -p root/proc root/sys/devices/platform/gpu.0/power
cp "$roots/pc/proc/stat" "$roots/pc/proc/meminfo" root/proc/
gpu=root/sys/devices/platform/gpu.0
echo 437 >$gpu/load
echo on >$gpu/gpu_powered_on
cat >gpu.board <<'END'
board  gpu
title  GPU
fast   gpu  dir=/sys/devices/platform/gpu.0
fast   ram
slow   gated gpu  dir=/sys/devices/platform/gpu.0
END

run nvmtop once --board ./gpu.board --sysroot root --json
ok 'the load' says out '43\.7'
run nvmtop boards --board ./gpu.board --sysroot root
ok 'is named as the moving average that it is' says out '/load  (window 283.9 ms; moving average of 284 ms)'
ok 'with its state' says out 'gpu.gated .*gpu_powered_on'

run nvmtop boards --board ./gpu.board --sysroot root --gentle
ok '--gentle says what it does' says out 'moving average of 284 ms; read rarely so that it can sleep'

run nvmtop --record --duration 1 -o load.nvmt --board ./gpu.board --sysroot root
ok 'a recording with the load' is "$status" 0
nvmtop export jsonl load.nvmt >load.jsonl
ok 'the trace says what it is' says load.jsonl 'moving average'

rm $gpu/load
run nvmtop boards --board ./gpu.board --sysroot root
ok 'without load and counters: the reason' says out 'gpu.0/load (not there)'

# The driver was updated while it ran, so its library refuses; the machine is this one.
cat >nvml.c <<'END'
int nvmlInit_v2(void) { return 18; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 0; return 18; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h) { (void)i; *h = 0; return 18; }
int nvmlDeviceGetName(void *h, char *s, unsigned n) { (void)h; (void)s; (void)n; return 18; }
const char *nvmlErrorString(int e) { return e == 18 ? "Driver/library version mismatch" : "?"; }
END
mkdir driver
if test -z "$EMU" && ${CC:-cc} -shared -fPIC -o driver/libnvidia-ml.so.1 nvml.c 2>/dev/null; then
    for way in boards once '--view gpu --print 120x40' '--view overview --print 120x40'; do
        # shellcheck disable=SC2086
        run env LD_LIBRARY_PATH="$scratch/driver" "$NVMTOP" $way --board generic --no-config
        ok "an NVML that refuses: nvmtop $way: status" is "$status" 0
        ok "an NVML that refuses: nvmtop $way: the reason" says out 'Driver/library version mismatch'
    done
else
    skip 'an NVML that refuses' 'it cannot be made here: needs a compiler, and no emulator'
fi

# One whose power is a closed form of time: every sample is in one row, with its time.
mkdir wave
if test -z "$EMU" && ${CC:-cc} -shared -fPIC -o wave/libnvidia-ml.so.1 "$NVMTOP_SRC/tests/tools/nvml-fake.c" -lm 2>/dev/null; then
    load="$("$python" -c 'import time; print(time.time())') 60 0.35"
    run env LD_LIBRARY_PATH="$scratch/wave" NVML_FAKE_LOAD="$load" "$NVMTOP" record --duration 5.5 -o wave.nvmt \
        --board generic --no-config
    ok 'a recording of a square wave' is "$status" 0
    nvmtop export jsonl --tier medium wave.nvmt >wave.jsonl
    cat >wave.py <<'END'
import json, sys

start, seconds, on = map(float, sys.argv[1].split())
lines = [json.loads(line) for line in open("wave.jsonl")]
begin = lines[0]["trace"]["start"]["realtime_ns"] / 1e9
rows = [r for r in lines[1:] if r.get("row") == "medium"]


def energy(t):
    full, rest = divmod(t - start, 2 * on)
    return 120 * (t - start) + 580 * (full * on + min(rest, on))


def readings(name):
    for r in rows:
        if (r[name] is None) != (r[name + ".age"] is None):
            sys.exit(f"{name} and its age are not together: {r}")
        if r[name] is not None:
            yield begin + r["time_s"] - r[name + ".age"] / 1e3, r[name]


samples = list(readings("gpu.power"))
numbers = [round(t * 50) for t, mw in samples]
if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or len(numbers) < 250:
    sys.exit(f"samples are missing or not in order: {numbers}")
for (t, mw), k in zip(samples, numbers):
    true = (energy(k / 50) - energy(k / 50 - .02)) / .02 * 1000
    if abs(t - k / 50) > 1e-3 or abs(mw - true) > 1:
        sys.exit(f"the sample of {k / 50:.3f} s is {mw} mW at {t:.4f} s, not {true:.0f}")
counted = list(readings("gpu.energy"))
if len(counted) < 20:
    sys.exit(f"{len(counted)} changes of the counter in 5.5 s")
# It changes at tenths of a second; on a busy machine that is seen late.
rise = counted[-1][1] - counted[0][1]
ends = [[round(counted[i][0], 1) + late / 10 for late in range(-3, 1)] for i in (0, -1)]
if sorted(counted) != counted or not any(abs(rise - energy(u) + energy(t)) < .01 for t in ends[0] for u in ends[1]):
    sys.exit(f"the counter rises by {rise} J between {counted[0][0]} and {counted[-1][0]}")
END
    ok 'has each sample once, with its time, and the counter' "$python" wave.py "$load"

    # The driver is loaded later than nvmtop starts, as at boot.
    touch waits
    rm -f late.jsonl
    LD_LIBRARY_PATH=$scratch/wave NVML_FAKE_WAITS=waits NVML_FAKE_LOAD="$load" "$NVMTOP" stream --board generic --no-config \
        --select 'gpu.*' --interval 0.2 >late.jsonl &
    pid=$!
    soon says late.jsonl 'Driver Not Loaded' >soon.log
    ok 'a driver that is loaded late: the reason before' says late.jsonl '"gpu.power":null.*"gpu.power":"NVML cannot be initialised: Driver Not Loaded'
    rm waits
    soon says late.jsonl '"gpu.power":[0-9].*"gpu.power.age":[0-9].*"gpu.energy":[0-9]' >soon.log
    ok 'a driver that is loaded late: then its power, when it was, and energy' says late.jsonl '"gpu.power":[0-9].*"gpu.power.age":[0-9].*"gpu.energy":[0-9]'
    kill $pid
    wait $pid 2>/dev/null
else
    skip 'a recording of a square wave' 'NVML cannot be made here: needs a compiler, and no emulator'
fi
done_testing
