#!/bin/sh
# Recordings that end by their size, that go on in further files, and that find
# their disk full and go on when it is not any more.
. "$NVMTOP_SRC/tests/cli/lib.sh"

# continuous FILE...: each begins where the one before ends, and has the next rows
continuous() {
    tell "(*(t['start_ns'] / 1e9 + t['fast'][k] for k in ('first_s', 'last_s')), (t['real_ns'] - t['start_ns']) / 1e9)" "$@" >spans ||
        { cat spans; return 1; }
    # (FIRST, LAST, WALL CLOCK LESS THE OTHER)
    tr -d '(),' <spans | awk 'NR > 1 && !(last < $1) { print "file " NR " begins at " $1 ", before " last; wrong = 1 }
        NR > 1 && ($3 - wall > 5 || wall - $3 > 5) { print "file " NR ": the wall clock leaps"; wrong = 1 }
        { last = $2 + 0; wall = $3 + 0 }
        END { exit wrong }'
}
# rows FILE...: fast rows of all of them
rows() {
    tell "t['counts']['fast']" "$@" | awk '{ sum += $1 } END { print sum }'
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

run nvmtop --demo --record --duration 3.3 --split 1 run.nvmt
ok 'split by time: done' is "$status" 0
ok 'split by time: four files' is "$(echo run.*)" 'run.2.nvmt run.3.nvmt run.4.nvmt run.nvmt'
for f in run.nvmt run.2.nvmt run.3.nvmt run.4.nvmt; do
    ok "$f: sound" judge $f "t['fast']['increasing'] and t['counts']['fast'] > 0"
done
ok 'split by time: in a row' continuous run.nvmt run.2.nvmt run.3.nvmt run.4.nvmt
ok 'split by time: all samples are there' is "$(rows run.nvmt run.2.nvmt run.3.nvmt run.4.nvmt)" "$(said fast)"
for f in run.nvmt run.2.nvmt run.3.nvmt; do
    ok "$f: says that it was split, and where it goes on" judge $f "t['end']['reason'] == 1 and t['end']['next'].startswith('run.')"
done
ok 'split by time: the summary names them' says err 'run.nvmt, run.2.nvmt, run.3.nvmt, run.4.nvmt'

run nvmtop --demo --record --duration 6 --split 80k 'size ü'
ok 'split by size: done' is "$status" 0
ok 'split by size: a name without a suffix' test -s 'size ü.2'
for f in size*; do ok "$f: not larger" small "$f" 80000; done
ok 'split by size: in a row' continuous 'size ü' 'size ü.2'
ok 'split by size: all samples are there' is "$(rows size*)" "$(said fast)"

run nvmtop --demo --record --duration 60 --max-size 150k max.nvmt
ok 'a size to end at: done' is "$status" 0
ok 'a size to end at: said' says err 'has reached --max-size'
ok 'a size to end at: kept' small max.nvmt 150000
ok 'a size to end at: used' judge max.nvmt "t['bytes'] > 80000"
ok 'a size to end at: the summary counts what is in the file' is "$(rows max.nvmt)" "$(said fast)"

for wrong in '--split 0.5' '--split 10k' '--split 5x' '--max-size 1000' '--max-size 1m' '--flush 0' '--flush 2d'; do
    # shellcheck disable=SC2086
    run nvmtop --demo --record $wrong x.nvmt
    ok "$wrong: wrong use" is "$status" 2
    ok "$wrong: says what it takes" says err 'is not a valid value for .*: it takes'
done
run nvmtop once --split 5
ok 'only with what records' is "$status" 2
run nvmtop --record --split 5 -
ok 'not with a stream' is "$status" 2
ok 'none of these left a file' test ! -e x.nvmt

# A file that may not grow: the recording goes on in the next one.
(
    ulimit -f 48
    run nvmtop --demo --record --fast-hz 4000 --duration 4 lim.nvmt
    echo $status >lim.status
)
ok 'a file size limit: status 1' is "$(cat lim.status)" 1
ok 'a file size limit: said' says err 'lim.nvmt ended early: File too large; .*continues in'
ok 'a file size limit: said in the end, too' says err 'interrupted: '
ok 'a file size limit: only those that ended early are named so' says err 'lim.nvmt (ended early), lim.2.nvmt'
ok 'a file size limit: the first is sound' judge lim.nvmt "t['counts']['fast'] > 50 and t['end'] is None"
ok 'a file size limit: so is the next' judge lim.2.nvmt "t['counts']['fast'] > 50"
ok 'a file size limit: in a row' continuous lim.nvmt lim.2.nvmt
ok 'a file size limit: nothing is missing' judge lim.2.nvmt "not [g for g in t['gaps'] if g['cause'] == 1]"
ok 'a file size limit: nothing is said to be' sh -c '! grep "rows were lost" err'
ok 'a file size limit: the summary counts what is in the files' is "$(rows lim*.nvmt)" "$(said fast)"

# A disk that is full, and then is not: what comes meanwhile waits.
if mkdir disk && mount -t tmpfs -o size=14m none disk 2>/dev/null; then
    $EMU "$NVMTOP" --demo --record --fast-hz 4000 disk/full.nvmt 2>err &
    pid=$!
    until_true grown disk/full.nvmt 20000
    head -c 20000000 /dev/zero >disk/ballast 2>/dev/null
    ok 'a full disk: said at once' until_true grep 'cannot write to disk/full.nvmt, .*wait in memory: No space left' err
    kill -USR1 $pid # all goes on
    sleep 1
    rm disk/ballast
    ok 'a full disk: the recording goes on' until_true grep 'the recording continues in disk/full.nvmt' err
    sleep 0.5
    kill -TERM $pid
    wait $pid
    status=$?
    ok 'a full disk: status 0, for nothing is lost' is "$status" 0
    ok 'a full disk: all is in the one file' judge disk/full.nvmt "t['counts']['sync'] == 1 and not [g for g in t['gaps'] if g['cause'] == 1]"
    ok 'a full disk: the summary counts it' is "$(rows disk/full.nvmt)" "$(said fast)"
    ok 'a full disk: and when nothing could be written' says err 'interrupted: 1 time'
    rm -f disk/*
    $EMU "$NVMTOP" --demo --record --fast-hz 4000 disk/full.nvmt 2>err &
    pid=$!
    until_true grown disk/full.nvmt 20000
    head -c 20000000 /dev/zero >disk/ballast 2>/dev/null
    until_true grep 'No space left' err
    kill -TERM $pid
    wait $pid
    status=$?
    ok 'full to the end: status 1' is "$status" 1
    ok 'full to the end: said' says err 'full.nvmt ended early: No space left'
    ok 'full to the end: what is there is sound' judge disk/full.nvmt "t['counts']['fast'] > 10"
    ok 'full to the end: the summary counts that' is "$(rows disk/full.nvmt)" "$(said fast)"
    rm -f disk/*

    # The mount goes away: what is open goes on, the next file is where the name
    # leads now.
    $EMU "$NVMTOP" --demo --record --split 3 disk/gone.nvmt 2>err &
    pid=$!
    until_true grown disk/gone.nvmt 9000
    umount -l disk
    ok 'a mount that is gone: said' until_true grep 'gone.nvmt is no longer at its path: .* unmounted' err
    ok 'a mount that is gone: the recording goes on' until_true grown disk/gone.2.nvmt 9000
    kill -TERM $pid
    wait $pid
    status=$?
    ok 'a mount that is gone: status 1' is "$status" 1
    ok 'a mount that is gone: said in the end, too' says err 'gone.nvmt was completed, but its folder was moved'
    ok 'a mount that is gone: the rest is sound' judge disk/gone.2.nvmt "t['fast']['increasing']"
    rm -f disk/*
    mount -t tmpfs -o size=14m none disk
    (cd disk && exec $EMU "$NVMTOP" --demo --record here.nvmt 2>../err) &
    pid=$!
    until_true grown disk/here.nvmt 9000
    umount -l disk
    ok 'a mount that is gone, and one stands in it: said' until_true grep 'here.nvmt is no longer at its path' err
    kill -TERM $pid
    wait $pid
else
    skip 'a full disk' 'a small file system cannot be mounted here: run it as root'
fi

# The file is removed: what comes from then on is in the next file.
mkdir swept
$EMU "$NVMTOP" --demo --record --flush 1h swept/r.nvmt 2>err &
pid=$!
until_true grown swept/r.nvmt 9000
sleep 1 # in which it was seen at its path
rm swept/r.nvmt
ok 'a file that was removed: said' until_true grep 'swept/r.nvmt ended early: No such file.*continues' err
ok 'a file that was removed: the recording goes on' until_true grown swept/r.2.nvmt 9000
kill -TERM $pid
wait $pid
status=$?
ok 'a file that was removed: status 1' is "$status" 1
ok 'a file that was removed: said in the end, too' says err 'swept/r.nvmt (ended early), swept/r.2.nvmt'
ok 'a file that was removed: the rest is sound' judge swept/r.2.nvmt "t['counts']['fast'] > 0"

# The folder goes away: said, and the recording stays in the file that it has.
mkdir away
$EMU "$NVMTOP" --demo --record --split 4 away/f.nvmt 2>err &
pid=$!
until_true grown away/f.nvmt 9000
mv away moved
ok 'a folder that is gone: said' until_true grep 'away/f.nvmt is no longer at its path: its folder was moved.*continues in it' err
sleep 2.5 # in which no further file can be opened
kill -TERM $pid
wait $pid
status=$?
ok 'a folder that is gone: status 1' is "$status" 1
ok 'a folder that is gone: said in the end, too' says err 'away/f.nvmt was completed, but its folder was moved'
ok 'a folder that is gone: nothing is lost' judge moved/f.nvmt "t['counts']['fast'] > 10"
done_testing
