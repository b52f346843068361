#!/bin/sh
# How much a recorder loses that is killed: 100 times SIGKILL at a random moment.
#   tests/bench/kill.sh [KILLS]     in a built tree; prints the median and the worst
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
test -x "$root/tests/tools/stalls" || make -C "$root" tests/tools/stalls >&2
cd "$folder"
NVMTOP_BOARDS=$root/boards python3 "$root/tests/tools/killer.py" "$root/src/nvmtop" "$root/tests/tools/stalls" "${1:-100}" 250
