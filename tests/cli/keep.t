#!/bin/sh
# Ring mode: by signal, by condition, beside a command, at the end; what is refused.
. "$NVMTOP_SRC/tests/cli/lib.sh"
demo_without_marks

# begin OPTION...: a recorder in the background that holds something
begin() {
    record_begin "$@"
    sleep 1.5
}
wait_file() {
    for i in $(seq 400); do
        test -e "$1" && return
        sleep 0.05
    done
    return 1
}
end() {
    kill -TERM $pid
    wait $pid
    status=$?
}

begin --keep 1 spike.nvmt
ok 'it says how much memory it takes' says err 'keeping the last 1 s in memory (at most .* [kM]B); w or SIGUSR2'
ok 'nothing is written without a trigger' test ! -e spike.nvmt
kill -USR1 $pid
sleep 0.2
kill -USR2 $pid
ok 'SIGUSR2 writes a file' wait_file spike.nvmt
ok 'sampling goes on' kill -0 $pid
sleep 0.3
kill -USR2 $pid
ok 'and the next one' wait_file spike.2.nvmt
end
ok 'status 0' is "$status" 0
# The rest of the cells of 134 ms at both ends is in it, too.
ok 'a complete file of that second' judge spike.nvmt \
    "0 < t['counts']['fast'] <= 1270 and 0 < t['counts']['medium'] <= 128 and not t['errors']"
ok 'with the mark inside and the trigger' judge spike.nvmt "[s['id'] for s in t['sync']] == [1, 2]"
ok 'the second is complete' judge spike.2.nvmt "0 < t['counts']['fast'] <= 1270"
ok 'the summary lists both' says err 'triggered: 2, files: 2'
ok 'and how much memory it took' says err 'kept the last 1 s in [0-9.]* kB;'
ok 'by name' says err '^  spike.2.nvmt: 1.0 s'
ok 'nothing is left over' is "$(echo spike*)" 'spike.2.nvmt spike.nvmt'
run nvmtop report --summary spike.nvmt
ok 'the mark is labelled with what it was' says out SIGUSR2

# True from the first row on.
begin --keep 2 --after 0.5 --trigger 'ram > 1 GiB for 200ms and gpu < 101' cond.nvmt
ok 'a condition writes a file' wait_file cond.nvmt
end
ok 'with the time after it' judge cond.nvmt "0 < t['counts']['fast'] <= 1770"
ok 'once: it was never false again' says err 'triggered: 1, files: 1'
ok 'the condition is said at the start' says err 'ram > 1 GiB for 200ms and gpu < 101 writes'

# The end comes while a file still waits for its time after.
begin --keep 1 --after 60 late.nvmt
kill -USR2 $pid
sleep 0.3
end
ok 'SIGTERM while a file waits: status 0' is "$status" 0
ok 'and it is complete, as far as it came' judge late.nvmt "0 < t['counts']['fast'] < 30000 and len(t['sync']) == 1"
ok 'and that is what is said of it' sh -c 'grep -q "^  late.nvmt: " err && ! grep -q "^  late.nvmt: 61" err'

# The same moment, with much to write.
begin --keep 1 --fast-hz 5000 both.nvmt
kill -USR2 $pid
end
ok 'SIGTERM while it is written: status 0' is "$status" 0
ok 'and all of it is there' judge both.nvmt "1001 < t['counts']['fast'] <= 6350 and len(t['sync']) == 1"

# What was triggered is on the disk as it comes.
begin --keep 1 --after 60 killed.nvmt
kill -USR2 $pid
wait_file killed.nvmt
soon has_rows killed.nvmt 501
soon has_marks killed.nvmt 1
kill -KILL $pid
wait $pid 2>/dev/null
ok 'SIGKILL in the time after: what was held and what came is in the file' judge killed.nvmt \
    "500 < t['counts']['fast'] and len(t['sync']) == 1"
run nvmtop --replay killed.nvmt --print 120x40
ok 'and it opens as it is' is "$status" 0

