#!/bin/sh
# Killed at random moments: while recording, while ending, while
# going on in the next file.  NVMTOP_TEST_KILLS sets how often.  Far less is lost than
# what is written between two flushes of 5 s; tests/bench/kill.sh measures how little.
. "$NVMTOP_SRC/tests/cli/lib.sh"

stalls=${NVMTOP%/src/nvmtop}/tests/tools/stalls
test -x "$stalls" || {
    echo '1..0 # SKIP tests/tools/stalls was not built: make check builds it'
    exit 0
}
if test -n "${EMU:-}"; then
    echo '1..0 # SKIP an emulator is not what would be measured: build for this machine'
    exit 0
fi
"$python" "$NVMTOP_SRC/tests/tools/killer.py" "$NVMTOP" "$stalls" "${NVMTOP_TEST_KILLS:-60}" 2000
