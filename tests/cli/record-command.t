#!/bin/sh
# Recording around a command: its output, its status.
. "$NVMTOP_SRC/tests/cli/lib.sh"

run nvmtop --demo --record -o a.nvmt -- sh -c 'echo out; sleep 0.5; exit 7'
ok "the command's status" is "$status" 7
ok "the command's output" is "$(cat out)" out
ok 'recorded while it ran' judge a.nvmt "0.4 < t['fast']['last_s'] < 5"
run nvmtop --demo --record b.nvmt -- sh -c 'sleep 0.2; kill -KILL $$'
ok '128 and the signal' is "$status" 137
ok 'recorded all the same' judge b.nvmt "t['counts']['fast'] > 0"
run nvmtop --demo --record c.nvmt -- no-such-program-here
ok 'no such program: 127' is "$status" 127
ok 'no such program: named' says err no-such-program-here
ok 'no such program: no file' test ! -e c.nvmt
run nvmtop --demo --record d.nvmt -- /etc/passwd
ok 'not a program: 126' is "$status" 126
run nvmtop --demo --record e.nvmt -- sh -c 'kill -USR1 $PPID; sleep 0.3'
ok 'a mark from inside' judge e.nvmt "len(t['sync']) == 1"
run nvmtop --demo --record --duration 0.3 f.nvmt -- sh -c 'sleep 1; exit 3'
ok 'a duration shorter than the command: its status' is "$status" 3
ok 'a duration shorter than the command: that long' judge f.nvmt "t['fast']['last_s'] < 0.6"
run nvmtop --demo --record g.nvmt -- sh -c 'trap "exit 5" TERM; sleep 0.2; kill -TERM $PPID; while :; do sleep 0.1; done'
ok 'SIGTERM is passed on' is "$status" 5
ok 'and the file is complete' judge g.nvmt "t['counts']['fast'] > 0"
run nvmtop --demo --record i.nvmt -- sh -c 'trap : INT; kill -INT $PPID; sleep 0.3; kill -INT $PPID; sleep 2'
ok 'a command that ignores SIGINT is not waited for after the second' is "$status" 130
ok 'and the recording is complete' judge i.nvmt "t['counts']['fast'] > 0"
run nvmtop --demo --record h.nvmt -- sh -c 'trap "" PIPE; kill -0 $$; ps -o ignored= -p $$ 2>/dev/null || true'
ok 'the command begins with ordinary signals' is "$status" 0
run nvmtop --record --demo -- "$(printf 'no\033[31msuch')"
ok 'escape sequences in the name of a command do not reach the terminal' sh -c '! grep -q "$(printf "\033")" err'
# --delay leaves out the start of the command, which does not wait for it.
run nvmtop --demo --record --delay 1 j.nvmt -- sleep 2
ok 'a delay: the status of the command' is "$status" 0
ok 'a delay: the recording begins after the command' judge j.nvmt "0 < t['fast']['last_s'] < 1.9"
run nvmtop --demo --record --delay 1000 k.nvmt -- sh -c 'exit 6'
ok 'a command that ends before the recording begins: its status' is "$status" 6
ok 'a command that ends before the recording begins: no file' sh -c '! ls k.nvmt* 2>/dev/null'
ok 'a command that ends before the recording begins: that is said' says err 'before the recording began'
run nvmtop --demo --record --delay 1000 l.nvmt -- sh -c 'trap "exit 5" TERM; kill -TERM $PPID; while :; do sleep 0.1; done'
ok 'SIGTERM before the recording begins is passed on' is "$status" 5

# What the program gets at the end of --duration.
run nvmtop --demo --record --duration 0.3 m.nvmt --kill none -- sh -c 'sleep 0.6; exit 4'
ok 'no signal: the program ends by itself' is "$status" 4
for signal in TERM SIGTERM sigterm 15; do
    run nvmtop --demo --record --force --duration 0.3 m.nvmt --kill "$signal" -- sleep 1000
    ok "--kill $signal" is "$status" 143
done
run nvmtop --demo --record --force --duration 0.3 m.nvmt --kill USR1 -- \
    sh -c 'trap "exit 9" USR1; while :; do sleep 0.1; done'
