#!/bin/sh
# A recording as a stream: through pipes, into files, to readers that stop or go
# away; and what becomes of it.
. "$NVMTOP_SRC/tests/cli/lib.sh"
demo_without_marks

grows() { test "$(wc -c <"$1")" -gt "$2"; }

$EMU "$NVMTOP" --demo --record - --duration 1.5 >a.nvmt 2>err
ok 'a stream into a file' is $? 0
ok 'it is a log' is "$(head -c 4 a.nvmt | od -An -tx1 | tr -d ' \n')" ab4e560a
ok 'the summary is on standard error' says err 'standard output'
rows=$(sed -n 's/^  samples: *\([0-9]*\) fast.*/\1/p' err)
ok 'all samples of the summary are in it' judge a.nvmt "50 < t['counts']['fast'] == ${rows:-0} and t['counts']['medium'] > 5 and t['counts']['slow'] > 0"
run nvmtop check a.nvmt
ok 'it is sound' is "$status" 0

nvmtop --print 100x30 --replay a.nvmt >kept.txt 2>err
ok 'a stream in a file is shown' is $? 0
ok 'without a word' test ! -s err
nvmtop --print 100x30 --replay - <a.nvmt >piped.txt
ok 'as it is from standard input' sh -c 'sed 1d piped.txt >1; sed 1d kept.txt >2; cmp 1 2'
$EMU "$NVMTOP" --demo --record - --duration 0.5 2>err | tee tee.nvmt | nvmtop --print 100x30 --replay - >live.txt
ok 'through two pipes' says live.txt 'Jetson AGX Orin'
nvmtop --print 100x30 --replay tee.nvmt >kept.txt
ok 'and what tee kept is what was shown' sh -c 'sed 1d live.txt >1; sed 1d kept.txt >2; cmp 1 2'

# --- what a remote shell prints before it, and damage ---
(printf 'Welcome\n\nLast login: NVMSunday\n'; cat a.nvmt) >said.nvmt
run nvmtop --print 100x30 --replay said.nvmt
ok 'text before a stream: it is shown' is "$status" 0
ok 'text before a stream: without a word' test ! -s err
size=$(wc -c <a.nvmt)
head -c $((size * 2 / 3)) a.nvmt >cut.nvmt
run nvmtop --print 100x30 --replay cut.nvmt
ok 'a cut stream: what is there is shown' says out 'Jetson AGX Orin'
run nvmtop check cut.nvmt
ok 'a cut stream: check: status 3' is "$status" 3
cp a.nvmt bad.nvmt
printf 'XXXXXXXXXX' | dd of=bad.nvmt bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
run nvmtop check bad.nvmt
ok 'a damaged stream: status 3' is "$status" 3
run nvmtop --print 100x30 --replay bad.nvmt
ok 'a damaged stream: the rest is shown' says out 'Jetson AGX Orin'
sed 's/$/\r/' a.nvmt >term.nvmt
run nvmtop --print 80x10 --replay - <term.nvmt
ok 'a stream that went through a terminal: status 1' is "$status" 1
run nvmtop --print 80x10 --replay - </dev/null
ok 'nothing on standard input' is "$status" 1
run nvmtop --print 80x10 --replay - <"$NVMTOP_SRC/README.md"
ok 'something else on standard input' is "$status" 1
ok 'one sentence' one_line err
cat a.nvmt | run sh -c 'ulimit -f 8; exec $EMU "$0" report -' "$NVMTOP"
ok 'no room for what comes in: where, and why' says err 'TMPDIR.*File too large'

# --- wrong use ---
nvmtop --demo --record - --duration 1 >both 2>&1
ok 'not where messages go, too' is $? 2
run nvmtop --demo --record - --force
ok 'nothing to overwrite' is "$status" 2
run nvmtop --follow
ok '--follow alone' is "$status" 2
run nvmtop once --demo --stop-on-eof
ok '--stop-on-eof without --record' is "$status" 2
run nvmtop --demo --record e.nvmt --stop-on-eof -- true
ok '--stop-on-eof with a command' is "$status" 2

# --- readers ---
mkfifo fifo
$EMU "$NVMTOP" --demo --record - >fifo 2>err &
pid=$!
head -c 5000 <fifo >/dev/null
wait $pid
ok 'a reader that goes ends it in good order' is $? 0
ok 'with a summary' says err 'standard output'
$EMU "$NVMTOP" --demo --record - --duration 60 >fifo 2>err &
pid=$!
head -c 5000 <fifo >/dev/null
wait $pid
ok 'but what was to last longer has failed' is $? 1
ok 'and says why' says err 'reader closed the stream'
$EMU "$NVMTOP" --demo --record - >/dev/full 2>err
ok 'a full disk' is $? 1
ok 'is named' says err 'No space left'

