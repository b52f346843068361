#!/bin/sh
# Runs a program with NVTX ranges twice, and prints the joules of each range in both runs, and their bounds:
#     compare-energy.sh 'VARIABLE=value' PROGRAM [ARGUMENT]...
# first as it is, then with the variable set, for instance: compare-energy.sh NVIDIA_TF32_OVERRIDE=0 python3 train.py
set -eu
nvmtop=${NVMTOP:-nvmtop}
test $# -ge 2 || { echo "usage: $0 VARIABLE=VALUE PROGRAM [ARGUMENT]..." >&2; exit 2; }
variable=$1
shift

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
$nvmtop record -o "$folder/a.nvmt" --nvtx -- "$@"
$nvmtop record -o "$folder/b.nvmt" --nvtx -- env "$variable" "$@"

# A name can contain commas and quotes: JSON.
$nvmtop report --by range --format json "$folder/a.nvmt" "$folder/b.nvmt" | python3 -c '
import json, sys
a, b = ({(g["domain"], g["name"]): g for g in t["groups"]} for t in json.load(sys.stdin)["traces"])
show = lambda g: "%9.3f +- %.3f" % (g["energy_j"], g["energy_within_j"]) if g and g["energy_j"] is not None else "--"
print("%-32s %20s %20s" % ("range", "J", sys.argv[1]))
for k in sorted(a.keys() | b.keys()):
    print("%-32s %20s %20s" % (": ".join(filter(None, k)), show(a.get(k)), show(b.get(k))))' "$variable"
