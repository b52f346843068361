#!/bin/sh
# The examples in Python run. What they use and a test machine does not have is stood in for.
. "$NVMTOP_SRC/tests/cli/lib.sh"
use_python_module
examples=$NVMTOP_SRC/examples
# example NAME [ARGUMENT]...
example() {
	name=$1
	shift
	run "$python" "$NVMTOP_SRC/tests/lib/fakes.py" "$examples/$name" "$@"
	test "$status" = 0 || cat err
}
for f in "$examples"/*.py; do
	ok "$(basename "$f") has less than 60 lines" test "$(wc -l <"$f")" -lt 60
done

example inference-joules.py demo
ok 'the joules of a loop of PyTorch' says out '^loop  *[0-9.]* +- [0-9.]* J in [0-9.]* s'
ok 'of an image' says out '^an image  *[0-9.]* +- [0-9.]* mJ'
ok 'and above idle' says out '^above idle  *-*[0-9.]* +- [0-9.]* J'

nvmtop record --demo -o run.nvmt -- sh -c 'sleep 0.3; "$NVMTOP" mark infer; sleep 0.3' 2>/dev/null
if "$python" -c 'import pandas' 2>/dev/null; then
	mkdir without
	echo 'raise ImportError("not here")' >without/matplotlib.py
	PYTHONPATH=$scratch/without:$PYTHONPATH example plot-trace.py run.nvmt
	ok 'a recording as a table of pandas' says out 'VDD_GPU_SOC'
	ok 'with its report' says out '^1 infer'
	ok 'and no picture' test ! -e run.png
	if "$python" -c 'import matplotlib' 2>/dev/null; then
		example plot-trace.py run.nvmt
		ok 'as a picture' "$python" -c 'import sys; sys.exit(open("run.png", "rb").read(4)[1:] != b"PNG")'
	else
		skip 'as a picture' 'matplotlib is not installed'
	fi
else
	skip 'a recording as a table of pandas' 'pandas is not installed: ./bootstrap --tests installs it'
fi

example ros2-diagnostics.py demo
ok 'diagnostics of ROS 2, each second' is "$(grep -c '^/diagnostics .*nvmtop: power' out)" 3
ok 'with watts' says out 'nvmtop: power | [0-9.]* +- [0-9.]* W | .*VDD_CPU_CV.power=[0-9.e+]* mW'
ok 'until Ctrl-C' says out '^destroyed'

example zeus-soc.py demo
ok 'a SoC for Zeus' says out "^Rails(mj={'VDD_GPU_SOC.power': [0-9.]*"
cat >zeus.py <<'END'
import os, runpy, sys, time
sys.path.insert(0, os.environ["NVMTOP_SRC"] + "/tests/lib")
import fakes
fakes.zeus()
import nvmtop
Board = runpy.run_path(os.environ["NVMTOP_SRC"] + "/examples/zeus-soc.py")["Board"]
with nvmtop.Live(board="demo") as live:
    soc = Board(live)
    assert "power.total" in soc.get_available_metrics()
    before = soc.get_total_energy_consumption()
    soc.begin_window("a")
    try:
        soc.begin_window("a")
        raise SystemExit("a window was begun twice")
    except KeyError:
        soc.begin_window("a", restart=True)
    time.sleep(0.3)
    window, total = soc.end_window("a"), soc.get_total_energy_consumption() - before
    assert 0 < window.mj["power.total"] < 1.05 * total.mj["power.total"], (window, total)
    window.zero_all_fields()
    assert set(window.mj.values()) == {0.0}
END
ok 'whose windows and total agree' "$python" zeus.py

example sqlite-exporter.py board.db 0.2 3 demo
cat >db.py <<'END'
import sqlite3
db = sqlite3.connect("board.db")
def one(query):
    return db.execute(query).fetchone()[0]
assert one("SELECT count(DISTINCT time) FROM sample") == 3 == one("SELECT count(*) FROM energy WHERE signal = 'power.total'")
assert one("SELECT unit FROM signal WHERE signal = 'VDD_CPU_CV.power'") == "mW"
assert one("SELECT min(joules) FROM energy WHERE signal = 'power.total'") > 0
assert one("SELECT count(*) FROM sample WHERE (value IS NULL) = (missing IS NULL)") == 0
assert one("SELECT count(*) FROM sample WHERE value IS NOT NULL") > 100
END
ok 'an exporter to SQLite' "$python" db.py

# What docs/python.md shows runs as it is, on a simulated board.
cat >page.py <<'END'
import functools, os, re, sys, time
import nvmtop
for kind in ("Live", "Recorder"):
    setattr(nvmtop, kind, functools.partial(getattr(nvmtop, kind), board="demo"))
text = open(os.environ["NVMTOP_SRC"] + "/docs/python.md").read()
blocks = re.findall("```(python|pandas)\n(.*?)```", text, re.S)
assert len(blocks) == 4, blocks
names = {"infer": lambda: time.sleep(0.1), "rest": lambda: time.sleep(0.2)}
for what, code in blocks:
    if what == "python" or "pandas" in sys.argv:
        exec(code, names)
END
modules=$("$python" -c 'import pandas; print("pandas")' 2>/dev/null)
# shellcheck disable=SC2086
run "$python" page.py $modules
ok 'what docs/python.md shows runs' is "$status$(tail -n 3 err)" 0

done_testing
