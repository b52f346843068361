#!/bin/sh
# One reading: numbers with units, null with a reason.
. "$NVMTOP_SRC/tests/cli/lib.sh"

json() {
    "$python" -c 'import json,sys
t=json.load(open("out"))
c={x["name"]:x for x in t["channels"]}
sys.exit(0 if eval(sys.argv[1]) else json.dumps(t, indent=1)[:4000])' "$1"
}

run nvmtop once
ok 'this machine' is "$status" 0
ok 'this machine has a CPU' says out '^cpu.util '
run nvmtop once --json
ok 'JSON of this machine' is "$status" 0
ok 'it is one object with facts' json '"board" in t["facts"] and t["time"] > 1.7e9'
ok 'CPU in percent' json '0 <= c["cpu.util"]["value"] <= 100 and c["cpu.util"]["unit"] == "%"'
ok 'RAM adds up' json 'c["ram.used"]["value"] > 0 and c["ram.available"]["value"] > 0'
ok 'each null has a reason, and only those' json 'all((x["value"] is None) == ("reason" in x) for x in t["channels"])'

bad=0
for i in 1 2 3 4 5 6 7 8 9 10; do
    nvmtop once >out 2>err
    grep -- ' -- ' out | grep -qv '^swap[.]' && bad=$((bad + 1))
done
ok 'each reading is there each time' is "$bad" 0

run nvmtop once --json --sysroot "$roots/agx_orin-36"
ok 'a board that was sent in' is "$status" 0
ok 'is recognised' json 't["facts"]["board"] == "agx_orin" and t["facts"]["release"] == "L4T 36.4.3"'
ok 'by its files, not by where they were put' json 't["facts"]["why"].startswith("/proc/device-tree/compatible has ") and not any("'"$roots"'" in x for x in t["facts"].values())'
ok 'four rails' json 'sum(x["kind"] == "rail_power" for x in t["channels"]) == 4'
ok 'rail power is volt times ampere' json 'abs(c["VDD_GPU_SOC.power"]["value"] - c["VDD_GPU_SOC.voltage"]["value"] * c["VDD_GPU_SOC.current"]["value"] / 1000) < 0.01'
ok 'the total is the sum by the rule' json 'abs(c["power.total"]["value"] - sum(c[r + ".power"]["value"] for r in ("VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"))) < 0.01'
ok 'eleven zones' json 'sum(x["kind"] == "temperature" for x in t["channels"]) == 11'
ok 'a powered-down zone is null, not 0' json 'c["temp.cv0"]["value"] is None and c["temp.cv0"]["reason"]'
ok 'a CPU that does not move is not 100 percent' json 'c["cpu0.util"]["value"] is None'

run nvmtop once --json --sysroot "$roots/orin_nx-36-offline"
ok 'cores by number' json 'sorted(x["index"] if "index" in x else int(x["name"][3:-5]) for x in t["channels"] if x["kind"] == "core_util") == list(range(8))'

cp -R -P "$roots/pc" many && mkdir -p many/sys/devices/system/cpu && seq -s , 0 2 506 >many/sys/devices/system/cpu/online
run nvmtop once --json --sysroot many
ok 'what is too long for a fact ends in an ellipsis' json 't["facts"]["cpu.online"].startswith("0,2,4,") and t["facts"]["cpu.online"].endswith("...")'

run nvmtop once --sysroot /no/such/folder
ok 'no such root: status 1' is "$status" 1
ok 'no such root: named' says err /no/such/folder
if test -w /dev/full; then
    nvmtop once >/dev/full 2>err
    status=$?
    ok 'a full standard output is an error' is "$status" 1
fi
done_testing
