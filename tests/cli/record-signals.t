#!/bin/sh
# Every way to end a recording leaves a complete file; marks from a signal.
. "$NVMTOP_SRC/tests/cli/lib.sh"

demo_without_marks
# begin FILE: a recorder in the background that has begun
begin() {
    $EMU "$NVMTOP" --demo --record "$1" 2>err &
    pid=$!
    soon has_rows "$1" 100
}
# Whether it has taken SIGUSR1, before which a second one would be the same.
taken() { ! grep -q '^ShdPnd:.*[2367abef]..$' /proc/$pid/status; }
for sig in INT QUIT TERM HUP; do
    if test $sig = HUP && hup_ignored; then
        skip 'SIGHUP' 'these tests were started with it ignored: run them without nohup'
        continue
    fi
    # A shell starts background jobs with SIGINT ignored; the program's own
    # signal descriptor must not depend on that.
    begin "$sig.nvmt"
    kill -$sig $pid
    wait $pid
    status=$?
    ok "SIG$sig: status 0" is "$status" 0
    ok "SIG$sig: a complete file" judge "$sig.nvmt" "t['counts']['fast'] > 10 and t['counts']['medium'] > 0"
    ok "SIG$sig: a summary" says err "$sig.nvmt"
done
nohup $EMU "$NVMTOP" --demo --record nohup.nvmt >/dev/null 2>err &
pid=$!
soon has_rows nohup.nvmt 100
kill -HUP $pid
sleep 0.5
ok 'nohup: SIGHUP is ignored' kill -0 $pid
kill -TERM $pid
wait $pid
ok 'nohup: and the file is complete in the end' judge nohup.nvmt "t['counts']['fast'] > 10"
begin usr2.nvmt
kill -USR2 $pid
ok 'SIGUSR2 without --keep: says how to have it' soon says err 'start nvmtop with --keep'
ok 'SIGUSR2 without --keep: the recording goes on' kill -0 $pid
kill -TERM $pid
wait $pid
ok 'SIGUSR2 without --keep: to its end' is "$?" 0
begin marks.nvmt
for i in 1 2 3; do
    kill -USR1 $pid
    soon taken
    sleep 0.3
done
kill -TERM $pid
wait $pid
ok 'three marks from SIGUSR1' judge marks.nvmt "[s['id'] for s in t['sync']] == [1, 2, 3]"
ok 'in order, 0.3 s apart' judge marks.nvmt "all(b['time_s'] - a['time_s'] > 0.2 for a, b in zip(t['sync'], t['sync'][1:]))"
ok 'the summary counts them' says err 3
# Before there is a board, or a file.
early() {
    $EMU "$NVMTOP" --record --sysroot "$roots/nano-32" early.nvmt 2>err &
    pid=$!
    holds() { grep -q '^nvmtop' /proc/$pid/comm && grep -q '^SigBlk:.*[1-9a-f]' /proc/$pid/status; }
    until holds || ! kill -0 $pid; do :; done
    kill -USR1 $pid
    soon taken
    kill -USR1 $pid
    soon nvmtop --mark third --to $pid || return
    soon has_marks early.nvmt 3
    kill -TERM $pid
    wait $pid
    is "$?" 0 && judge early.nvmt "[s['id'] for s in t['sync']] == [1, 2, 3]"
}
if test -z "$EMU"; then
    ok 'marks from the first moment on: each is in the recording' early
else
    skip 'marks from the first moment on: each is in the recording' 'not under an emulator'
fi
done_testing
