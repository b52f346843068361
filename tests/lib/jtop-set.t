#!/bin/sh
# The setters of nvmtop.jtop, as in examples of jtop with another import.
. "$NVMTOP_SRC/tests/cli/lib.sh"
use_python_module
unset NVMTOP_BOARD JETSON_MODEL_NAME NVMTOP_SYSROOT
"$python" "$NVMTOP_SRC/tests/lib/jtop-set-test.py"
