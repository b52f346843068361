#!/bin/sh
# Measures the data lost by a killed recorder: 100 SIGKILLs at random moments.
# tests/bench/kill.sh [KILLS]     in a built tree; prints the median and the maximum
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
test -x "$root/tests/tools/stalls" || make -C "$root" tests/tools/stalls >&2
cd "$folder"
NVMTOP_BOARDS=$root/boards python3 "$root/tests/tools/killer.py" "$root/src/nvmtop" "$root/tests/tools/stalls" "${1:-100}" 250
