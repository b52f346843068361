#!/bin/sh
# nvmtop.fastnvmetrics: scripts for fastnvmetrics with another import.
. "$NVMTOP_SRC/tests/cli/lib.sh"
use_python_module
unset NVMTOP_BOARD JETSON_MODEL_NAME
cp -R -P "$roots/all_files-36" tree
if "$python" -c 'import numpy' 2>/dev/null; then
	NVMTOP_SYSROOT=$PWD/tree "$python" "$NVMTOP_SRC/tests/lib/fastnvmetrics-test.py"
else
	echo '1..0 # SKIP there is no NumPy: ./bootstrap --tests installs it'
fi