$EMU "$NVMTOP" --demo --record - >fifo 2>err &
pid=$!
cat <fifo >ended.nvmt &
reader=$!
ok 'samples come' soon grows ended.nvmt 20000
kill -TERM $pid
wait $pid
ok 'SIGTERM' is $? 0
wait $reader
run nvmtop check ended.nvmt
ok 'ends the stream as it must' is "$status" 0

# What a reader that stands still costs: samples, and nothing else.
$EMU "$NVMTOP" --demo --record - --fast-hz 3000 --medium-hz 3000 --slow-hz 3000 >fifo 2>err &
pid=$!
cat <fifo >slow.nvmt &
reader=$!
# Processor time in ticks, by which a busy machine samples as much as a quiet one.
used() { sed 's/.*) //' /proc/$pid/stat | awk '{print $12 + $13}'; }
soon grows slow.nvmt 60000
begun=$(used)
soon grows slow.nvmt 180000
until=$(used)
until=$((until + 12 * (until - begun + 1))) # for 1.4 MB: a pipe and 1 MB of chunks are full before
kill -STOP $reader
stopped=$(date +%s) # and as long as that takes where all of it is sampled
ok 'it samples on' soon eval 'test "$(used)" -ge $until && test $(($(date +%s) - stopped)) -ge 15'
memory=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status)
ok 'the recorder runs on' kill -0 $pid
before=$(wc -c <slow.nvmt)
kill -CONT $reader
ok 'and the stream goes on' soon grows slow.nvmt $((before + 1200000))
kill -TERM $pid
wait $pid
ok 'a reader that stopped: rows were lost, status 1' is $? 1
wait $reader
cp err slow.err
lost=$(sed -n 's/.*; [0-9]* late, \([0-9]*\) lost.*/\1/p' err)
echo "# $lost rows were lost, $memory kB of memory"
ok 'rows were lost, and counted' test "${lost:-0}" -gt 100
ok 'and why the status is what it is' says err 'rows were lost because they could not be written in time'
if test "${NVMTOP_TEST_MEASURE:-yes}" = yes; then
    ok 'memory is bounded' test "${memory:-99999}" -lt 40000
else
    skip 'memory is bounded' 'NVMTOP_TEST_MEASURE says not to measure: unset it'
fi
run nvmtop check slow.nvmt
ok 'what came is a sound stream' is "$status" 0
ok 'with samples behind the gap' judge slow.nvmt "t['fast']['increasing'] and t['counts']['fast'] > 15000"

# --- a reader that takes the end slowly: what is sampled meanwhile is of no recording ---
# told TRACE: late ticks and lost rows by its gaps, and the energy, as a summary has them
told() {
    nvmtop report --format json "$1" | "$python" -c '
import json, sys
e = json.load(sys.stdin)["traces"][0]["phases"][-1]
print(*(sum(t[k] for t in e["ticks"].values()) for k in ("late", "lost")))'
}
summed() { sed -n 's/.*; \([0-9]*\) late, \([0-9]*\) lost$/\1 \2/p' "$1"; }
$EMU "$NVMTOP" --demo --record - --duration 1 --fast-hz 3000 --medium-hz 1000 >fifo 2>err &
pid=$!
"$python" -c '
import sys, time
time.sleep(1)
with open("end.nvmt", "wb") as out:
    while True:
        piece = sys.stdin.buffer.raw.read(8192)
        if not piece:
            break
        out.write(piece)
        time.sleep(0.1)' <fifo
wait $pid
ok 'a slow end: status 0' is $? 0
cp err summary
ok 'a slow end: late and lost are those in the file' is "$(summed summary)" "$(told end.nvmt)"
ok 'so it is of one that lost rows' is "$(summed slow.err)" "$(told slow.nvmt)"

# --- a command, and standard input ---
$EMU "$NVMTOP" --demo --record - -- sh -c 'echo from the command; sleep 0.3; exit 7' >cmd.nvmt 2>err
ok 'the status of a command' is $? 7
ok 'what it prints goes to standard error' says err 'from the command'
run nvmtop check cmd.nvmt
ok 'and not into the stream' is "$status" 0

sleep 1 | $EMU "$NVMTOP" --demo --record --stop-on-eof eof.nvmt 2>err
ok '--stop-on-eof: ends with standard input' judge eof.nvmt "t['counts']['fast'] > 30"
{ seq 100000; sleep 0.5; } | $EMU "$NVMTOP" --demo --record --stop-on-eof text.nvmt 2>err
ok 'what comes before is ignored' judge text.nvmt "t['counts']['fast'] > 10"
run nvmtop --demo --record --delay 60 --stop-on-eof never.nvmt </dev/null
ok 'also while it waits to begin' is "$status" 0
ok 'then nothing was recorded' test ! -e never.nvmt
done_testing
