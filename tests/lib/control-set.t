#!/bin/sh
# nvmtop.control and the setters of nvmtop.jtop, with nvmtop control and its helper, on a machine of files.
. "$NVMTOP_SRC/tests/cli/lib.sh"
use_python_module
unset NVMTOP_BOARD JETSON_MODEL_NAME NVMTOP_SYSROOT
"$python" "$NVMTOP_SRC/tests/lib/control-set-test.py"
