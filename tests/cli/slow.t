#!/bin/sh
# Drivers that fail, dawdle, hang and go away, for real: a file system of our own
# is the /sys of an AGX Orin, and its files misbehave by rules.
. "$NVMTOP_SRC/tests/cli/lib.sh"
measures

slowfs=$(dirname "$NVMTOP")/../tests/tools/slowfs
server=
recorder=
# A read that hangs must go on before its reader can end.
release() {
    test -z "$server" || {
        kill "$server"
        wait "$server"
    } 2>/dev/null
    umount -l root/sys 2>/dev/null || fusermount3 -uz root/sys 2>/dev/null
    test -z "$recorder" || kill "$recorder" 2>/dev/null
    server=
}
trap 'release; rm -rf "$scratch"' EXIT
trap 'exit 99' INT TERM HUP

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
test -x "$slowfs" || skip_all 'built without libfuse 3: ./bootstrap --tests, then configure and make again'
test -c /dev/fuse || skip_all 'there is no /dev/fuse: modprobe fuse'

# What the fast tier reads itself is no file of a driver here, so that it is
# late only when something else holds it up: the GPU by its load, no debugfs.
base=$scratch/base
mkdir -p root/sys
cp -a "$roots/agx_orin-36" base && chmod -R u+w base || exit 99
mv base/proc base/etc root/ 2>/dev/null
rm -rf base/sys/kernel/debug base/sys/devices/platform/gpu.0/counters
i2c=/devices/platform/bus@0/c240000.i2c/i2c-1
chip1=$i2c/1-0040/hwmon/hwmon4 # VDD_GPU_SOC, VDD_CPU_CV, VIN_SYS_5V0
chip2=$i2c/1-0041/hwmon/hwmon5 # VDDQ_VDD2_1V8AO
zones=/devices/virtual/thermal
for z in 1 2 3 4; do # the ones that the copy cannot answer as the driver does
    rm -rf base/sys$zones/thermal_zone$z/temp
    echo 40000 >base/sys$zones/thermal_zone$z/temp
done

: >none
$EMU "$slowfs" base/sys none root/sys 2>server.err &
server=$!
for i in $(seq 100); do
    test -e root/sys/.rules && break
    kill -0 $server 2>/dev/null || break
    sleep 0.05
done
test -e root/sys/.rules ||
    skip_all "a file system cannot be mounted here, as root or with fusermount3 it can: $(grep -v 'max threads' server.err | tail -n 1)"

rule() { echo "$*" >root/sys/.rules; }
# ---- reads that hang hold up this file system no more than sysfs
mkdir base/sys/many
for i in $(seq 30); do echo "$i" >"base/sys/many/$i"; done
rule '/many/2? hang 0 60000'
rule '/many/1? hang 0 60000'
for i in $(seq 10 29); do cat "root/sys/many/$i" >/dev/null & done
hung() { test "$(sed -n 's/^Threads:[^0-9]*//p' /proc/$server/status)" -gt 20; }
ok 'twenty reads hang' soon hung
ok 'and another one does not' timeout 30 cat root/sys/many/1
rule '/many/2? clear'
rule '/many/1? clear'

