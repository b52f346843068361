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

run nvmtop --once --board ./gpu.board --sysroot root --json
ok 'the load' says out '43\.7'
run nvmtop --boards --board ./gpu.board --sysroot root
ok 'is named as the moving average that it is' says out '/load  (moving average of 284 ms)'
ok 'with its state' says out 'gpu.gated .*gpu_powered_on'

run nvmtop --boards --board ./gpu.board --sysroot root --gentle
ok '--gentle says what it does' says out 'moving average of 284 ms; read rarely so that it can sleep'

run nvmtop --record --duration 1 -o load.bin --board ./gpu.board --sysroot root
ok 'a recording with the load' is "$status" 0
nvmtop --export jsonl load.bin >load.jsonl
ok 'the trace says what it is' says load.jsonl 'moving average'

rm $gpu/load
run nvmtop --boards --board ./gpu.board --sysroot root
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
done_testing
