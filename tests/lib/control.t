#!/bin/sh
# nvmtop.control: what it asks the program nvmtop and makes of the answers (control-test.py).
. "$NVMTOP_SRC/tests/cli/lib.sh"
use_python_module
unset NVMTOP_SYSROOT
"$python" "$NVMTOP_SRC/tests/lib/control-test.py"