ok 'a program that catches the signal: its status' is "$status" 9
ok 'and the recording is as long as the duration' judge m.nvmt "0.2 < t['fast']['last_s'] < 0.6"
run nvmtop --demo --record --force --duration 1000 m.nvmt --kill TERM -- sh -c 'exit 3'
ok 'a program that ends before the duration: its status' is "$status" 3
run nvmtop --demo --record --duration 3 --max-size 64Ki m2.nvmt --kill TERM -- sleep 1000
ok 'a recording that is full before: the signal comes at the end of the duration all the same' is "$status" 143

# What a program started gets the signal too, and nvmtop does not.
gone() { ! kill -0 "$1" || grep -q '^State:.*Z' "/proc/$1/status"; }
for signal in TERM KILL; do
    run nvmtop --demo --record --force --duration 0.3 m.nvmt --kill $signal -- \
        sh -c 'sleep 1000 & echo $! >started; sleep 1000; true'
    ok "--kill $signal of a script: its status" is "$status" $((128 + $(kill -l $signal)))
    ok "--kill $signal of a script: what it started is gone" soon gone "$(cat started)"
    ok "--kill $signal of a script: the recording is complete" judge m.nvmt "t['end']"
done
run nvmtop --demo --record --force --duration 1000 m.nvmt --kill TERM -- sh -c 'trap "exit 5" TERM; kill -TERM $PPID; while :; do sleep 0.1; done'
ok '--kill: SIGTERM before the end is passed on' is "$status" 5

# Patterns in the name.
run env RUN=first $EMU "$NVMTOP" --demo --record -o 'n-%p-%h-%q{RUN}%%.nvmt' -- sh -c 'echo $$; exit 7'
ok 'patterns: the status of the program' is "$status" 7
ok 'patterns: the file' test -s "n-$(cat out)-$(uname -n)-first%.nvmt"
# name_wrong PATTERN SENTENCE
name_wrong() {
    run nvmtop record --demo --duration 0.2 -o "$1"
    ok "a file named $1: status 2" is "$status" 2
    ok "a file named $1: why" says err "$2"
    ok "a file named $1: no file" test ! -e "$1"
}
name_wrong 'o%' '^nvmtop: "%" in a file name is unknown: use %p'
name_wrong 'o%z' '^nvmtop: "%z" in a file name is unknown: use %p'
name_wrong 'o%q' '^nvmtop: "%q" in a file name is unknown'
name_wrong 'o%q{RUN' '^nvmtop: "%q" in a file name is unknown'
name_wrong 'o%q{NOT_SET}' '^nvmtop: the environment variable "NOT_SET" in the file name is not set'
name_wrong 'o%p' '^nvmtop: %p in a file name is the process ID of a COMMAND'
run env LONG="$(printf '%05000d' 0)" $EMU "$NVMTOP" record --demo --duration 0.2 -o '%q{LONG}'
ok 'a name that becomes too long: status 2' is "$status" 2
ok 'a name that becomes too long: why' says err 'the file name is too long'
run nvmtop --demo --record -o no-such-folder/%p.nvmt -- touch ran
ok 'a name that cannot be created: the program does not run' test "$status:$(ls ran 2>/dev/null)" = 1:

# The report at the end, which is that of nvmtop report.
run nvmtop --demo --record p.nvmt --stats -- sh -c 'echo out; sleep 0.3; exit 6'
ok '--stats: the status of the program' is "$status" 6
ok "--stats: the program's output" is "$(cat out)" out
sed -n '/^p.nvmt: /,$p' err >stats
nvmtop report p.nvmt >report
ok '--stats: the report of the phases' cmp stats report
run nvmtop --demo --record v.bin --stats --duration 0.3
ok '--stats of version 1' is "$status" 0
ok '--stats of version 1: of the log, which has all' says err '^v.nvmt: '

