#!/bin/sh
# The way back: undo.py
test -z "${EMU-}" || { echo '1..0 # SKIP built for another machine: run it there'; exit 0; }
exec python3 "$NVMTOP_SRC/tests/control/undo.py"
