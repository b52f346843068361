#!/bin/sh
# What sensors say and what is made of it: values that cannot be, limits that slow nothing
# down, fans that nobody counts, chips that do not name their rails.
. "$NVMTOP_SRC/tests/cli/lib.sh"
unset NVMTOP_BOARD JETSON_MODEL_NAME

json() {
    "$python" -c 'import json,sys
t=json.load(open("out"))
c={x["name"]:x for x in t["channels"]}
sys.exit(0 if eval(sys.argv[1]) else json.dumps(t, indent=1)[:6000])' "$1"
}
once() { run nvmtop once --json --sysroot "$@"; }
# tree NAME ROOT: a copy of a fake board in the folder NAME
tree() { cp -R -P "$roots/$2" "$1" && chmod -R u+w "$1"; }
hwmon() { echo "$1"/sys/class/hwmon/hwmon"$2"; }

# ---- values that cannot be ----
tree bad orin_nx-36-offline
for z in bad/sys/class/thermal/thermal_zone*; do
    test "$(cat "$z/type")" = cpu-thermal && echo -256000 >"$z/temp"
    test "$(cat "$z/type")" = tj-thermal && echo -200000 >"$z/temp"
    test "$(cat "$z/type")" = soc0-thermal && echo -40000 >"$z/temp"
done
echo 9223372036854775807 >"$(hwmon bad 2)/in1_input"
echo 2000000 >"$(hwmon bad 2)/in2_input"
echo -1 >"$(echo bad/sys/class/devfreq/17000000.gpu/cur_freq)"
once bad
ok 'values that cannot be: read' is "$status" 0
ok 'a voltage of 2^63 mV is missing, with the reason' json 'c["VDD_IN.voltage"]["value"] is None and "in1_input: out of range: 9223372036854775807" in c["VDD_IN.voltage"]["reason"]'
ok 'and with it the current and the power' json 'all(c["VDD_IN." + x]["value"] is None and c["VDD_IN." + x]["reason"].endswith("VDD_IN.voltage is missing") for x in ("current", "power"))'
ok 'and the total, for that reason' json 'c["power.total"]["value"] is None and "VDD_IN is missing" in c["power.total"]["reason"]'
ok 'two kilovolts are missing, and make no power' json 'c["VDD_CPU_GPU_CV.voltage"]["value"] is None and c["VDD_CPU_GPU_CV.power"]["value"] is None'
ok 'a clock of -1 Hz is missing' json 'c["gpu.freq"]["value"] is None and "out of range" in c["gpu.freq"]["reason"]'
ok 'a zone of -256 degrees is missing' json 'c["temp.cpu"]["value"] is None and "out of range" in c["temp.cpu"]["reason"]'
ok 'a zone of -200 degrees is missing' json 'c["temp.tj"]["value"] is None'
ok 'a zone of -40 degrees is cold' json 'c["temp.soc0"]["value"] == -40'
run nvmtop boards --sysroot bad
ok 'boards says which' says out 'VDD_IN.voltage .*in1_input  (no value now: out of range: 9223372036854775807; '
run nvmtop --record --duration 0.5 --sysroot bad --force bad.nvmt
run nvmtop export csv bad.nvmt
ok 'they are not in a recording' sh -c 'test -s out && ! grep -qE "temp.cpu,-256|VDD_IN.voltage,9|gpu.freq,-1" out'

run nvmtop --record --duration 0.5 --sysroot bad --force bad.nvmt
run nvmtop report bad.nvmt
ok 'a report says what was not measured, and why' says out '^temp.cpu .*thermal_zone[0-9]*/temp: out of range: -256000$'
ok 'of a sum, which part was missing' says out '^power.total  *VDD_IN is missing$'
ok 'and what was never there' says out '^emc.util .*tried /sys/kernel/debug'
# On a busy machine a reading may come too late, and that is said.
all_the_time() {
    for attempt in 1 2 3 4 5; do
        sed -n '/^not measured/,$p' out | grep -q temp.soc0 || return 0
        nvmtop --record --duration 0.5 --sysroot bad --force bad.nvmt
        run nvmtop report bad.nvmt
    done
    return 1
}
ok 'and nothing that was measured all the time' all_the_time
run nvmtop report --format json bad.nvmt
ok 'and its JSON' says out '"name":"temp.cpu".*"reason":"[^"]*out of range: -256000"'
run nvmtop cut --force --from 0.2 bad.nvmt bad-cut.nvmt
run nvmtop report bad-cut.nvmt
ok 'so does that of a part of it' says out '^temp.cpu .*: out of range: -256000$'

