#!/bin/sh
# The Python module, with NumPy and without.
. "$NVMTOP_SRC/tests/cli/lib.sh"
build=${NVMTOP%/src/nvmtop}
need_library_for_python
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
