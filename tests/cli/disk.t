#!/bin/sh
# A disk that takes its time, or does not answer: it holds up neither the sampler nor the end,
# and it is said.
. "$NVMTOP_SRC/tests/cli/lib.sh"

DISK=$(pwd -P)
export DISK
if ! ${CC:-cc} -shared -fPIC -o disk.so "$NVMTOP_SRC/tests/tools/slowdisk.c" -ldl 2>/dev/null ||
    ! LD_PRELOAD=$scratch/disk.so $EMU "$NVMTOP" --version 2>&1 | grep -q '^nvmtop' ||
    LD_PRELOAD=$scratch/disk.so $EMU "$NVMTOP" --version 2>&1 | grep -qi preload; then
    echo '1..0 # SKIP nothing can be preloaded here: build without sanitizers, for this machine'
    exit 0
fi
# begin FILE OPTION...
begin() {
    rm -f err # of the one before
    LD_PRELOAD=$scratch/disk.so $EMU "$NVMTOP" --demo --record -o "$@" 2>err &
    pid=$!
    file=$1
    soon grown 20000
}
grown() { test "$(stat -c %s "${file%.*}.nvmt")" -ge "$1"; }
all_there() { judge "$file" "t['end'] and not [g for g in t['gaps'] if g['cause'] == 1] and t['counts']['fast'] > 500"; }

# Syncs that take longer than the time between them.
begin sync.nvmt --flush 1
: >sync.hangs
soon test -s syncs
sleep 2
before=$(wc -c <sync.nvmt)
ok 'a sync that hangs: what comes is written' soon grown $((before + 1))
rm sync.hangs
kill -TERM $pid
wait $pid
ok 'a sync that hangs: status 0' is "$?" 0
ok 'a sync that hangs: nothing is lost' all_there

# Some 20 syncs in 3 s, and not one a second; on a busy machine fewer.
rm -f syncs
begin often.nvmt --flush 0.1 --duration 3
wait $pid
ok 'a short time between syncs: kept' test "$(wc -c <syncs)" -ge 5

# Writes that take seconds.
begin write.nvmt
: >write.hangs
ok 'a write that hangs: said' soon grep 'the disk does not respond: .* wait in memory' err
rm write.hangs
ok 'a write that hangs: that it goes on is said' soon grep 'the recording continues in write.nvmt' err
kill -TERM $pid
wait $pid
ok 'a write that hangs: status 0' is "$?" 0
ok 'a write that hangs: nothing is lost' all_there

# At the end.
begin end.nvmt
: >write.hangs
sleep 0.5
kill -INT $pid
ok 'a disk that hangs at the end: said' soon grep 'the last .* of end.nvmt are not written; waiting for it, Ctrl-C ends' err
ok 'a disk that hangs at the end: it is waited for' kill -0 $pid
began=$(date +%s%N)
kill -INT $pid
wait $pid
ok 'the second Ctrl-C ends it: status 1' is "$?" 1
ok 'before it would end by itself' test $(($(date +%s%N) - began)) -lt 9000000000
ok 'what is not on the disk is named' sh -c "tail -n 1 err | grep 'the last .* of end.nvmt are not written'"
rm write.hangs
ok 'what was written before is sound' judge end.nvmt "t['counts']['fast'] > 100"
begin late.nvmt
: >write.hangs
sleep 0.5
kill -INT $pid
soon grep 'waiting for it' err
rm write.hangs
wait $pid
ok 'a disk that answers meanwhile: status 0' is "$?" 0
ok 'a disk that answers meanwhile: all is there' judge late.nvmt "t['end'] and not [g for g in t['gaps'] if g['cause'] == 1]"
# A command that ends while the disk is waited for.
begin command.nvmt --duration 2 -- sh -c 'until test -e over; do sleep 0.1; done; exit 3'
: >write.hangs
soon grep 'waiting for it' err
touch over
ended() { ! grep -qs '^State:[[:space:]]*[RSD]' "/proc/$1/status"; }
command=$(pgrep -P $pid | head -n 1)
soon ended "$command"
sleep 0.3
rm write.hangs
soon ended $pid || kill -KILL $pid
wait $pid
ok 'a command that ends meanwhile: its status' is "$?" 3

