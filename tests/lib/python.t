#!/bin/sh
# The Python module, with NumPy and without.
. "$NVMTOP_SRC/tests/cli/lib.sh"
build=${NVMTOP%/src/nvmtop}
if test -n "$EMU"; then
	echo '1..0 # SKIP built for another machine: run it there'
	exit 0
fi
if grep -q '^SAN_CFLAGS = .*fsanitize' "$build/Makefile"; then
	echo '1..0 # SKIP a library with sanitizers cannot be loaded into Python: build without'
	exit 0
fi
NVMTOP_LIBRARY=$build/libnvmtop.so.1
PYTHONPATH=$NVMTOP_SRC/python
PYTHONDONTWRITEBYTECODE=1
export NVMTOP_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
NVMTOP_NUMPY=no "$python" "$NVMTOP_SRC/tests/lib/module.py" plain "$NVMTOP_SRC"
if "$python" -c 'import numpy' 2>/dev/null; then
	"$python" "$NVMTOP_SRC/tests/lib/module.py" numpy "$NVMTOP_SRC"
else
	"$python" "$NVMTOP_SRC/tests/lib/module.py" skip "$NVMTOP_SRC"
fi
