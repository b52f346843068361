#!/bin/sh
# nvmtop.jtop: scripts for jtop with another import.
. "$NVMTOP_SRC/tests/cli/lib.sh"
build=${NVMTOP%/src/nvmtop}
need_library_for_python
NVMTOP_LIBRARY=$build/libnvmtop.so.1
PYTHONPATH=$NVMTOP_SRC/python
PYTHONDONTWRITEBYTECODE=1
unset NVMTOP_BOARD JETSON_MODEL_NAME
export NVMTOP_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
cp -R -P "$roots/all_files-36" tree
NVMTOP_SYSROOT=$PWD/tree "$python" "$NVMTOP_SRC/tests/lib/jtop-test.py"
