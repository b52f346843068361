#!/bin/sh
# A recording as a stream: through pipes, into files, to readers that stop or go
# away; and what becomes of it.
. "$NVMTOP_SRC/tests/cli/lib.sh"

grows() { test "$(wc -c <"$1")" -gt "$2"; }

$EMU "$NVMTOP" --demo --record - --duration 1.5 >a.nvms 2>err
ok 'a stream into a file' is $? 0
ok 'it begins with its magic' is "$(head -c 4 a.nvms)" NVMS
ok 'the summary is on standard error' says err 'standard output'
rows=$(sed -n 's/^  samples: *\([0-9]*\) fast.*/\1/p' err)
run nvmtop --recover a.nvms
ok 'a trace is made of it' is "$status" 0
ok 'beside it' judge a.bin "50 < t['counts']['fast'] == ${rows:-0} and t['counts']['medium'] > 5 and t['counts']['slow'] > 0"
ok 'the stream stays' test -s a.nvms
run nvmtop --recover a.nvms
ok 'an existing trace is not overwritten' is "$status" 1
ok 'it is said what can be done' says err 'use --force'
run nvmtop --recover a.nvms --force
ok 'but with --force' is "$status" 0
run nvmtop --recover a.bin --force
ok '--force is not for a recording' is "$status" 2
run nvmtop --recover a.nvms -o b.bin
ok 'another name' is "$status" 0
ok 'the same trace' cmp a.bin b.bin
run nvmtop --recover a.bin -o c.bin
ok 'a trace needs no other name' is "$status" 2

nvmtop --print 100x30 --replay a.nvms >kept.txt 2>err
ok 'a stream in a file is shown' is $? 0
ok 'without a word' test ! -s err
nvmtop --print 100x30 --replay a.bin >trace.txt
ok 'as the trace is' sh -c 'sed "s/a\.nvms/NAME/; s/  *NAME/ NAME/" kept.txt >1; sed "s/a\.bin/NAME/; s/  *NAME/ NAME/" trace.txt >2; cmp 1 2'
nvmtop --print 100x30 --replay - <a.nvms >piped.txt
ok 'as it is from standard input' sh -c 'sed 1d piped.txt >1; sed 1d trace.txt >2; cmp 1 2'
$EMU "$NVMTOP" --demo --record - --duration 0.5 2>err | tee tee.nvms | nvmtop --print 100x30 --replay - >live.txt
ok 'through two pipes' says live.txt 'Jetson AGX Orin'
nvmtop --print 100x30 --replay tee.nvms >kept.txt
ok 'and what tee kept is what was shown' sh -c 'sed 1d live.txt >1; sed 1d kept.txt >2; cmp 1 2'

# --- what a remote shell prints before it, and a second one behind it ---
(printf 'Welcome\n\nLast login: NVMSunday\n'; cat a.nvms) >said.nvms
run nvmtop --recover said.nvms
ok 'text before a stream: status 0' is "$status" 0
ok 'text before a stream: the same trace' cmp a.bin said.bin
run nvmtop --print 100x30 --replay said.nvms
ok 'text before a stream: it is shown' is "$status" 0
ok 'text before a stream: without a word' test ! -s err
(head -c 60000 /dev/zero; head -c 60000 /dev/zero; cat a.nvms) >deep.nvms
run nvmtop --replay deep.nvms --print 100x30
ok 'a lot before a stream: it is something else' is "$status" 1
cat a.nvms a.nvms >twice.nvms
run nvmtop --recover twice.nvms
ok 'two streams: status 3' is "$status" 3
ok 'two streams: said' says err 'only the first of the streams in twice.nvms was used'
ok 'two streams: the first is whole' cmp a.bin twice.bin
size=$(wc -c <a.nvms)
(head -c $((size * 2 / 3)) a.nvms; cat a.nvms) >again.nvms
run nvmtop --recover again.nvms
ok 'a stream behind one that was cut: status 3' is "$status" 3
ok 'a stream behind one that was cut: the first, as far as it goes' judge again.bin "600 < t['counts']['fast'] < 1300"
run nvmtop --check again.bin
ok 'a stream behind one that was cut: nothing is mixed' is "$status" 0
$EMU "$NVMTOP" --print 100x30 --replay - <again.nvms >out 2>err
ok 'nor on the screen' is $? 3
ok 'where it is said, too' says err 'only the first of the streams'

