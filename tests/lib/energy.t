#!/bin/sh
# The library, the summary and the report have the same joules for the same time.
. "$NVMTOP_SRC/tests/cli/lib.sh"
need_library_for_python
NVMTOP_LIBRARY=${NVMTOP%/src/nvmtop}/libnvmtop.so.1
PYTHONPATH=$NVMTOP_SRC/python
PYTHONDONTWRITEBYTECODE=1
export NVMTOP_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
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
        joules, within = t.energy(s["name"], e["from_s"], e["to_s"])
        assert abs(joules / s["energy_j"] - 1) < 1e-6 and abs(within / s["energy_within_j"] - 1) < 1e-6, (s, joules, within)
        n += 1
assert n > 3, n
said = float(re.search(r"energy ([0-9.]+) J", open("summary").read()).group(1))
assert abs(said - d["whole"]["energy_j"]) <= 0.00501, (said, d["whole"]["energy_j"])
END
ok 'the library and the summary have the joules of the report' "$python" same.py
done_testing