# ---- what is hot to the touch slows nothing down ----
tree hot orin_nx-36-offline
for z in hot/sys/class/thermal/thermal_zone*; do echo 72500 >"$z/temp"; done
for c in hot/sys/class/thermal/cooling_device*; do
    test "$(cat "$c/type")" = hot-surface-alert && echo 1 >"$c/cur_state" && alert=$c
done
run nvmtop boards --sysroot hot
ok 'the limit is the trip at which something is slowed down' says out 'temp.cpu .*(warns at 99; critical at 104.5)'
ok 'and not the one that only tells' sh -c '! grep -q "warns at 70" out'
once hot
ok 'hot to touch is a notice' json 'c["notice.hot-surface-alert"]["value"] == 1 and c["notice.hot-surface-alert"]["kind"] == "notice" and c["notice.hot-surface-alert"]["label"] == "hot to touch"'
ok 'and no throttling' json 'not any(x["kind"] == "throttle" and x["value"] for x in t["channels"])'
# few rows: those that are late would cover the words on the line of events
run nvmtop --record --duration 0.6 --fast-hz 20 --medium-hz 20 --sysroot hot --force hot.nvmt
ok 'summary: nothing throttled' says err 'throttling: none'
ok 'summary: the notice, and for how long' says err 'notices: *hot to touch for [0-9.]* '
run nvmtop report --all hot.nvmt
ok 'report: nothing throttled' sh -c 'grep -q "throttled for 0.000 s" out && ! grep "throttled for" out | grep -qv "for 0.000 s"'
run nvmtop --replay hot.nvmt --print 120x40 --view thermal
ok 'screen: the notice by its name, and for how long' says out '^ *hot to touch  *0\.[0-9] s'
ok 'screen: the notice is an event' says out '^ events .*hot to touch'
ok 'screen: nothing throttled, nothing above its limit' sh -c '! grep -qE "throttled:|-[0-9.]+ *$|TTT" out'
ok 'screen: the limit' says out '99'
run nvmtop --record --keep 0.2 --trigger throttled --duration 0.6 --sysroot hot --force kept.nvmt
ok '--trigger throttled does not fire' sh -c '! ls | grep -q ^kept'
# Bindings decide, not the order of the trips or the kind of zone.
for z in hot/sys/class/thermal/thermal_zone*; do
    test "$(cat "$z/type")" = cpu-thermal && rm "$z/cdev0" "$z/cdev0_trip_point"
    test "$(cat "$z/type")" = gpu-thermal && echo 2 >"$z/cdev0_trip_point"
done
run nvmtop boards --sysroot hot
ok 'a zone that slows nothing down warns at nothing' says out 'temp.cpu .*temp  (critical at 104.5)'
ok 'one that slows down from 70 on warns at 70' says out 'temp.gpu .*(warns at 70; critical at 104.5)'

# ---- the hottest zone is one that is measured ----
for r in nano-32 tx2-32 agx_xavier-32 agx_xavier-35 xavier_nx-35 tx1-32; do
    run nvmtop --record --duration 0.4 --sysroot "$roots/$r" --force zones.nvmt
    ok "$r: PMIC-Die is not the hottest" sh -c 'grep -q "hottest: *[A-Za-z0-9]" err && ! grep -qE "hottest:.*(PMIC-Die|fan-est)" err'
    cp err summary
    once "$roots/$r"
    ok "$r: it is what temp.hottest is made of" json '"hottest:" in open("summary").read() and "%.1f C" % c["temp.hottest"]["value"] in [l for l in open("summary") if "hottest:" in l][0]'
done
for r in nano-32 tx2-32 xavier_nx-35; do
    once "$roots/$r"
    ok "$r: thermal-fan-est is shown, as an estimate" json 'c["temp.thermal-fan-est"]["value"] > 0 and "estimate" in c["temp.thermal-fan-est"]["note"]'
