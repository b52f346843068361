#!/bin/sh
# One file of each kind hangs, is slow, goes away or comes late, on every board: nothing else is held up, it is said
# which, and it has values again.
. "$NVMTOP_SRC/tests/cli/lib.sh"
measures
slowfs=$(dirname "$NVMTOP")/../tests/tools/slowfs
test -x "$slowfs" || { echo '1..0 # SKIP built without libfuse 3: ./bootstrap --tests, then configure and make again'; exit 0; }
test -c /dev/fuse || { echo '1..0 # SKIP there is no /dev/fuse: modprobe fuse'; exit 0; }
test -z "$EMU" || { echo '1..0 # SKIP not under an emulator: build for this machine'; exit 0; }
: >none
mkdir -p try/from try/to
"$slowfs" try/from none try/to 2>try.err &
server=$!
for i in $(seq 100); do
    test -e try/to/.rules && break
    kill -0 $server 2>/dev/null || break
    sleep 0.05
done
test -e try/to/.rules || mounted=no
kill $server 2>/dev/null
wait $server 2>/dev/null
test "${mounted:-yes}" = yes || { echo "1..0 # SKIP a file system cannot be mounted here, as root or with fusermount3 it can: $(tail -n 1 try.err)"; exit 0; }
exec "$python" "$NVMTOP_SRC/tests/tools/hangs.py" "$NVMTOP" "$slowfs" "$scratch" $(ls -d "$roots"/*-3*)
