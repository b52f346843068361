#!/bin/sh
# nvmtop.jtop: scripts for jtop with another import.
. "$NVMTOP_SRC/tests/cli/lib.sh"
use_python_module
unset NVMTOP_BOARD JETSON_MODEL_NAME
cp -R -P "$roots/all_files-36" tree
NVMTOP_SYSROOT=$PWD/tree "$python" "$NVMTOP_SRC/tests/lib/jtop-test.py"
