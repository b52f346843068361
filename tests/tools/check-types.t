#!/bin/sh
# The annotations of the Python module, for itself and for programs that use it.
. "$NVMTOP_SRC/tests/cli/lib.sh"
command -v mypy >/dev/null || { echo '1..0 # SKIP mypy is not installed: ./bootstrap --tests installs it'; exit 0; }
mypy() {
	MYPYPATH=$NVMTOP_SRC/python command mypy --strict --cache-dir "$scratch/cache" --python-executable "$python" "$@" >out 2>&1
}
clean() {
	mypy "$@" || { cat out; return 1; }
}
ok 'the module' clean "$NVMTOP_SRC/python/nvmtop"
cat >good.py <<'END'
import pathlib
from typing import List
import nvmtop


def joules(path: pathlib.Path) -> float:
    with nvmtop.Recorder(path, board="demo", fast_hz=100) as r:
        mark: int = r.sync("infer")
    t = nvmtop.read_trace(path)
    phases: List[str] = [e.label for e in t.epochs if e.id >= mark]
    lengths: List[float] = [r.end - r.begin for r in t.ranges if r.name in phases]
    try:
        return float(t["VDD_IN.power"].mean()) + sum(lengths) + float(t.fast.gpu_load[0])
    except nvmtop.NvmtopError as e:
        return e.code
END
ok 'a program that uses it' clean good.py
cat >wrong.py <<'END'
import nvmtop
nvmtop.Recorder("x.bin").sync(3)
nvmtop.read_trace(7)
len(nvmtop.read_trace("x.bin").duration_s)
END
mypy wrong.py
ok 'one that uses it wrongly' is "$(sed -n 's/^wrong.py:\([0-9]*\): error.*/\1/p' out | tr '\n' ' ')" '2 3 4 '
done_testing