done
tree names agx_orin-36
for z in names/sys/class/thermal/thermal_zone*; do
    case $(cat "$z/type") in
    soc1-thermal) echo tboard-thermal >"$z/type" ;;
    soc2-thermal) echo tdiode-thermal >"$z/type" ;;
    esac
done
once names
ok 'AGX Orin: tboard-thermal and tdiode-thermal' json 'all("thermal_zone" in c["temp." + x]["source"] for x in ("Tboard", "Tdiode"))'

# ---- a fan whose turns nobody counts ----
tree fan tx2-32
echo 0 >fan/sys/devices/pwm-fan/tach_enable
echo 0 >fan/sys/devices/pwm-fan/rpm_measured
once fan
ok 'a speed is missing while the tachometer is off' json 'c["fan.rpm"]["value"] is None and "(the tachometer is off)" in c["fan.rpm"]["reason"]'
ok 'the remedy is named' json '"echo 1 | sudo tee /sys/devices/pwm-fan/tach_enable" in c["fan.rpm"]["reason"]'
ok 'its PWM is there' json 'c["fan.pwm"]["value"] > 0'
run nvmtop boards --sysroot fan
ok 'boards lists it under what is missing' sh -c 'sed -n "/^Missing/,\$p" out | grep -q "fan.rpm .*the tachometer is off"'
once "$roots/tx2-32"
ok 'a tachometer that is on tells' json 'c["fan.rpm"]["value"] == 1204'

# ---- all devices of one name, and those that no board file names ----
# chip N NAME FILE TEXT ...: a hwmon chip of the tree more
chip() {
    dir=devices/sys/class/hwmon/hwmon$1
    mkdir -p "$dir" && echo "$2" >"$dir/name"
    shift 2
    while test $# -gt 1; do echo "$2" >"$dir/$1" && shift 2; done
}
tree devices orin_nx-36-offline
chip 20 pwmfan pwm1 77
chip 21 pwmfan pwm1 204
chip 22 pwm_tach rpm 1466
chip 23 pwm_tach rpm 2911
chip 24 nvme temp1_input 41850 temp1_label Composite temp1_crit 84850
chip 25 emc2305 fan1_input 4200 fan1_label REAR fan2_input 0 fan2_enable 0
chip 26 mystery humidity1_input 40 curr1_input 120 in1_input 5000
mkdir -p devices/sys/class/thermal/thermal_zone40
echo iwlwifi_1 >devices/sys/class/thermal/thermal_zone40/type
echo 55000 >devices/sys/class/thermal/thermal_zone40/temp
once devices
ok 'fans of one name are channels each' json '[round(x["value"]) for n, x in sorted(c.items()) if n.startswith("fan.pwm") and x["unit"] == "%" and "hwmon2" in x["source"]][-2:] == [30, 80]'
ok 'and their speeds' json '{1466, 2911} <= {x["value"] for n, x in c.items() if n.startswith("fan.rpm")}'
ok 'and one of another driver, without what is off' json 'c["fan.emc2305.REAR"]["value"] == 4200 and not any("fan2" in x["source"] for x in t["channels"])'
ok 'an SSD has a temperature and its limit' json 'c["temp.nvme.Composite"]["value"] > 41.8 and c["temp.nvme.Composite"]["crit"] > 84'
ok 'a zone that the board file does not name, too' json 'c["temp.iwlwifi_1"]["value"] == 55'
ok 'the hottest is one of the module' json 'c["temp.hottest"]["value"] < 55'
run nvmtop boards --sysroot devices
ok 'what is not read is named' says out '^  Other sensors: .*mystery (hwmon26)'
# A module that no file names: its rails tell what its input is.
tree unnamed orin_nx-36-offline
printf 'some,carrier\0nvidia,tegra234\0' >unnamed/sys/firmware/devicetree/base/compatible
once unnamed
ok 'an unknown module: its input is the total' json 't["facts"]["board"] == "tegra234" and c["power.total"]["value"] == c["VDD_IN.power"]["value"] > 0'
ok 'and its fan is there' json 'c["fan.pwm"]["value"] >= 0'
echo 0 >"$(hwmon unnamed 2)/in3_enable"
once unnamed
ok 'a channel that is disabled is none' json '"VDD_IN.power" in c and "VDD_SOC.power" not in c'

