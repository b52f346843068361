#!/bin/sh
# A command in every mode: what each costs, and that all is as it was at any end: sweep.py
test -z "${EMU-}" || { echo '1..0 # SKIP built for another machine: run it there'; exit 0; }
exec python3 "$NVMTOP_SRC/tests/control/sweep.py"
