#!/bin/sh
# pip install ./python in an environment of its own, and a recording made from there.
. "$NVMTOP_SRC/tests/cli/lib.sh"
build=${NVMTOP%/src/nvmtop}
need_library_for_python
if ! "$python" -c 'import sys, flit_core, pip, venv
sys.exit(tuple(map(int, flit_core.__version__.split(".")[:2])) < (3, 2))' 2>/dev/null; then
	echo '1..0 # SKIP pip, venv or flit_core (3.2 or later) is missing: ./bootstrap --tests installs them where the system has them'
	exit 0
fi
unset NVMTOP_LIBRARY LD_LIBRARY_PATH PYTHONPATH
PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_CONFIG_FILE PIP_NO_INDEX PIP_NO_CACHE_DIR PIP_DISABLE_PIP_VERSION_CHECK
(cd "$NVMTOP_SRC" && find python | sort) >before
"$python" -m venv --without-pip --system-site-packages env
run env/bin/python -m pip install --no-build-isolation "$NVMTOP_SRC/python"
ok 'pip installs it' is "$status" 0
(cd "$NVMTOP_SRC" && find python | sort) >after
ok 'and leaves nothing in the sources' cmp before after
site=$(dirname "$(find "$PWD/env" -path '*/nvmtop/__init__.py')")
ok 'with its annotations' test -f "$site/py.typed"
version=$(sed -n 's/^__version__ = "\([^"]*\)".*/\1/p' "$NVMTOP_SRC/python/nvmtop/__init__.py")
run env/bin/python -m pip show nvmtop
ok 'its version' says out "^Version: $version\$"
ok 'and what it is' says out '^Summary: Record NVIDIA Jetson boards'

cat >record.py <<'END'
import time
from nvmtop import Recorder, read_trace, __version__
with Recorder("run.nvmt", board="demo") as r:
    r.sync("infer")
    while r.sample_count < 100:
        time.sleep(0.01)
t = read_trace("run.nvmt")
print(__version__, t.board, [e.label for e in t.epochs], len(t.fast) >= 100)
END
if env/bin/python -c 'import nvmtop' 2>/dev/null; then
	skip 'without the library it says what to install' 'libnvmtop is installed on this machine'
else
	run env/bin/python record.py
	ok 'without the library it says what to install' says err 'ImportError: libnvmtop.so.1 was not found: install it'
fi
run env LD_LIBRARY_PATH="$build" env/bin/python record.py
ok 'a recording made and read' is "$(cat out)" "$version demo ['', 'infer'] True"
ok 'which nvmtop reads' sh -c '$EMU "$NVMTOP" report --summary run.nvmt | grep -q infer'
run env/bin/python -m pip uninstall -y nvmtop
ok 'pip removes it' test ! -e "$site"
done_testing