# ---- rails ----
# An INA3221 whose device tree does not name the channels.
tree plain orin_nx-36-offline
rm "$(hwmon plain 2)"/in?_label
once plain
ok 'no labels: the order of the module' json 'c["VDD_IN.power"]["value"] > 0 and c["VDD_SOC.voltage"]["source"].endswith("/in3_input") and "named by the module" in c["VDD_IN.power"]["note"]'
ok 'and its total' json 'c["power.total"]["value"] == c["VDD_IN.power"]["value"]'
rm plain/sys/bus/i2c/devices/1-0040
once plain
ok 'without the list of the bus, too' json 'c["VDD_IN.power"]["value"] > 0'
# At another address it is not the module's.
chip=$(cd -P "$(hwmon plain 2)/device" && pwd)
mv "$chip" "${chip%1-0040}1-0044"
ln -sfn "../../devices/platform/bus@0/c240000.i2c/i2c-1/1-0044/hwmon/hwmon2" "$(hwmon plain 2)"
once plain
ok 'elsewhere: missing, and why' json 'c["VDD_IN.power"]["value"] is None and "/sys/class/hwmon/hwmon2 (an ina3221 whose channels have no names)" in c["VDD_IN.power"]["reason"]'
ok 'and what to do' json '"rail VDD_IN hwmon=ina3221/in1" in c["VDD_IN.power"]["reason"] and "loaded?" not in c["VDD_IN.power"]["reason"]'
# A carrier that no file knows: shunts and sums are no rails.
tree sums custom-orin-36
for h in sums/sys/class/hwmon/hwmon*; do
    test "$(cat "$h/name")" = ina3221 || continue
    rm -f "$h"/in?_label
    for k in 4 5 6 7; do echo 4000 >"$h/in${k}_input"; done
    echo 900 >"$h/curr4_input"
done
once sums
ok 'an unknown carrier: three channels are rails' json 'sum(x["kind"] == "rail_power" and "ina3221" in x["name"] for x in t["channels"]) == 3'
ok 'the fourth to seventh are none' json 'not any("/in%d_" % n in x["source"] or "/curr4_" in x["source"] for x in t["channels"] for n in (4, 5, 6, 7))'
# How the chip of L4T 28 to 32 runs is read.
tree mode-1 nano-32
echo 1 >mode-1/sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0/running_mode
once mode-1
ok 'continuous: a mean by the chip' json '"mean of 64 conversions in 422 ms" in c["POM_5V_IN.power"]["note"]'
echo 0 >mode-1/sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0/running_mode
once mode-1
ok 'triggered: no mean' json '"mean" not in c["POM_5V_IN.power"].get("note", "")'
run nvmtop boards --sysroot mode-1
ok 'no 64 conversions are made up' sh -c '! grep -q "64 conversions" out'
# The samples of an INA3221 are not in its interval on the kernels of L4T.
tree mean orin_nx-36-offline
for h in mean/sys/class/hwmon/hwmon2; do
    echo 16 >"$h/samples"
    echo 7 >"$h/update_interval"
    for k in 1 2 3; do echo 1 >"$h/in${k}_enable"; done
done
once mean
ok 'INA3221: 16 samples of 7 ms are 106 ms' json '"mean of 16 conversions in 106 ms" in c["VDD_IN.power"]["note"]'
echo 106 >mean/sys/class/hwmon/hwmon2/update_interval
once mean
ok 'INA3221: of a kernel that counts them in, too' json '"mean of 16 conversions in 106 ms" in c["VDD_IN.power"]["note"]'

# ---- a rail that dies while it is recorded, also for moments ----
tree dies orin_nx-36-offline
rail=$(cd -P "$(hwmon dies 2)" && pwd)/in1_input
cat >load.sh <<'END'
sleep 0.5
for mv in 4000 6000 8000 5000 7000 9000; do
    : >"$1" # as a driver that fails
    sleep 0.025
    echo $mv >"$1"
    sleep 0.08