# begin FILE SECONDS: record in the background; returns when the recording has started
begin() {
    rm -f began "$1"
    $EMU "$NVMTOP" --record --sysroot root -o "$1" -- sh -c "echo >began; exec sleep $2" 2>"$1.err" &
    recorder=$!
    for i in $(seq 400); do
        test -e began && break
        sleep 0.02
    done
}
end() {
    wait "$recorder"
    status=$?
    recorder=
}
record() {
    begin "$@"
    end
}
late() { sed -n 's/.*; \([0-9]*\) late.*/\1/p' "$1.err"; }
# lost FILE EXPRESSION: of the rows of FILE. A reading that came too late for its row is a hole in it, and is counted in the next
# slow row, however fast the machine is. The time of a medium row is that of its readings, at most 50 ms before it was made: on
# which side of a slow row one of these is, is not known. So `counted` is what was counted between two slow rows, if possible
# those without a hole in their last 50 ms; least[NAME] and most[NAME] are the holes in between, without and with those that
# may be outside. `said` is what the summary has, and `whole` what was counted in the file.
lost() {
    nvmtop export jsonl --force "$1" -o rows.jsonl 2>why || return
    "$python" - "$1.err" "$2" <<'END_OF_PYTHON'
import json, re, sys
rows = [r for r in map(json.loads, open("rows.jsonl")) if r.get("row") in ("medium", "slow")]
medium, slow = ([r for r in rows if r["row"] == tier] for tier in ("medium", "slow"))
read = {n for n in medium[0] if n.endswith(".power") and n != "power.total"} | {n for n in slow[0] if n.startswith("temp.") and n != "temp.hottest"}
read = {n for n in read if any(r.get(n) is not None for r in rows)} # what has no value at all is not late
near = lambda r, t: t - 0.05 < r["time_s"] <= t
calm = [s for s in slow if not any(near(r, s["time_s"]) and any(r[n] is None for n in read & set(r)) for r in medium)]
a, b = ((calm or slow)[i]["time_s"] for i in (0, -1))
at = {s["time_s"]: s["nvmtop.late_readings"] for s in slow}
counted, whole = at[b] - at[a], slow[-1]["nvmtop.late_readings"] - slow[0]["nvmtop.late_readings"]
holes = lambda n, start, end: sum(r.get(n, 0) is None and start < r["time_s"] <= end for r in rows)
early = lambda n: 0.05 if n.endswith(".power") else 0
least = {n: holes(n, a, b - early(n)) for n in read}
most = {n: holes(n, a - early(n), b) for n in read}
found = re.search(r"; late readings: (\d+)", open(sys.argv[1]).read())
said = int(found.group(1)) if found else 0
print("counted", counted, "from", a, "to", b, "whole", whole, "said", said, "least", least, "most", most)
sys.exit(0 if eval("(" + sys.argv[2] + ")") else 1)
END_OF_PYTHON
}

# ---- each error is one hole
once() { nvmtop once --json --sysroot root; }
once >healthy 2>err
rule $chip1/in2_input ENODATA
rule $chip2/curr2_input EIO
rule $zones/thermal_zone1/temp EAGAIN
rule $zones/thermal_zone5/temp ENODEV
rule $i2c/1-004c/hwmon/hwmon2/temp1_input EREMOTEIO
once >failing 2>err
status=$?
ok 'with files that fail: status 0' is "$status" 0
holes() {
    "$python" - healthy failing <<'END_OF_PYTHON'
import json, sys
before, after = ({c["name"]: c for c in json.load(open(f))["channels"]} for f in sys.argv[1:])
assert set(before) == set(after), set(before) ^ set(after)
gone = {n for n, c in after.items() if c["value"] is None and before[n]["value"] is not None}
rails = {r + "." + v for r in ("VDD_CPU_CV", "VDDQ_VDD2_1V8AO") for v in ("voltage", "current", "power")}
# what is computed from them goes with them
gone -= {"energy.total"}
assert gone == rails | {"power.total", "temp.gpu", "temp.soc0", "temp.Tboard"}, gone
for n, words in (("VDD_CPU_CV.power", "disabled"), ("VDDQ_VDD2_1V8AO.current", "Input/output error"),
                 ("temp.gpu", "powered down"), ("temp.soc0", "No such device"),
                 ("temp.Tboard", "Remote I/O error")):
    said = " ".join(str(after[n].get(k)) for k in ("note", "missing", "reason"))
    assert words in said, (n, said)
END_OF_PYTHON
}
ok 'exactly these have no value, and say why' holes
record errors.nvmt 0.5
power() { echo "t['medium']['fields']['$1.power']['nan']"; }
same_holes() {
    judge errors.nvmt "all(t['medium']['fields'][n + '.power']['n'] == 0 for n in ('VDD_CPU_CV', 'VDDQ_VDD2_1V8AO')) and all(t['slow']['fields'][n]['n'] == 0 for n in ('temp.gpu', 'temp.soc0', 'temp.Tboard'))" &&
        lost errors.nvmt 'len(read) == 2 + 8 and max(least.values()) <= counted and said == whole'
}
ok 'a recording has the same holes' same_holes
for f in $chip1/in2_input $chip2/curr2_input $zones/thermal_zone1/temp $zones/thermal_zone5/temp \
    $i2c/1-004c/hwmon/hwmon2/temp1_input; do
    rule $f clear
