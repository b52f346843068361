#!/bin/sh
# Values, rows and windows of energy in Python.
. "$NVMTOP_SRC/tests/cli/lib.sh"
need_library_for_python
NVMTOP_LIBRARY=${NVMTOP%/src/nvmtop}/libnvmtop.so.1
PYTHONPATH=$NVMTOP_SRC/python
PYTHONDONTWRITEBYTECODE=1
export NVMTOP_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
cp -R "$roots/orin_nano-36-super" tree
if "$python" -c 'import numpy' 2>/dev/null; then
	"$python" "$NVMTOP_SRC/tests/lib/live.py"
else
	NVMTOP_NUMPY=no "$python" "$NVMTOP_SRC/tests/lib/live.py"
fi
