#!/bin/sh
# Every way to end a recording leaves a complete file; marks from a signal.
. "$NVMTOP_SRC/tests/cli/lib.sh"

demo_without_marks
# begin FILE: a recorder in the background that has written samples of two tiers
begin() {
    record_begin "$1"
    soon judge "$1" "t['counts']['fast'] > 10 and t['counts']['medium'] > 0"
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
nohup $EMU "$NVMTOP" --demo --record --ready-fd 9 nohup.nvmt >/dev/null 2>err 9>ready &
pid=$!
read -r _ <ready
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
    soon nvmtop mark third --to $pid || return
    soon has_marks early.nvmt 3
    kill -TERM $pid
    wait $pid
    is "$?" 0 && judge early.nvmt "[s['id'] for s in t['sync']] == [1, 2, 3]"
}
# Those that come before the command line was read.
cat >early.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
char *setlocale(int category, const char *locale)
{
	if (getenv("EARLY"))
		kill(getpid(), atoi(getenv("EARLY")));
	unsetenv("EARLY");
	return ((char *(*)(int, const char *))dlsym(RTLD_NEXT, "setlocale"))(category, locale);
}
END
preload=
${CC:-cc} -shared -fPIC -o early.so early.c -ldl 2>/dev/null && preload=$scratch/early.so
LD_PRELOAD=$preload EARLY=9 sh -c '"$NVMTOP" --version; exit $?' >/dev/null 2>&1
test $? = 137 || preload=
for sig in INT:2 TERM:15 HUP:1; do
    name=SIG${sig%:*}
    if test -z "$preload" || { test "$name" = SIGHUP && hup_ignored; }; then
        skip "an early $name" 'it cannot be sent here: needs a compiler, no sanitizer and SIGHUP not ignored'
        continue
    fi
    # in the background: with SIGINT ignored
    EARLY=${sig#*:} LD_PRELOAD=$preload "$NVMTOP" --demo --record --duration 100 "early-$name.nvmt" 2>err &
    wait $!
    status=$?
    ok "an early $name: status 0" is "$status" 0
    ok "an early $name: a complete file" judge "early-$name.nvmt" "t['end']"
    run env EARLY=${sig#*:} LD_PRELOAD="$preload" "$NVMTOP" --demo --record early-c.nvmt --force -- sleep 1000
    ok "an early $name: passed on to the command" is "$status" $((128 + ${sig#*:}))
    run env EARLY=${sig#*:} LD_PRELOAD="$preload" "$NVMTOP" check early-c.nvmt
    ok "an early $name: ends what records nothing" is "$status" $((128 + ${sig#*:}))
done

# --ready-fd
ready_refused() {
    title=$1 sentence=$2
    shift 2
    run nvmtop record --demo --duration 0.1 refused.nvmt "$@"
    ok "$title: status 2" is "$status" 2
    ok "$title: why" says err "$sentence"
    ok "$title: no file" test ! -e refused.nvmt
}
ready_refused 'a descriptor that is closed' '^nvmtop: --ready-fd: descriptor 9 is not open for writing' --ready-fd 9
ready_refused 'a descriptor to read from' '^nvmtop: --ready-fd: descriptor 9 is not open for writing' --ready-fd 9 9</dev/null
for number in 2 -1 x '' 3.5; do
    ready_refused "descriptor '$number'" '^nvmtop: ".*" is not a valid value for --ready-fd' --ready-fd "$number"
done
run nvmtop record --demo --ready-fd 9 ready.nvmt -- sh -c 'cat told; test -e /proc/self/fd/9 || echo closed' 9>told
ok 'the command begins when that was told, and does not have the descriptor' is "$(cat out)" "
closed"
run nvmtop record --demo --ready-fd 9 no-such-folder/x.nvmt 9>told
ok 'what cannot begin says nothing' test "$status" = 1 -a ! -s told
run nvmtop record --demo --ready-fd 9 --delay 1000 late.nvmt -- true 9>told
ok 'what has not begun yet neither' test "$status" = 0 -a ! -s told
run nvmtop record --demo --ready-fd 9 --repeat 2 --warmup 1 again.nvmt -- sh -c 'cp told seen; sleep 0.5' 9>told # on a slow machine a recording of 20 ms has no row
ok 'several runs: the first tells it' test "$status:$(wc -c <told):$(wc -c <seen)" = 0:1:1
run nvmtop record --demo --ready-fd 9 --keep 1 --duration 0.1 kept.nvmt 9>told
ok '--keep' is "$(wc -c <told)" 1

if test -z "$EMU"; then
    ok 'marks from the first moment on: each is in the recording' early
else
    skip 'marks from the first moment on: each is in the recording' 'not under an emulator'
fi
done_testing