done

# ---- the fast tier is never held up
# Beside each try runs a control, whose files are plain ones: how late the machine itself
# makes it.  What holds up the tier does so each time, by hundreds of ticks a second.
# beside COMMAND...: with a control of 4 s
beside() {
    $EMU "$NVMTOP" --record --sysroot plain --duration 4 --force -o control.nvmt 2>control.nvmt.err &
    control=$!
    "$@"
    wait "$control"
}
# not_later FILE
not_later() {
    echo "late: $(late "$1") of $1, $(late control.nvmt) of its control"
    test "$(late "$1")" -le $((2 * $(late control.nvmt) + 40))
}
slow_reads() {
    rule /devices/platform/*/17000000.gpu/load wait=320
    rule "$chip1/*_input" wait=550
    rule "$chip2/*_input" wait=550
    record reads.nvmt 4
    rule /devices/platform/*/17000000.gpu/load clear
    rule "$chip1/*_input" clear
    rule "$chip2/*_input" clear
}
stalls() {
    begin stall.nvmt 4
    sleep 0.5
    rule $chip1/in1_input hang 0 2000
    rule /devices/platform/*/17000000.gpu/load hang 0 2000
    end
}
mkdir plain
cp -a root/etc root/proc plain/
cp -a base/sys plain/
# good WHAT FILE: a busy machine is worth three tries
good() {
    for try in 1 2 3; do
        beside "$1"
        not_later "$2" && return
    done
    return 1
}
ok 'rails of 550 us, a load of 320 us: not one late tick more' good slow_reads reads.nvmt
ok 'and all of their values, but those that are counted as late' lost reads.nvmt "max(least[n] for n in read if n[0] == 'V') <= counted and said == whole"
ok 'a rail and the load stall for 2 s: not one late tick more' good stalls stall.nvmt
# no_more N TIER NAME: a stalled recording has at most N holes more in a signal whose name begins so than twice those of its control
no_more() {
    for file in stall control; do
        tell "max(f['nan'] for n, f in t['$2']['fields'].items() if n.startswith('$3'))" $file.nvmt >$file.holes || return
    done
    echo "holes: $(cat stall.holes), $(cat control.holes) of its control"
    test "$(cat stall.holes)" -le $((2 * $(cat control.holes) + $1))
}
hole() {
    judge stall.nvmt "all(t['medium']['fields'][r + '.power']['n'] > 0 and 70 <= t['medium']['fields'][r + '.power']['nan'] for r in ('VDD_GPU_SOC', 'VDD_CPU_CV', 'VIN_SYS_5V0'))" &&
        no_more 220 medium VDD_GPU_SOC.power && no_more 220 medium VDD_CPU_CV.power && no_more 220 medium VIN_SYS_5V0.power
}
ok 'the chip has a hole of 1.5 s, and values besides' hole
ok 'and they are counted' lost stall.nvmt "70 <= least['VDD_GPU_SOC.power'] <= counted and said == whole"
ok 'the other chip has none of more than the time in which it is noticed' no_more 60 medium VDDQ_VDD2_1V8AO.power
ok 'nor have temperatures' no_more 5 slow temp.

# ---- each hole is counted once: on a board that has nothing but these sources
cat >late.board <<'END'
board late
title Late readings
medium rail VDD_GPU_SOC     bus=1-0040/in1
medium rail VDD_CPU_CV      bus=1-0040/in2
medium rail VDDQ_VDD2_1V8AO bus=1-0041/in2
slow temp cpu zone=cpu-thermal
slow temp soc0 zone=soc0-thermal
END
holes_are_counted() {
    rm -f began
    $EMU "$NVMTOP" --record --sysroot root --board late.board --force -o late.nvmt -- sh -c 'echo >began; exec sleep 2.5' 2>late.nvmt.err &
    recorder=$!
    soon test -e began
    rule "$chip1/*_input" hang 500 900
    rule $chip2/curr2_input hang 1000 1300
    rule $zones/thermal_zone5/temp hang 1400 1900
    end
    rule "$chip1/*_input" clear
    rule $chip2/curr2_input clear
    rule $zones/thermal_zone5/temp clear
    # two rails of a chip are one reading
    lost late.nvmt "len(read) == 5 and min(least[n] for n in read if n != 'temp.cpu') > 0 and said == whole and
        all(holes['VDD_GPU_SOC.power'] == holes['VDD_CPU_CV.power'] for holes in (least, most)) and
        sum(least.values()) - least['VDD_CPU_CV.power'] <= counted <= sum(most.values()) - most['VDD_CPU_CV.power']"
}
ok 'the summary, the signal and the holes of the rows tell the same number of late readings' holes_are_counted

# ---- rows and gaps are all ticks
gpu=/devices/platform/bus@0/17000000.gpu
echo "0 0" >base/sys$gpu/counters # of a GPU that is off: read for each row
rule $gpu/counters wait=1300
record ticks.nvmt 2
rule $gpu/counters clear
rm base/sys$gpu/counters
nvmtop export jsonl ticks.nvmt -o ticks.jsonl
add_up() {
    "$python" - ticks.jsonl <<'END_OF_PYTHON'
import json, sys
times, missed = [], 0
for r in map(json.loads, open(sys.argv[1])):
    if r.get("row") == "fast":
        times.append(r["time_s"])
    elif r.get("row") == "gap" and r["tier"] == "fast":
        missed += r["missed"]
ticks = round((times[-1] - times[0]) * 1000) + 1
assert missed > 300, missed
assert abs(len(times) + missed - ticks) <= 3, (len(times), missed, ticks)
END_OF_PYTHON
}
ok 'rows that come late: they and the gaps are all ticks' add_up

# ---- what comes back is used again
move_chip() {
    rule /class/hwmon/hwmon4 gone
    rule $chip1 gone
    sleep 0.3
    new=${chip1%4}7
    mv "base/sys$chip1" "base/sys$new"
    ln -s "../..$new" base/sys/class/hwmon/hwmon7
    rm base/sys/class/hwmon/hwmon4
    echo 4000 >base/sys$new/in1_input
    rule $new/curr1_input ramp=100:300:200
}
in1=$(cat base/sys$chip1/in1_input)
soc0=$(cat base/sys$zones/thermal_zone5/temp)
begin back.nvmt 4
sleep 0.5
rule /class/thermal/thermal_zone5 gone 0 700
rule $zones/thermal_zone5 gone 0 700
move_chip
sleep 0.1
echo 33500 >base/sys$zones/thermal_zone5/temp
end
ok 'unbound: a hole' judge back.nvmt "20 <= $(power VDD_GPU_SOC) <= 270"
moved() {
    judge back.nvmt "t['medium']['fields']['VDD_GPU_SOC.voltage']['max'] == $in1 and t['medium']['fields']['VDD_GPU_SOC.power']['min'] < 4 * 150"
}
ok 'bound again under another number: used again' moved
ok 'the other chip noticed nothing' lost back.nvmt "least['VDDQ_VDD2_1V8AO.power'] <= counted and said == whole"
zone="t['slow']['fields']['temp.soc0']"
ok 'a zone vanishes and comes back' judge back.nvmt "3 <= $zone['nan'] <= 25 and $zone['min'] == 33.5 and abs($zone['max'] - $soc0 / 1000) < 0.01"

# ---- a stop does not wait for a read that hangs
begin stop.nvmt 60
sleep 0.5
rule ${chip1%4}7/in1_input hang
sleep 0.3
kill -TERM $recorder
whole() { says stop.nvmt.err 'recorded' && test ! -e stop.nvmt.part && kill -0 $recorder; }
for i in $(seq 60); do
    whole >why 2>&1 && break
    sleep 0.05
done
ok 'stopped while a read hangs: complete within 3 s' whole
ok 'with all its samples' judge stop.nvmt "t['counts']['fast'] > 20 and t['medium']['increasing']"
rule ${chip1%4}7/in1_input clear
end
ok 'and it ends once the read does' is "$status" 143
release
ok 'nothing stays mounted' sh -c "! grep -q '$scratch' /proc/mounts"
done_testing
