#!/bin/sh
# The table of phases says what report says of the same trace, which goes through
# every sample one by one.
. "$NVMTOP_SRC/tests/cli/lib.sh"

same() {
    nvmtop report --format json "$1" >report 2>err || return 1
    nvmtop --print 200x"$3" --replay "$1" --view phases >screen 2>err || return 1
    "$python" - "$2" <<'END'
import json, re, sys
phases = json.load(open("report"))["traces"][0]["phases"]
lines = open("screen", encoding="utf-8").read().split("\n")
scale = {"mW": 1e-3, "kB": 1 / 1048576, "Hz": 1e-6}
bad, held = [], 0

def near(what, shown, true, slack):
    global held
    held += 1
    decimals = len(shown.split(".")[1]) if "." in shown else 0
    if abs(float(shown) - true) > 0.51 * 10 ** -decimals + slack:
        bad.append("%s: %s on the screen, %r in the report" % (what, shown, true))

top = [i for i, l in enumerate(lines) if re.match(r" +phase +from", l)][0]
for i, e in enumerate(phases):
    number = re.findall(r"-?\d+\.\d+|--", lines[top + 1 + i].split(" s ", 1)[1])
    near("duration", number[0], e["duration_s"], 0.02)
    # The report knows power from the first to the last sample, the screen for the time
    # that each stands for: at both ends they differ by half a period at most.
    power = [s for s in e["signals"] if s["name"] == "power.total"][0]
    near("energy", number[1], e["energy_j"], e["mean_power_w"] * 1.1 * power["covered_s"] / power["samples"])
# The signals of the first phase.
signals = {s["name"]: s for s in phases[0]["signals"] if s["samples"]}
for name, label in (("gpu.util", "GPU"), ("cpu.util", "CPU"), ("emc.util", "EMC"), ("power.total", "Power")):
    row = [l for l in lines if re.match(" %s +(%%|W) +[0-9]" % label, l)]
    s = signals.get(name)
    if not row or not s:
        continue
    mean, p95, top = re.findall(r"-?[0-9.]+", row[0][len(label) + 1:])[:3]
    by = scale.get(s["unit"], 1)
    near(name + " mean", mean, s["mean"] * by, 0.002 * abs(s["mean"]) * by)
    near(name + " p95", p95, s["p95"] * by, 0.002 * abs(s["p95"]) * by)
    near(name + " max", top, s["max"] * by, 0)
print("\n".join("# " + b for b in bad) or "# %d numbers agree" % held)
sys.exit(bool(bad) or held < int(sys.argv[1]))
END
}
trace=$NVMTOP_SRC/tests/traces
ok 'phases of a trace' same "$trace/demo.nvmt" 15 40
ok 'phases of another one' same "$trace/views.nvmt" 10 60
ok 'of a trace of version 1 alone' nvmtop --print 80x24 --replay "$trace/version-1.bin" --view phases
done_testing
