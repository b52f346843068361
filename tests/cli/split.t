#!/bin/sh
# Recordings that end by their size, that go on in further files, and that find
# their disk full and go on when it is not any more.
. "$NVMTOP_SRC/tests/cli/lib.sh"

# continuous FILE...: each begins where the one before ends, and has the next rows
continuous() {
    "$python" - "$@" <<'END'
import struct, sys
before, period = None, None
for name in sys.argv[1:]:
    raw = open(name, "rb").read()
    mono, real, _ = struct.unpack_from("<qqq", raw, raw.index(b"ANCH") + 20)
    n = struct.unpack_from("<Q", raw, 56)[0]
    t = [mono / 1e9 + struct.unpack_from("<d", raw, 728 + 98 * i)[0] for i in (0, n - 1)]
    if before:
        if not before[0] < t[0]:
            sys.exit(f"{name} begins at {t[0]}, before {before[0]}")
        if abs((real - mono) / 1e9 - before[1]) > 5:
            sys.exit(f"{name}: the wall clock leaps by {(real - mono) / 1e9 - before[1]} s")
    before = t[1], (real - mono) / 1e9
END
}
# rows FILE...: fast rows of all of them
rows() {
    "$python" -c 'import struct, sys
print(sum(struct.unpack_from("<Q", open(f, "rb").read(64), 56)[0] for f in sys.argv[1:]))' "$@"
}
# said WHAT: a number of the summary in err
said() { sed -n "s/.* \([0-9]*\) $1.*/\1/p" err | head -1; }
small() { test "$(wc -c <"$1")" -le "$2" || { ls -l "$1"; return 1; }; }
# until_true COMMAND...: at most half a minute
until_true() {
    for try in $(seq 600); do "$@" >until 2>&1 && return; sleep 0.05; done
    cat until
    return 1
}
# grown FILE BYTES: a file that is there and has at least so many
grown() { test "$(wc -c <"$1")" -ge "$2"; }

run nvmtop --demo --record --duration 3.3 --split 1 run.bin
ok 'split by time: done' is "$status" 0
ok 'split by time: four files' is "$(echo run.*)" 'run.2.bin run.3.bin run.4.bin run.bin'
for f in run.bin run.2.bin run.3.bin run.4.bin; do
    ok "$f: sound" judge $f "t['fast']['increasing'] and t['counts']['fast'] > 0"
done
ok 'split by time: in a row' continuous run.bin run.2.bin run.3.bin run.4.bin
ok 'split by time: all samples are there' is "$(rows run.bin run.2.bin run.3.bin run.4.bin)" "$(said fast)"
ok 'split by time: the summary names them' says err 'run.bin, run.2.bin, run.3.bin, run.4.bin'

run nvmtop --demo --record --duration 2.5 --split 120k 'size ü'
ok 'split by size: done' is "$status" 0
ok 'split by size: a name without a suffix' test -s 'size ü.2'
for f in size*; do ok "$f: not larger" small "$f" 120000; done
ok 'split by size: in a row' continuous 'size ü' 'size ü.2'
ok 'split by size: all samples are there' is "$(rows size*)" "$(said fast)"

run nvmtop --demo --record --duration 60 --max-size 150k max.bin
ok 'a size to end at: done' is "$status" 0
ok 'a size to end at: said' says err 'has reached --max-size'
ok 'a size to end at: kept' small max.bin 150000
ok 'a size to end at: used' judge max.bin "t['bytes'] > 80000"
ok 'a size to end at: the summary counts what is in the file' is "$(rows max.bin)" "$(said fast)"

for wrong in '--split 0.5' '--split 10k' '--split 5x' '--max-size 1000' '--max-size 1m' '--sync 0' '--sync 2d'; do
    # shellcheck disable=SC2086
    run nvmtop --demo --record $wrong x.bin
    ok "$wrong: wrong use" is "$status" 2
    ok "$wrong: says what it takes" says err 'is not a valid value for .*: it takes'
done
run nvmtop --once --split 5
ok 'only with what records' is "$status" 2
run nvmtop --record --split 5 -
ok 'not with a stream' is "$status" 2
ok 'none of these left a file' test ! -e x.bin -a ! -e x.bin.part

# A file that may not grow: it is completed, and the recording goes on.
(
    ulimit -f 600
    run nvmtop --demo --record --fast-hz 4000 --duration 3.5 lim.bin
    echo $status >lim.status
)
ok 'a file size limit: status 1' is "$(cat lim.status)" 1
ok 'a file size limit: said' says err 'lim.bin ended early: File too large; .*continues in'
ok 'a file size limit: said in the end, too' says err 'interrupted: '
ok 'a file size limit: the first is sound' judge lim.bin "t['counts']['fast'] > 50"
ok 'a file size limit: so is the next' judge lim.2.bin "t['counts']['fast'] > 50"
ok 'a file size limit: in a row' continuous lim.bin lim.2.bin
ok 'a file size limit: the summary counts what is in the files' is "$(rows lim*.bin)" "$(said fast)"
ok 'a file size limit: nothing is left over' is "$(ls | grep -c 'lim.*part')" 0

