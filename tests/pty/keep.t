#!/bin/sh
# Ring mode on a terminal: w on the screen and on the progress line.  What w
# writes has the same rows, bit for bit, as a recording of the same time.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
python=/usr/bin/python3
[ -x "$python" ] || python=python3

traces() {
	[ "$(find "$dir" -name 'nvmtop-*.bin' | wc -l)" -eq "$1" ] && [ "$(find "$dir" -name '*.part*' | wc -l)" -eq 0 ]
}

# The rows of the smaller file are a stretch of the larger one: all fields but the time are equal,
# and the times differ by one and the same number.  How many there are is the machine's affair.
is_stretch() {
	"$python" - "$dir" <<'END'
import glob, os, struct, sys
def rows(path):
    b = open(path, "rb").read()
    counts = struct.unpack_from("<4Q", b, 56)
    at, out = 728, []
    for size, n in zip((98, 104, 72), counts):
        out.append([b[at + i * size:at + (i + 1) * size] for i in range(n)])
        at += n * size
    return out
part, whole = sorted(glob.glob(sys.argv[1] + "/nvmtop-*.bin"), key=os.path.getsize)
ok = True
for tier, (p, w) in enumerate(zip(rows(part), rows(whole))):
    t = lambda r: struct.unpack_from("<d", r)[0]
    values = [r[8:] for r in w]
    match = [i for i in range(len(w) - len(p) + 1)
             if values[i] == p[0][8:] and all(values[i + k] == r[8:] for k, r in enumerate(p))]
    off = [[t(w[i + k]) - t(r) for k, r in enumerate(p)] for i in match]
    good = any(max(o) - min(o) < 1e-9 for o in off)
    print(f"# tier {tier}: {len(p)} rows of {len(w)}, found at {match[:3]}")
    ok = ok and good and p
sys.exit(0 if ok else 1)
END
}

pty_begin 110x36
dir=$tmp/folder
mkdir "$dir"
run "cd $dir; clear; $program --demo"
wait_for "q quit"
keys w
check "w without --keep says how to have it" wait_for "start nvmtop with --keep SEC"
keys q
wait_prompt

run "clear; $program --demo --keep 1"
check "the screen says what it holds" wait_for "keeping the last 1 s in"
wait_for "q quit"
keys r
wait_for "REC nvmtop-"
sleep 2 # longer than what is held
keys w
check "w writes a file" wait_for "wrote nvmtop-"
wait_for "REC nvmtop-"
sleep 0.5
keys r
check "the recording ends beside it" wait_for "saved nvmtop-"
check "both files are complete" until_true traces 2
check "the same rows, bit for bit" is_stretch
keys q
check "the file is named when the screen has gone" wait_for "files: 1"
wait_prompt

rm -f "$dir"/*
run "clear; $program --demo --record --keep 1 $dir/nvmtop-x.bin"
check "the progress line has w" wait_for "w write"
wait_for "holding 00:01"
keys w
check "and it writes" wait_for "wrote $dir/nvmtop-x.bin: 1.0 s"
check "and counts" wait_for "1 file"
keys q
check "q ends it" wait_for "triggered: 1, files: 1"
wait_prompt
check "the file is there" traces 1
pty_end

pty_begin 80x24
run "cd $dir; clear; $program --demo --record --keep 1 narrow.bin"
check "w is on a line of 80 columns, too" wait_for "w write"
keys s
check "and marks are counted" wait_for "1 mark"
keys q
wait_prompt
run "clear; $program --demo --max-size 100k"
wait_for "q quit"
keys r
check "why a recording ended is said first" wait_for "max-size is reached: saved nvmtop-"
keys q
check "and again when the screen has gone" wait_for "has reached --max-size"
wait_prompt
mkdir "$dir/gone"
run "cd $dir/gone; clear; $program --demo --keep 1"
wait_for "q quit"
rmdir "$dir/gone"
keys w
check "what cannot be written is told" wait_for "cannot record"
keys q
check "and by the exit status, too" wait_prompt 1
check "with the sentence" on_screen "cannot record"
pty_end
