#!/bin/sh
# CPU seconds of a report on HOURS of data at 1000, 100 and 10 Hz, and of a plain numpy
# script that computes the statistics of the fast columns only; they take turns, and the
# minimum counts.
# tests/bench/report.sh [HOURS [TURNS]]     in a built tree, with python3-numpy; 0.7 GB per hour in TMPDIR
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-/usr/bin/python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make -s -C "$root" tests/bench/bench-trace >&2
"$root/tests/bench/bench-trace" make "$folder/long.nvmt" "${1:-1}"
"$root/tests/bench/bench-trace" columns "$folder/long.nvmt" "$folder"
"$python" - "${2:-3}" "$root/src/nvmtop" "$root/tests/bench/report-numpy.py" "$folder" <<'END'
import os, subprocess, sys
turns, nvmtop, script, folder = sys.argv[1:]

def cpu(*command):
    before = os.times()
    with open(os.devnull, "w") as nowhere:
        subprocess.run(command, stdout=nowhere, check=True)
    after = os.times()
    return after[2] + after[3] - before[2] - before[3]

pairs = []
for turn in range(int(turns)):
    pairs.append((cpu(nvmtop, "report", folder + "/long.nvmt"), cpu(sys.executable, script, folder)))
    print("report %.2f CPU s, numpy %.2f CPU s" % pairs[-1], flush=True)
report, numpy = (min(column) for column in zip(*pairs))
print("least: %.2f and %.2f, ratio %.2f" % (report, numpy, report / numpy))
END
