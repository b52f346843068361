#!/bin/sh
# Slow and blocked lines, any size, any bytes.
. "$NVMTOP_SRC/tests/cli/lib.sh"
if test -n "$EMU"; then
    echo '1..0 # SKIP built for another machine: run it there'
    exit 0
fi
"$python" "$NVMTOP_SRC/tests/pty/line.py" "$NVMTOP"
