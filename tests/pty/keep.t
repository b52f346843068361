#!/bin/sh
# Look-back recording: w on the screen and on the progress line. A file written by w has the same rows,
# bit for bit, as a recording of the same time.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
python=/usr/bin/python3
[ -x "$python" ] || python=python3

traces() {
	[ "$(find "$dir" -name 'nvmtop-*.nvmt' | wc -l)" -eq "$1" ]
}

# The rows of the smaller file are a range of the larger one, times and values. Energy counters start at
# 0 in each.
is_stretch() {
	"$python" - "$dir" "${NVMTOP_SRC:-.}/tests/tools/nvmt-log.py" <<'END'
import glob, importlib.util, os, struct, sys
spec = importlib.util.spec_from_file_location("log", sys.argv[2])
log = importlib.util.module_from_spec(spec)
spec.loader.exec_module(log)
def rows(path):
    with open(path, "rb") as f:
        r, out = log.Recording(f.read()), {}
    joules = {n for n, c in r.channels.items() if c["unit"] == "J"}
    for tier, cells in r.rows.items():
        for _, times, columns, _ in cells:
            kept = sorted(n for n in columns if n not in joules)
            for i, t in enumerate(times):
                out[tier, t] = struct.pack(f"<{len(kept)}d", *(columns[n][i] for n in kept))
    return out
part, whole = map(rows, sorted(glob.glob(sys.argv[1] + "/nvmtop-*.nvmt"), key=os.path.getsize))
ok = len(part) > 200
for tier in {tier for tier, _ in part}:
    times = sorted(t for k, t in part if k == tier)
    among = [t for k, t in whole if k == tier and times[0] <= t <= times[-1]]
    same = sum(whole.get((tier, t)) == part[tier, t] for t in times)
    print(f"# tier {tier}: {same} of {len(times)} rows, {len(among)} in the other")
    ok = ok and same == len(times) == len(among)
sys.exit(0 if ok else 1)
END
}

pty_begin 110x36
dir=$tmp/folder
mkdir "$dir"
run "cd $dir; clear; $program --demo"
wait_for "q quit"
keys w
check "w works without --keep, and says path, length and size" wait_for "wrote nvmtop-"
keys q
check "the file is named after the screen" wait_for "1 file was written"
wait_prompt
check "and there" traces 1
rm -f "$dir"/*

run "clear; $program --demo --keep 1"
check "the screen shows the length of the buffer" wait_for "keeping the last 1 s in"
wait_for "q quit"
keys r
wait_for "REC nvmtop-"
sleep 2 # longer than the buffer
keys w
check "w writes a file" wait_for "wrote nvmtop-"
wait_for "REC nvmtop-"
sleep 0.5
keys r
check "the recording ends independently" wait_for "saved nvmtop-"
check "both files are complete" until_true traces 2
check "the same rows, bit for bit" is_stretch
keys q
check "the number of files is printed after the screen" wait_for "1 file was written"
wait_prompt

rm -f "$dir"/*
run "clear; $program --demo --record --keep 1 $dir/nvmtop-x.nvmt"
check "the progress line has w" wait_for "w write"
wait_for "keeping 00:01"
keys w
check "w writes a file there too" wait_for "wrote $dir/nvmtop-x.nvmt: 1.0 s"
check "files are counted" wait_for "1 file"
keys q
check "q ends it" wait_for "triggered: 1, files: 1"
wait_prompt
check "the file exists" traces 1
pty_end