# --- damage ---
size=$(wc -c <a.nvms)
head -c $((size * 2 / 3)) a.nvms >cut.nvms
run nvmtop --print 100x30 --replay cut.nvms
ok 'a cut stream: status 3' is "$status" 3
ok 'it is said' says err 'cut'
ok 'what is there is shown' says out 'Jetson AGX Orin'
run nvmtop --recover cut.nvms
ok 'and recovered' is "$status" 3
ok 'as far as it goes' judge cut.bin "600 < t['counts']['fast'] < 1300"
head -c 100 a.nvms >begun.nvms
run nvmtop --recover begun.nvms
ok 'a stream of no samples: status 1' is "$status" 1
ok 'its sentence is of a stream' says err 'the stream on begun.nvms ended before its first sample'
ok 'and nothing is left of it' is "$(echo begun*)" begun.nvms
cp a.nvms bad.nvms
printf 'XXXXXXXXXX' | dd of=bad.nvms bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
run nvmtop --recover bad.nvms
ok 'a damaged stream: status 3' is "$status" 3
ok 'it is said how much' says err 'bytes could not be used'
ok 'the rest is sound' judge bad.bin "t['counts']['fast'] > 50"
# the description is there again behind the first second, and at the end
head -c 60 a.nvms >hurt.nvms; printf 'X' >>hurt.nvms; tail -c +62 a.nvms >>hurt.nvms
run nvmtop --recover hurt.nvms
ok 'a damaged description: status 3' is "$status" 3
ok 'a damaged description: said' says err 'hurt.nvms is damaged'
ok 'a damaged description: all samples' is "$(sed -n 's/^  samples: //p' err)" "$(nvmtop --recover a.nvms -o whole.bin 2>&1 | sed -n 's/^  samples: //p')"
run nvmtop --check hurt.bin
ok 'a damaged description: a sound trace' is "$status" 0
$EMU "$NVMTOP" --print 100x30 --replay - <hurt.nvms >out 2>err
ok 'a damaged description, through a pipe: status 3' is $? 3
ok 'a damaged description, through a pipe: shown' says out 'Jetson AGX Orin'
tail -c +$((size / 3)) a.nvms >late.nvms
run nvmtop --recover late.nvms
ok 'without its beginning: status 3' is "$status" 3
ok 'without its beginning: said' says err 'the beginning of late.nvms is lost, and [1-9][0-9]* samples with it'
run nvmtop --check late.bin
ok 'without its beginning: a sound trace' is "$status" 0
ok 'without its beginning: what is there' judge late.bin "600 < t['counts']['fast'] < 1300 and t['fast']['first_s'] > 0.2"
run nvmtop --print 100x30 --replay late.nvms
ok 'without its beginning: shown' says out 'Jetson AGX Orin'
run nvmtop --print 80x10 --replay - </dev/null
ok 'nothing on standard input' is "$status" 1
run nvmtop --print 80x10 --replay - <b.bin
ok 'a trace on standard input' is "$status" 1
ok 'what to do' says err 'give its name'
run nvmtop --print 80x10 --replay - <"$NVMTOP_SRC/README.md"
ok 'something else on standard input' is "$status" 1
ok 'one sentence' one_line err

