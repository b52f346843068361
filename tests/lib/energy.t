#!/bin/sh
# The library, the summary and the report have the same joules for the same time.
. "$NVMTOP_SRC/tests/cli/lib.sh"
use_python_module
nvmtop record --demo --duration 2 -o known.nvmt 2>summary
nvmtop report --all --format json known.nvmt >report
cat >same.py <<'END'
import json, nvmtop, re
d = json.load(open("report"))["traces"][0]
t = nvmtop.read_trace("known.nvmt")
n = 0
for e in d["phases"] + [d["whole"]]:
    for s in e["signals"]:
        if s["unit"] != "mW" or s["energy_j"] is None:
            continue
        got = t.energy(None, s["name"], e["from_s"], e["to_s"])
        assert abs(got.joules / s["energy_j"] - 1) < 1e-6, (s, got)
        assert abs(got.joules_within / s["energy_within_j"] - 1) < 1e-6, (s, got)
        n += 1
assert n > 3, n
said = float(re.search(r"energy ([0-9.]+) J", open("summary").read()).group(1))
assert abs(said - d["whole"]["energy_j"]) <= 0.00501, (said, d["whole"]["energy_j"])
END
ok 'the library and the summary have the joules of the report' "$python" same.py

# What waits for the sources to be warm is in no recording. A busy machine may take its time between that and the recording.
cat >counted.py <<'END'
import json, nvmtop, os, subprocess

least = 9e9
for _ in range(5):
    with nvmtop.Recorder("counted.nvmt", sysroot=os.environ["NVMTOP_ROOTS"] + "/agx_orin-36", force=True) as r:
        assert r.wait_for_warmup(30)
    rows = subprocess.run([os.environ["NVMTOP"], "export", "jsonl", "counted.nvmt"], check=True, capture_output=True).stdout
    rows = [r for r in map(json.loads, rows.splitlines()) if r.get("energy.total") is not None]
    least = min(least, rows[0]["energy.total"] / (rows[0]["power.total"] / 1000))
assert least < 0.1, "%.3f s of joules were before the first row" % least
END
ok 'the joules of a recording are counted from its beginning' "$python" counted.py

# The report of Python is that of the program, also where values are missing.
"$python" - <<'END'
import os, sys
sys.path.insert(0, os.environ["NVMTOP_SRC"] + "/tests/tools")
import nvmt_write
open("made.nvmt", "wb").write(nvmt_write.waves(1.0).log())
END
nvmtop record --demo -o phases.nvmt -- sh -c 'sleep 0.5; "$NVMTOP" mark infer; sleep 0.5; "$NVMTOP" mark; sleep 0.2; "$NVMTOP" mark infer' 2>/dev/null
cat >report.py <<'END'
import json, nvmtop, os, subprocess, sys

def same(a, b):
    return a != a if b is None else abs(a - b) <= 1e-6 * max(1, abs(b))

for name in sys.argv[1:]:
    out = subprocess.run([os.environ["NVMTOP"], "report", "--all", "--format", "json", name], stdout=subprocess.PIPE, check=True).stdout
    d = json.loads(out)["traces"][0]
    report = nvmtop.read_trace(name).report()
    assert len(report.phases) == len(d["phases"]), report
    # The time of the program begins with the first row.
    for u, e in zip(report.phases + [report.whole], d["phases"] + [d["whole"]]):
        pairs = [(u.start_s or e["from_s"], e["from_s"]), (u.end_s, e["to_s"]), (u.joules, e.get("energy_j")), (u.joules_within, e.get("energy_within_j")),
                 (u.watts, e.get("mean_power_w")), (u.gpu_percent, e.get("gpu_percent")), (u.hottest_c, e.get("hottest_c"))]
        assert all(same(a, b) for a, b in pairs), (u, pairs)
        assert u.id < 0 or (u.id, u.label) == (e["phase"], e["label"]), (u, e)
    lines = str(report).split("\n")
    assert len(lines) == len(report.phases) + 2 and len({len(line) for line in lines}) == 1, lines
    assert "nan" not in str(report)
END
ok 'the report in Python has the numbers of the program' "$python" report.py phases.nvmt "$NVMTOP_SRC"/tests/traces/demo.nvmt "$NVMTOP_SRC"/tests/traces/version-1.bin "$NVMTOP_SRC"/tests/traces/ranges.nvmt
ok 'and without NumPy' env NVMTOP_NUMPY=no "$python" report.py phases.nvmt "$NVMTOP_SRC"/tests/traces/demo.nvmt "$NVMTOP_SRC"/tests/traces/version-1.bin "$NVMTOP_SRC"/tests/traces/ranges.nvmt
cat >phase.py <<'END'
import nvmtop
t = nvmtop.read_trace("phases.nvmt")
whole = t.energy()
parts = [t.energy(e) for e in t.epochs]
assert abs(sum(p.joules for p in parts[:3]) / whole.joules - 1) < 0.1 and abs(whole.watts * whole.known_s - whole.joules) < 1e-9
assert t.energy(1) == parts[1] == t.energy(t.epochs[1]) and t.energy(1, "VDD_CPU_CV.power").joules < parts[1].joules
assert abs(t.energy(1, end_s=t.epochs[1].start_s + 0.1).seconds - 0.1) < 1e-9
assert t.phase(2).label == ""
for wrong, kind in (("infer", nvmtop.NvmtopError), ("no such", KeyError), (7, KeyError)):
    try:
        t.energy(wrong)
        raise SystemExit("%r is no phase" % wrong)
    except kind as e:
        assert str(wrong) in str(e), e
try:
    t.energy(signal="no.such")
    raise SystemExit("no.such is no signal")
except KeyError:
    pass
none = t.energy(signal="gpu.util")
assert none.joules != none.joules and none.watts != none.watts
END
ok 'the energy of a phase, by its Epoch, id or label' "$python" phase.py
if "$python" -c 'import pandas' 2>/dev/null; then
	cat >frame.py <<'END'
import nvmtop
t = nvmtop.read_trace("made.nvmt")
for tier in ("fast", "medium", "slow"):
    f = t.to_pandas(tier)
    names = [s.name for s in t.signals.values() if s.tier == tier]
    assert list(f.columns) == ["phase"] + names and f.index.name == "time_s" and len(f) == len(getattr(t, tier)), f
    assert all(repr([float(v) for v in f[n]]) == repr([float(v) for v in t[n]]) for n in names)
    assert f.attrs["units"] == {n: t.signals[n].unit for n in names}
t = nvmtop.read_trace("phases.nvmt")
assert [int(i) for i in t.to_pandas().phase] == [int(i) for i in t.fast.epoch]
try:
    t.to_pandas("quick")
    raise SystemExit("there is no such tier")
except nvmtop.NvmtopError as e:
    assert "quick" in str(e)
END
	ok 'tables of pandas' "$python" frame.py
else
	skip 'tables of pandas' 'pandas is not installed: ./bootstrap --tests installs it'
fi
done_testing