done
: >"$1"
sleep 0.4
echo 3000 >"$1"
sleep 0.2
: >"$1"
sleep 0.4
END
run nvmtop --record --sysroot dies dies.nvmt -- sh load.sh "$rail"
ok 'a rail that dies: recorded' is "$status" 0
cp err summary
nvmtop report --format json dies.nvmt >report
nvmtop export jsonl dies.nvmt >rows
agree() {
    "$python" - <<'END'
import json, re
rows = [r for r in map(json.loads, open("rows")) if r.get("row") == "medium"]
joules = seconds = 0
at, stretches = None, 1
for r in rows:
    mw = r["power.total"]
    if mw is None:
        continue
    if at and r["time_s"] - at[0] <= 0.05 + 2 * 0.0066:
        seconds += r["time_s"] - at[0]
        joules += (r["time_s"] - at[0]) * (mw + at[1]) / 2000
    elif at:
        stretches += 1
    at = r["time_s"], mw
whole = json.load(open("report"))["traces"][0]["phases"][-1]
total, counter = ({s["name"]: s for s in whole["signals"]}[n] for n in ("power.total", "energy.total"))
mean, energy = map(float, re.search(r"power: *mean ([0-9.]+) W, .*energy ([0-9.]+) J", open("summary").read()).groups())
share = re.search(r"measured ([0-9]+) % of the time", open("summary").read())
lasted = float(re.search(r"recorded ([0-9.]+) s", open("summary").read())[1])
found = dict(report=total["energy_j"], whole=whole["energy_j"], counter=counter["rise"], summary=energy)
print(len(rows), sum(r["power.total"] is None for r in rows), "missing;", joules, "J in", seconds, "s;", found, mean, share and share[0], lasted)
assert 0.4 < seconds < rows[-1]["time_s"] - rows[0]["time_s"] - 0.2
# A reading is the mean over 6.6 ms, which reach beyond the first and the last of each stretch; the first one holds
# from the beginning, where it is late by up to two ticks.
reach = 2 * stretches * 0.0066 + 0.02
beyond = total["covered_s"] - seconds
for name, j in found.items():
    assert -0.006 < j - joules < 2 * reach * joules / seconds + 0.006, name  # at most 10 W, 7 on average
assert -1e-6 < beyond < reach
for w in total["mean_power_w"], whole["mean_power_w"], mean:
    assert abs(w * seconds / joules - 1) < 0.01 + beyond / seconds
assert abs(float(share[1]) - 100 * total["covered_s"] / lasted) < 0.6 + 100 * 0.03 / lasted
END
}
ok 'the mean is joules by measured time, in summary, report and rows' agree

# ---- Thor: the load of the VIC has no clock beside it ----
tree vic agx_thor-38
mkdir -p vic/sys/kernel/debug/tegra-host1x/actmon/vic/module0
echo 593 >vic/sys/kernel/debug/tegra-host1x/actmon/vic/module0/usage
once vic
ok 'Thor: the load of the VIC' json 'c["VIC.util"]["value"] == 59.3'

# ---- what else measures power here ----
tree more orin_nx-36-offline
h=more/sys/class/hwmon/hwmon7
mkdir -p $h more/sys/bus/iio/devices/iio:device0 more/sys/class/hwmon/hwmon8 more/sys/class/hwmon/hwmon9
echo ina226 >$h/name
echo 18600000 >$h/power1_input
echo CARRIER_IN >$h/label
echo ina226 >more/sys/bus/iio/devices/iio:device0/name
echo 1 >more/sys/bus/iio/devices/iio:device0/in_power2_raw
echo nvme >more/sys/class/hwmon/hwmon8/name
echo 30000 >more/sys/class/hwmon/hwmon8/temp1_input
echo ucsi_source_psy_1 >more/sys/class/hwmon/hwmon9/name
echo 3000 >more/sys/class/hwmon/hwmon9/curr1_input
run nvmtop boards --sysroot more
ok 'other power monitors are named' says out '^  Other sensors: ina226 (hwmon7: CARRIER_IN), ina226 (iio:device0)$'
once more
ok 'and are a fact' json '"CARRIER_IN" in t["facts"]["other_sensors"]'
run nvmtop --record --duration 0.3 --sysroot more --force more.nvmt
run nvmtop --replay more.nvmt --print 120x40 --view board
ok 'the screen names them' says out 'ina226 (hwmon7: CARRIER_IN)'
run nvmtop boards --sysroot "$roots/orin_nx-36-offline"
ok 'where there are none nothing is said' sh -c '! grep -q "Other sensors" out'
done_testing
