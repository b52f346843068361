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
done_testing