# --- wrong use ---
nvmtop --demo --record - --duration 1 >both 2>&1
ok 'not where messages go, too' is $? 2
run nvmtop --demo --record - --force
ok 'nothing to overwrite' is "$status" 2
run nvmtop --follow
ok '--follow alone' is "$status" 2
run nvmtop --demo --once --stop-on-eof
ok '--stop-on-eof without --record' is "$status" 2
run nvmtop --demo --record e.bin --stop-on-eof -- true
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
cat <fifo >term.nvms &
reader=$!
ok 'samples come' soon grows term.nvms 60000
kill -TERM $pid
wait $pid
ok 'SIGTERM' is $? 0
wait $reader
run nvmtop --recover term.nvms
ok 'ends the stream as it must' is "$status" 0

# What a reader that stands still costs: samples, and nothing else.
$EMU "$NVMTOP" --demo --record - --fast-hz 3000 --medium-hz 3000 --slow-hz 3000 >fifo 2>err &
pid=$!
cat <fifo >slow.nvms &
reader=$!
soon grows slow.nvms 100000
kill -STOP $reader
sleep 5
memory=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status)
ok 'the recorder runs on' kill -0 $pid
before=$(wc -c <slow.nvms)
kill -CONT $reader
ok 'and the stream goes on' soon grows slow.nvms $((before + 3500000))
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
run nvmtop --recover slow.nvms
ok 'what came is a sound stream' is "$status" 0
ok 'with a gap of seconds, and samples behind it' judge slow.bin \
    "t['fast']['increasing'] and t['fast']['step_s']['max'] > 0.5 and t['fast']['last_s'] > 5"
told=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' err)
ok 'the gap is in the trace, of all tiers' is "$told" "$lost"

# --- a reader that takes the end slowly: what is sampled meanwhile is of no recording ---
# told TRACE: late ticks and lost rows by its gaps, and the energy, as a summary has them
told() {
    nvmtop --report --format json "$1" | "$python" -c '
import json, sys
e = json.load(sys.stdin)["traces"][0]["epochs"][-1]
j = e["energy_j"]
print(*(sum(t[k] for t in e["ticks"].values()) for k in ("late", "lost")), "%.2f" % j if j < 1000 else "%.0f" % j)'
}
summed() { sed -n -e 's/.*; \([0-9]*\) late, \([0-9]*\) lost$/\1 \2/p' -e 's/.*energy \([0-9.]*\) J.*/\1/p' "$1" | paste -sd ' '; }
$EMU "$NVMTOP" --demo --record - --duration 1 --fast-hz 3000 --medium-hz 1000 >fifo 2>err &
pid=$!
"$python" -c '
import sys, time
time.sleep(1)
with open("end.nvms", "wb") as out:
    while True:
        piece = sys.stdin.buffer.raw.read(8192)
        if not piece:
            break
        out.write(piece)
        time.sleep(0.1)' <fifo
wait $pid
ok 'a slow end: status 0' is $? 0
cp err summary
nvmtop --recover end.nvms 2>err
ok 'a slow end: late and lost are those in the file, and so is the energy' is "$(summed summary)" "$(told end.bin)"
nvmtop --recover slow.nvms --force 2>err
ok 'so it is of one that lost rows' is "$(summed slow.err)" "$(told slow.bin)"

# --- a command, and standard input ---
$EMU "$NVMTOP" --demo --record - -- sh -c 'echo from the command; sleep 0.3; exit 7' >cmd.nvms 2>err
ok 'the status of a command' is $? 7
ok 'what it prints goes to standard error' says err 'from the command'
run nvmtop --recover cmd.nvms
ok 'and not into the stream' is "$status" 0

sleep 1 | $EMU "$NVMTOP" --demo --record --stop-on-eof eof.bin 2>err
ok '--stop-on-eof: ends with standard input' judge eof.bin "t['counts']['fast'] > 30"
{ seq 100000; sleep 0.5; } | $EMU "$NVMTOP" --demo --record --stop-on-eof text.bin 2>err
ok 'what comes before is ignored' judge text.bin "t['counts']['fast'] > 10"
run nvmtop --demo --record --delay 60 --stop-on-eof never.bin </dev/null
ok 'also while it waits to begin' is "$status" 0
ok 'then nothing was recorded' test ! -e never.bin
done_testing