# A disk that is full, and then is not.
if mkdir disk && mount -t tmpfs -o size=14m none disk 2>/dev/null; then
    head -c 7000000 /dev/zero >disk/ballast
    $EMU "$NVMTOP" --demo --record --fast-hz 10000 disk/full.bin 2>err &
    pid=$!
    ok 'a full disk: said at once' until_true grep 'full.bin ended early: No space left.*continues' err
    kill -USR1 $pid # all goes on
    until_true test -s disk/full.bin
    rm disk/ballast
    ok 'a full disk: the recording goes on' until_true grown disk/full.2.bin.part 100000
    kill -TERM $pid
    wait $pid
    status=$?
    ok 'a full disk: status 1' is "$status" 1
    ok 'a full disk: the first is complete' judge disk/full.bin "t['fast']['increasing'] and t['counts']['fast'] > 10"
    ok 'a full disk: so is the next' judge disk/full.2.bin "t['fast']['increasing'] and t['counts']['fast'] > 50"
    ok 'a full disk: in a row' continuous disk/full.bin disk/full.2.bin
    ok 'a full disk: the summary names both' says err 'full.bin, disk/full.2.bin'
    ok 'a full disk: and the hole' says err 'interrupted: 1 time'
    ok 'a full disk: nothing is left over' is "$(ls disk | grep -c part)" 0
    rm -f disk/*

    # The mount goes away: what is open goes on, the next file is where the name
    # leads now.
    $EMU "$NVMTOP" --demo --record --split 3 disk/gone.bin 2>err &
    pid=$!
    until_true grown disk/gone.bin.part 900
    umount -l disk
    ok 'a mount that is gone: said' until_true grep 'gone.bin.part is no longer at its path: .* unmounted' err
    ok 'a mount that is gone: the recording goes on' until_true grown disk/gone.2.bin.part 900
    kill -TERM $pid
    wait $pid
    status=$?
    ok 'a mount that is gone: status 1' is "$status" 1
    ok 'a mount that is gone: said in the end, too' says err 'gone.bin was completed, but its folder was moved'
    ok 'a mount that is gone: the rest is sound' judge disk/gone.2.bin "t['fast']['increasing']"
    rm -f disk/*
    mount -t tmpfs -o size=14m none disk
    (cd disk && exec $EMU "$NVMTOP" --demo --record here.bin 2>../err) &
    pid=$!
    until_true grown disk/here.bin.part 900
    umount -l disk
    ok 'a mount that is gone, and one stands in it: said' until_true grep 'here.bin.part is no longer at its path' err
    kill -TERM $pid
    wait $pid
else
    skip 'a full disk' 'a small file system cannot be mounted here: run it as root'
fi

# The part is removed: what comes from then on is in the next file.
mkdir swept
$EMU "$NVMTOP" --demo --record --sync 1h swept/r.bin 2>err &
pid=$!
until_true grown swept/r.bin.part 900
rm swept/r.bin.part
ok 'a part that was removed: said' until_true grep 'swept/r.bin ended early: No such file.*continues' err
ok 'a part that was removed: the recording goes on' until_true grown swept/r.2.bin.part 900
kill -TERM $pid
wait $pid
status=$?
ok 'a part that was removed: status 1' is "$status" 1
ok 'a part that was removed: what is lost' says err 'swept/r.bin.part was removed while it was recorded'
ok 'a part that was removed: only what is left is counted' is "$(rows swept/r.2.bin)" "$(said fast)"
ok 'a part that was removed: the rest is sound' judge swept/r.2.bin "t['counts']['fast'] > 0"
ok 'a part that was removed: nothing is left over' is "$(ls swept)" r.2.bin

# The folder goes away: said, and the recording stays in the file that it has.
mkdir away
$EMU "$NVMTOP" --demo --record --split 4 away/f.bin 2>err &
pid=$!
until_true grown away/f.bin.part 900
mv away moved
ok 'a folder that is gone: said' until_true grep 'away/f.bin.part is no longer at its path: its folder was moved.*continues in it' err
sleep 2.5 # in which no further file can be opened
kill -TERM $pid
wait $pid
status=$?
ok 'a folder that is gone: status 1' is "$status" 1
ok 'a folder that is gone: said in the end, too' says err 'away/f.bin was completed, but its folder was moved'
ok 'a folder that is gone: nothing is lost' judge moved/f.bin "t['counts']['fast'] > 10"
done_testing
