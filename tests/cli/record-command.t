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
done_testing
