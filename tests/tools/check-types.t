#!/bin/sh
# The annotations of the Python module, for itself, for its examples and for programs that use it.
. "$NVMTOP_SRC/tests/cli/lib.sh"
command -v mypy >/dev/null || { echo '1..0 # SKIP mypy is not installed: ./bootstrap --tests installs it'; exit 0; }
cat >good.py <<'END'
import pathlib
from typing import List
import nvmtop
import nvmtop.control


@nvmtop.measure("x")
def measured(n: int) -> float:
    return n / 2


def joules(path: pathlib.Path) -> float:
    with nvmtop.Live(hz=100, board="demo") as b, b.window("idle", baseline=None) as w:
        load: float = b["gpu.util"]
        times: List[float] = [at + row["gpu.util"] for at, row in b.rows("fast") if at > b["gpu.util"].time]
        b.mark("label")
        b.record(path).stop()
    total: float = w.joules + w.joules_within + w.watts + w.rails["VDD_IN.power"].joules + measured(1) + load + times[0]
    print(nvmtop.measured("x")[0].energy.watts, total)
    with nvmtop.Recorder(path, board="demo", fast_hz=100) as r:
        mark: int = r.sync("infer")
    t = nvmtop.read_trace(path)
    phases: List[str] = [e.label for e in t.epochs if e.id >= mark]
    lengths: List[float] = [r.end - r.begin for r in t.ranges if r.name in phases]
    try:
        print(t.report(), t.report().whole.joules, t.energy("infer").joules, t.to_pandas("slow"))
        return float(t["VDD_IN.power"].mean()) + sum(lengths) + float(t.fast.gpu_load[0])
    except nvmtop.NvmtopError as e:
        return e.code


def fastest(hz: float) -> int:
    with nvmtop.control.clocks("max", for_s=60), nvmtop.control.mode(2, dry_run=True) as changes:
        names: List[str] = [c.why or c.after or c.result for c in changes] + nvmtop.control.list()[0].allowed
    try:
        return sum(c.id for c in nvmtop.control.clocks(gpu=(hz, hz)).revert()) + len(names)
    except nvmtop.control.ControlError as e:
        return e.code + len(e.changes)
END
cat >wrong.py <<'END'
import nvmtop, nvmtop.control
nvmtop.Recorder("x.bin").sync(3)
nvmtop.read_trace(7)
len(nvmtop.read_trace("x.bin").duration_s)
nvmtop.Live(board=3)
nvmtop.Live().mark(3)
nvmtop.measure("x")(len)("a", "b")
nvmtop.Live().window().joules.x
nvmtop.read_trace("x.bin").energy(1.5)
nvmtop.control.clocks(gpu=612e6)
nvmtop.control.scaling_3d("on")
END
# All in one run, of which each has its lines. Of the examples, what they use is not installed.
cat >mypy.ini <<'END'
[mypy]
[mypy-torch.*,rclpy.*,diagnostic_msgs.*]
ignore_missing_imports = True
[mypy-ros2-diagnostics]
disallow_subclassing_any = False
END
MYPYPATH=$NVMTOP_SRC/python mypy --strict --config-file mypy.ini --cache-dir "$scratch/cache" --python-executable "$python" \
	"$NVMTOP_SRC/python/nvmtop" "$NVMTOP_SRC/examples/sqlite-exporter.py" "$NVMTOP_SRC/examples/inference-joules.py" \
	"$NVMTOP_SRC/examples/ros2-diagnostics.py" good.py wrong.py >out 2>&1
ok 'all were looked at' says out '^Found .* errors in 1 file (checked [1-9][0-9]* source files)$'
ok 'the module, and the examples' sh -c '! grep -Ev "^(good|wrong)\.py:|^Found " out'
ok 'a program that uses it' sh -c '! grep "^good\.py:" out'
ok 'one that uses it wrongly' is "$(sed -n 's/^wrong.py:\([0-9]*\): error.*/\1/p' out | uniq | tr '\n' ' ')" '2 3 4 5 6 7 8 9 10 11 '
if command -v ruff >/dev/null; then
	ok 'ruff has nothing to say' ruff check --no-cache --config "$NVMTOP_SRC/python/pyproject.toml" "$NVMTOP_SRC/python" "$NVMTOP_SRC/examples"
else
	skip 'ruff has nothing to say' 'ruff is not installed'
fi
done_testing
