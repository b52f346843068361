#!/bin/sh
# Runs a program with NVTX ranges five times as it is, then five times with a variable set, and compares the joules of each
# range by these runs:
#     compare-energy.sh VARIABLE=VALUE PROGRAM [ARGUMENT]...
# for instance: compare-energy.sh NVIDIA_TF32_OVERRIDE=0 python3 train.py. RUNS is another number of runs.
set -eu
nvmtop=${NVMTOP:-nvmtop}
test $# -ge 2 || { echo "usage: $0 VARIABLE=VALUE PROGRAM [ARGUMENT]..." >&2; exit 2; }
variable=$1
shift

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
$nvmtop record -o "$folder/a.nvmt" --repeat "${RUNS:-5}" --warmup 1 --nvtx -- "$@"
$nvmtop record -o "$folder/b.nvmt" --repeat "${RUNS:-5}" --warmup 1 --nvtx -- env "$variable" "$@"
$nvmtop report --by range "$folder"/a-*.nvmt --against "$folder"/b-*.nvmt