# Version 1 is written when all of the log is on the disk.
: >convert.hangs
begin convert.bin --duration 1
soon sh -c 'ls convert.bin.*.new' >/dev/null 2>&1
kill -INT $pid
rm convert.hangs
wait $pid
ok 'Ctrl-C while a .bin is written: status 1' is "$?" 1
ok 'the command that makes it is named' says err 'the recording is in convert.nvmt: nvmtop export nvmt1 convert.nvmt -o convert.bin makes'
ok 'and nothing else is left' is "$(echo convert.bin* convert.nvmt)" 'convert.bin* convert.nvmt'
run nvmtop export nvmt1 convert.nvmt -o convert.bin
ok 'which does' judge convert.bin "t['counts']['fast'] > 100"
: >convert.full
begin full.bin --duration 1
wait $pid
ok 'a disk that is full then: status 1' is "$?" 1
ok 'the command that makes it is named, and why' says err 'No space left on device; .* nvmtop export nvmt1 full.nvmt -o full.bin makes'
ok 'and nothing else is left' is "$(echo full.*)" full.nvmt
rm convert.full

# Before a trigger, and after it: what is kept is kept meanwhile.
file=kept.nvmt
rm -f err
LD_PRELOAD=$scratch/disk.so $EMU "$NVMTOP" --demo --record --keep 1 --after 1 -o $file 2>err &
pid=$!
soon grep 'keeping the last' err
sleep 1.5
: >write.hangs
kill -USR2 $pid
sleep 5 # longer than a file waits for the rows of its end
rm write.hangs
ok 'a trigger while the disk hangs: the file is written later' soon grep 'wrote kept.nvmt: 2.0 s' err
ok 'a trigger while the disk hangs: nothing is lost' judge $file \
    "t['end'] and t['counts']['fast'] + sum(g['missed'] for g in t['gaps'] if g['tier'] == 0) > 1900 and not [g for g in t['gaps'] if g['cause'] == 1]"
: >write.hangs
kill -USR2 $pid
sleep 1.5
kill -TERM $pid
ok 'a disk that hangs at the end: said' soon grep 'the disk does not respond: .* waiting for it, Ctrl-C ends without it' err
ok 'a disk that hangs at the end: it is waited for' kill -0 $pid
rm write.hangs
wait $pid
ok 'a disk that answers meanwhile: status 0' is "$?" 0
ok 'a disk that answers meanwhile: all is there' judge kept.2.nvmt "t['end'] and not [g for g in t['gaps'] if g['cause'] == 1]"
# ends FILE WHAT SENTENCE: the second Ctrl-C, while that hangs
ends() {
    rm -f err
    LD_PRELOAD=$scratch/disk.so $EMU "$NVMTOP" --demo --record --keep 1 -o "$1" 2>err &
    pid=$!
    soon grep 'keeping the last' err
    : >"$2"
    kill -USR2 $pid
    sleep 1.5
    kill -INT $pid
    ok "$1: a disk that hangs at the end: said" soon grep 'waiting for it, Ctrl-C ends without it' err
    began=$(date +%s%N)
    kill -INT $pid
    wait $pid
    ok "$1: the second Ctrl-C ends it: status 1" is "$?" 1
    ok "$1: before it would end by itself" test $(($(date +%s%N) - began)) -lt 9000000000
    ok "$1: what is not on the disk is named" says err "the disk does not respond: $3"
    rm "$2"
}
ends second.nvmt write.hangs 'the last .* of second.nvmt are not written'

# More than can wait in memory, of a board with some 2 MB a second.
mkdir root
printf 'board noise\ntitle Noise\nfast wave gpu.util = 5\n' >noise.board
for i in $(seq 300); do echo "fast wave n$i.x = noise($i, 1ms)"; done >>noise.board
for hung in 20 60 180; do # seconds: on a slow machine it takes longer
    rm -f err lost.nvmt
    LD_PRELOAD=$scratch/disk.so $EMU "$NVMTOP" record --board ./noise.board --sysroot root --keep 0.5 --after 600 -o lost.nvmt 2>err &
    pid=$!
    soon grep 'keeping the last' err
    : >write.hangs
    kill -USR2 $pid
    sleep $hung
    rm write.hangs
    soon grep 'the recording continues in lost.nvmt' err
    kill -TERM $pid
    wait $pid
    status=$?
    grep -q 'rows were lost' err && break
done
ok 'rows that find no room: status 1' is "$status" 1
ok 'and how many they are' says err '  lost.nvmt: .*; [0-9]* rows were lost because they could not be written in time; they are recorded as gaps'
ok 'which they are' judge lost.nvmt "t['end'] and sum(g['missed'] for g in t['gaps'] if g['cause'] == 1 and g['tier'] == 0) > 100"
done_testing