run nvmtop --demo --record --keep 1 cmd.nvmt -- sh -c 'sleep 1; kill -USR2 $PPID; sleep 0.3; exit 7'
ok 'around a command: its status' is "$status" 7
ok 'and its file' judge cmd.nvmt "len(t['sync']) == 1 and 100 < t['counts']['fast'] <= 1270"
run nvmtop --demo --record --keep 1 x.bin
ok 'version 1 is refused' is "$status" 2
ok 'and what makes it is said' says err 'name a FILE.nvmt, of which nvmtop export nvmt1 makes one'
run nvmtop --demo --record --keep 1 --duration 0.5 nothing.nvmt
ok 'no trigger: status 0' is "$status" 0
ok 'and no file' test ! -e nothing.nvmt
ok 'which is said' says err 'nothing was written'

# No room: said at once, and written when there is room again.
mkdir small
if mount -t tmpfs -o size=5m tmpfs small 2>/dev/null; then
    begin --keep 3 small/full.nvmt
    head -c 3500000 /dev/zero >small/filler 2>/dev/null
    kill -USR2 $pid
    soon grep 'disk is full' err
    rm -f small/filler
    kill -USR2 $pid
    ok 'a disk that has room again is written to' wait_file small/full.nvmt
    end
    ok 'a full disk: status 0, for nothing is lost' is "$status" 0
    ok 'which was said' says err 'disk is full'
    ok 'and has all of it' judge small/full.nvmt "len(t['sync']) >= 1"
    umount small
else
    skip 'a full disk' 'a small file system cannot be mounted here: run it as root'
fi

refused() {
    title=$1
    expected=$2
    shift 2
    run nvmtop --demo "$@"
    ok "$title: status 2" is "$status" 2
    ok "$title: what is wrong" says err "$expected"
}
refused 'no time' '"soon" is not a valid value for --keep' --record --keep soon x.nvmt
refused 'no length' 'at least 100ms' --record --keep 0 x.nvmt
refused 'a trigger alone' 'need --keep' --record --trigger 'gpu > 5' x.nvmt
refused 'after alone' 'need --keep' --record --after 5 x.nvmt
refused 'no condition' 'column 6: expected a number, found the end' --record --keep 1 --trigger 'gpu >' x.nvmt
refused 'no signal' 'unknown signal "gpx"; known signals include gpu' --record --keep 1 --trigger 'gpx > 1' x.nvmt
refused 'two triggers' 'join conditions with "or"' --record --keep 1 --trigger 'gpu > 5' --trigger 'cpu > 5' x.nvmt
refused 'no unit' 'needs a unit: mW, W, kW' --record --keep 1 --trigger 'power > 1' x.nvmt
refused 'a stream' 'not a stream' --record --keep 1 -
refused 'replay' 'not an option of nvmtop replay, but of the screen, nvmtop record' --replay x.nvmt --keep 1
refused 'parts' 'cannot be used with --keep' --record --keep 1 --split 10 x.nvmt
run nvmtop --demo --record --keep 30x x.nvmt
ok 'a wrong suffix' is "$status" 2
run nvmtop --demo --record --keep 100000h x.nvmt
ok 'more than the memory: status 1' is "$status" 1
ok 'and how much it would be' says err 'could take [0-9]* MB of memory'
touch there.nvmt
run nvmtop --demo --record --keep 1 there.nvmt
ok 'a file that is there: status 1' is "$status" 1
ok 'is not touched' test ! -s there.nvmt
echo other >other.nvmt
run nvmtop --demo --record --force --keep 1 --duration 0.5 other.nvmt
ok '--force: another file is refused at once' test "$status:$(cat other.nvmt)" = 1:other
run nvmtop --demo --record --duration 2 old.nvmt
cp old.nvmt before
run nvmtop --demo --record --force --keep 1 --duration 0.5 old.nvmt
ok '--force without a trigger: what is there stays' cmp before old.nvmt
begin --force --keep 1 old.nvmt
kill -USR2 $pid
sleep 0.5
end
ok '--force: the first file replaces it' judge old.nvmt "0 < t['counts']['fast'] <= 1270"
run nvmtop --demo --record --force --keep 1 none/x.nvmt
ok '--force into no folder: status 1 at once' is "$status" 1
done_testing