# Several runs.
run nvmtop --demo --record q.nvmt --repeat 3 --warmup 2 -- sh -c 'echo run >>runs; sleep 0.2'
ok '--repeat: status' is "$status" 0
ok '--repeat: the runs to warm up, and the others' is "$(wc -l <runs)" 5
ok '--repeat: their files' is "$(echo q*)" 'q-1.nvmt q-2.nvmt q-3.nvmt'
sed -n '/^3 runs/,$p' err >stats
nvmtop report q-1.nvmt q-2.nvmt q-3.nvmt >report
ok '--repeat: the report of the runs' cmp stats report
ok '--repeat: a line a phase' says stats '^phase 0  *0.[0-9]* +- 0.[0-9]*  .*  3$'
run nvmtop --demo --record q2.nvmt --repeat 2 --per 10 -- sleep 0.3
ok '--repeat 2: a line a phase, too' says err '^phase 0 .* 2$'
ok '--per: joules of an item' is "$(sed -n '/^phase  *s /p' err | tr -s ' ')" 'phase s J W J per item n'
run nvmtop --demo --record q3.nvmt --per 10 -- true
ok '--per without a report: status 2' is "$status" 2
run nvmtop --demo --record r --repeat 2 --stats -- sleep 0.2
ok '--repeat without a suffix: the names' is "$(echo r-*)" 'r-1 r-2'
ok '--repeat with --stats: a report of each run' is "$(grep -c '^r-[12]: ' err)" 2
(mkdir unnamed && cd unnamed && nvmtop --demo --record --repeat 2 -- sleep 0.1 2>err)
ok '--repeat without a name' is "$(cd unnamed && echo nvmtop-*-[12].nvmt | wc -w)" 2
run nvmtop --demo --record 's-%p.nvmt' --repeat 2 -- sh -c 'echo $$'
ok '--repeat with %p' is "$(echo s-*)" "$(sed 's/.*/s-&/; 1s/$/-1.nvmt/; 2s/$/-2.nvmt/' out | sort | tr '\n' ' ' | sed 's/ $//')"
# A command may set marks, and end if one fails: in a run to warm up, too, and after --duration. They are of no run.
demo_without_marks
run nvmtop --demo --record m3.nvmt --repeat 2 --warmup 2 -- sh -ec "$EMU $NVMTOP mark begin; kill -USR1 \$PPID; sleep 0.2; $EMU $NVMTOP mark end"
ok 'marks during a run to warm up are taken' is "$status" 0
ok 'and dropped' sh -c 'grep "marks: " err | tr -s " " | sort -u | grep -qx " marks: 3"'
run nvmtop --demo --record m4.nvmt --duration 0.3 --kill none -- sh -ec "sleep 0.6; $EMU $NVMTOP mark late; exit 3"
ok 'a mark after the recording, while the command runs on, is taken' is "$status" 3
ok 'a mark after the recording is dropped' judge m4.nvmt "not t['sync']"
run nvmtop --demo --record t.nvmt --repeat 3 -- sh -c 'test ! -e t-2.nvmt || exit 5'
ok '--repeat: a run that fails ends it' is "$status" 5
ok '--repeat: a run that fails ends it: no more files' is "$(echo t-*)" 't-1.nvmt t-2.nvmt'
ok '--repeat: a run that fails ends it: that is said' says err 'this run failed or was stopped'
run nvmtop --demo --record t2.nvmt --repeat 3 --warmup 1 -- sh -c 'exit 5'
ok '--repeat: a run to warm up that fails' test "$status:$(ls t2-* 2>/dev/null)" = 5:
run nvmtop --demo --record u.nvmt --repeat 2 --warmup 1 --duration 0.2 --kill INT -- sleep 1000
ok '--repeat with --kill: the status is that of the signal' is "$status" 130
ok '--repeat with --kill: all runs' is "$(echo u-*)" 'u-1.nvmt u-2.nvmt'
ok '--repeat with --kill: reported' says err '^2 runs'
touch v-2.nvmt
run nvmtop --demo --record v.nvmt --repeat 2 -- touch ran
ok '--repeat: a file that exists is found before the first run' test "$status:$(ls ran v-1.nvmt 2>/dev/null)" = 1:
run nvmtop --demo --record w.nvmt --repeat 5 -- sh -c 'trap "exit 0" TERM; kill -TERM $PPID; while :; do sleep 0.1; done'
ok '--repeat: SIGTERM ends all runs' is "$(echo w-*)" 'w-1.nvmt'
ok '--repeat: SIGTERM ends all runs: status' test "$status" != 0
done_testing
