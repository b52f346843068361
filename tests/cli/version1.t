#!/bin/sh
# What readers of version 1 alone make of a recording.
. "$NVMTOP_SRC/tests/cli/lib.sh"

# Names of zones are the kernel's, as other writers have them.
run nvmtop --sysroot "$roots/agx_orin-36" --record --duration 0.3 -o zones.bin
ok 'a recording' is "$status" 0
ok 'its zones have the names of the kernel' judge zones.bin \
	"t['zone_names'][:3] == ['cpu-thermal', 'gpu-thermal', 'cv0-thermal'] and 'tj-thermal' in t['zone_names']"
nvmtop cut --from 0.1 zones.bin -o cut.bin 2>err
ok 'and keep them when it is cut' judge cut.bin "t['zone_names'][0] == 'cpu-thermal'"
run nvmtop export jsonl zones.bin -o zones.jsonl
ok 'signals are named as the board file does' says zones.jsonl '"temp.cpu"'

# A GPU that is not read for a while: the load before stays.
mkdir -p root/proc root/sys/devices/platform/gpu.0/power
cp "$roots/pc/proc/stat" "$roots/pc/proc/meminfo" root/proc/
gpu=root/sys/devices/platform/gpu.0
echo 437 >$gpu/load
printf 'board  gpu\ntitle  GPU\nfast  gpu  dir=/sys/devices/platform/gpu.0\nfast  ram\n' >gpu.board
mkfifo hold
nvmtop --record -o gpu.bin --board ./gpu.board --sysroot root --stop-on-eof <hold 2>err &
recorder=$!
exec 3>hold
sleep 1
: >$gpu/load
sleep 1
echo 512 >$gpu/load
sleep 1
exec 3>&-
wait $recorder
ok 'a recording of a GPU that is not always there' is "$?" 0
loads() { "$python" - <<'END2'
import json, struct, sys
raw = open("gpu.bin", "rb").read()
n = struct.unpack_from("<Q", raw, 56)[0]
v1 = [struct.unpack_from("<H", raw, 728 + 98 * i + 8)[0] for i in range(n)]
exact = [json.loads(line) for line in open("gpu.jsonl")]
exact = [row["gpu.util"] for row in exact if "gpu.util" in row]
assert len(exact) == n, (len(exact), n)
phases = [v for i, v in enumerate(exact) if i == 0 or v != exact[i - 1]]
# where the machine was slow there are ticks without a reading, too
read = [i for i, v in enumerate(phases) if v is not None]
assert [phases[i] for i in read][-1] == 51.2 and None in phases[:read[-1]], phases
assert {v for v in phases if v is not None} == {43.7, 51.2} and phases.index(43.7) < phases.index(51.2), phases
before = 0
for a, b in zip(v1, exact):
    assert a == (before if b is None else round(b * 10)), (a, b, before)
    before = a
END2
}
run nvmtop export jsonl gpu.nvmt -o gpu.jsonl
ok 'a load that was not read is the one before, 0 at first, and missing for those who know' loads
done_testing
