#!/bin/sh
# Values, rows and windows of energy in Python.
. "$NVMTOP_SRC/tests/cli/lib.sh"
use_python_module
cp -R "$roots/orin_nano-36-super" tree
if "$python" -c 'import numpy' 2>/dev/null; then
	"$python" "$NVMTOP_SRC/tests/lib/live.py"
else
	NVMTOP_NUMPY=no "$python" "$NVMTOP_SRC/tests/lib/live.py"
fi
