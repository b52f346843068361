#!/bin/sh
# The Python module, with NumPy and without.
. "$NVMTOP_SRC/tests/cli/lib.sh"
use_python_module
NVMTOP_NUMPY=no "$python" "$NVMTOP_SRC/tests/lib/module.py" plain "$NVMTOP_SRC"
if "$python" -c 'import numpy' 2>/dev/null; then
	"$python" "$NVMTOP_SRC/tests/lib/module.py" numpy "$NVMTOP_SRC"
else
	"$python" "$NVMTOP_SRC/tests/lib/module.py" skip "$NVMTOP_SRC"
fi
