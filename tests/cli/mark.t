#!/bin/sh
# Marks from other programs: they reach every recorder of this user, at their own
# time, and nothing else does.
. "$NVMTOP_SRC/tests/cli/lib.sh"
tool="$python $NVMTOP_SRC/tests/tools/marks.py"
run_dir=$XDG_RUNTIME_DIR/nvmtop
demo_without_marks

# begin FILE [OPTION]...: a recorder in the background, that takes marks: $pid
begin() {
    $EMU "$NVMTOP" --demo --record "$@" 2>"$1.err" &
    pid=$!
    for i in $(seq 400); do
        test -S "$run_dir/$pid.sock" && return
        sleep 0.05
    done
}
# end PID
end() {
    kill -TERM "$1"
    wait "$1"
}
# landed FILE EXPRESSION: of what marks.py found in it
landed() { $tool check "$@"; }

run nvmtop mark nobody
ok 'without a recorder: status 1' is "$status" 1
ok 'without a recorder: a sentence' says err '^nvmtop: nothing to mark: .*sudo nvmtop mark'
ok 'without a recorder: one line' one_line err

for quiet in -q '--quiet --pid 1'; do
    run nvmtop mark $quiet nobody
    ok "mark $quiet without a recorder: status 0" is "$status" 0
    ok "mark $quiet without a recorder: silence" test ! -s out -a ! -s err
done

begin one.nvmt
ok 'the socket is for this user alone' is "$(stat -c %a:%u "$run_dir/$pid.sock" "$run_dir" | tr '\n' ' ')" \
    "600:$(id -u) 700:$(id -u) "
run nvmtop mark 'wärm up'
ok 'a mark: status 0' is "$status" 0
ok 'a mark: silence' test ! -s out -a ! -s err
run nvmtop mark
run nvmtop mark --to $pid -- --odd
ok 'a label with a dash' is "$status" 0
run nvmtop mark --to 1 x
ok 'another process: status 1' is "$status" 1
ok 'another process: says which there is' says err "running: $pid"
# from C, C++ and Python
cat >t.c <<'END'
#include <nvmtop/mark.h>
int main(void)
{
	return nvmtop_mark("from C") == 1 ? 0 : 1;
}
END
cp t.c t.cc
for std in c99 gnu11; do
    ok "mark.h as $std" $CC -std=$std -pedantic -Wall -Wextra -Werror -O2 -I"$NVMTOP_SRC/include" t.c -o t-$std
done
ok 'from C' $EMU ./t-c99
cat >late.c <<'END'
#include <stdio.h>
#include <nvmtop/mark.h>
int main(void)
{
	return 0;
}
END
ok 'mark.h behind other headers' $CC -std=gnu99 -pedantic -Wall -Wextra -Werror -I"$NVMTOP_SRC/include" late.c -o late
# c++ does not come with every C compiler
cxx=$(echo "$CC" | sed 's/clang\(-[0-9]*\)*/clang++\1/; t; s/gcc\(-[0-9]*\)*/g++\1/; t; s/.*/c++/')
if $cxx --version >/dev/null 2>&1 && echo 'int main() { return 0; }' | $cxx -x c++ - -o c++works 2>/dev/null; then
    for std in c++98 c++17; do
        ok "mark.h as $std" $cxx -std=$std -pedantic -Wall -Wextra -Werror -O2 -I"$NVMTOP_SRC/include" t.cc -o t-$std
    done
else
    skip 'mark.h as C++' "no $cxx here: ./bootstrap --tests installs g++"
fi
sed -n '/^    import glob, os, socket, time$/,/^$/s/^    //p' "$NVMTOP_SRC/docs/recording.md" >sockets.py
ok 'four lines of Python in docs/recording.md' is "$(grep -c . sockets.py)" 4
ok 'and they run' "$python" sockets.py
end $pid
ok 'all of them landed' landed one.nvmt \
    "labels == ['wärm up', '', '--odd', 'from C', 'my label']"
ok 'the file is sound' judge one.nvmt "[s['id'] for s in t['sync']] == [1, 2, 3, 4, 5]"
ok 'the socket has gone' test ! -e "$run_dir/$pid.sock"
ok 'labels are on the screen' sh -c '$EMU "$0" --print 200x40 --view phases --replay one.nvmt | grep -q "from C"' "$NVMTOP"
ok 'from C without a recorder: none took it' sh -c '! ./t-c99'
ok 'from Python without a recorder: nothing happens' "$python" sockets.py

# A user who has no folder below /run: the sockets are in /tmp.
cat >no-run.py <<'END'
import os, shutil, socket
user = 3000000000 + os.getpid()
folder = "/tmp/nvmtop-%d" % user
os.mkdir(folder)
try:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(folder + "/1.sock")
    os.getuid = lambda: user
    for run in os.environ["XDG_RUNTIME_DIR"], "/no/such/folder", "":
        os.environ["XDG_RUNTIME_DIR"] = run
        exec(open("sockets.py").read(), {})
        assert listener.recv(512, socket.MSG_DONTWAIT).endswith(b" my label"), run
finally:
    shutil.rmtree(folder)
END
ok 'from Python where /run/user has no folder of this user' "$python" no-run.py

begin late.nvmt
soon has_rows late.nvmt 1200 # there must be a time to be late for
$tool send "$run_dir" 0 first 0.7 'older by 0.7 s' 0 third 0.2 fourth >sent
sleep 0.3
kill -STOP $pid
$tool send "$run_dir" 0 'while it is stopped' >stopped
sleep 1.5
kill -CONT $pid
end $pid
ok 'late marks stand at their own time, to the nanosecond' landed late.nvmt \
    "sorted(x['t_ns'] for x in m[:4]) == sorted(sent) and m[labels.index('older by 0.7 s')]['t_ns'] == sent[1]"
cp stopped sent
ok 'also when the recorder was stopped' landed late.nvmt "m[4]['t_ns'] == sent[0]"

begin flooded.nvmt
soon has_rows flooded.nvmt 1200
$tool flood "$run_dir" 3000 1
end $pid
run nvmtop check flooded.nvmt
ok 'a flood of late marks: the file is sound' is "$status:$(head -c 6 out)" '0:valid;'
ok 'a flood of late marks: all of them' says out 'marks: 3000;'

begin a.nvmt
first=$pid
begin b.nvmt
second=$pid
run nvmtop mark both
ok 'two recorders: status 0' is "$status" 0
ok 'two recorders: both are named' sh -c "grep -q $first err && grep -q $second err && grep -q -e --pid err"
run nvmtop mark -q both
ok 'two recorders, quietly' is "$status:$(cat out err)" 0:
run nvmtop mark --pid $second 'only the second'
ok 'one of two: nothing to say' test ! -s err
soon has_marks b.nvmt 3
end $first
kill -KILL $second
wait $second 2>/dev/null
ok 'SIGKILL leaves a socket' test -S "$run_dir/$second.sock"
ok 'C finds nobody there' sh -c '! ./t-c99'
run nvmtop mark nobody
ok 'one that was killed is none' is "$status" 1
ok 'and its socket is removed' test ! -e "$run_dir/$second.sock"
ok 'the first has two' landed a.nvmt "labels == ['both', 'both']"
ok 'the second has three' landed b.nvmt "labels == ['both', 'both', 'only the second']"

# More than a program with mark.h reaches at once, some of them killed after the first began.
begin lasts.nvmt --fast-hz 10
first=$pid
killed=
for i in 1 2 3 4 5 6 7 8 9 10; do
    begin killed$i.nvmt --fast-hz 10
    killed="$killed $pid"
done
run nvmtop mark 'to all'
ok 'eleven recorders: none is left out' says err 'marked 11 recorders or screens'
kill -KILL $killed
wait $killed 2>/dev/null
ok 'mark.h finds the one among ten that were killed' $EMU ./t-c99
ok 'and leaves their sockets' is "$(ls "$run_dir" | grep -c sock)" 11
end $first
ok 'it has both' landed lasts.nvmt "labels == ['to all', 'from C']"
rm -f "$run_dir"/*.sock killed*

chmod 755 "$run_dir"
run nvmtop mark 'into a folder that others can enter'
ok 'a folder that is not ours alone: status 1' is "$status" 1
ok 'a folder that is not ours alone: said' says err "$run_dir is not a folder that only you can access"
chmod 700 "$run_dir"

begin hostile.nvmt
wrong=$($tool hostile "$run_dir")
fds=$(ls /proc/$pid/fd | wc -l)
end $pid
ok 'what is no mark is refused, and counted' says hostile.nvmt.err "ignored $wrong malformed"
ok 'what is one is taken' landed hostile.nvmt "t['n'] == 101 and set(labels[:100]) == {'with descriptors'}"
ok 'escape sequences are not' landed hostile.nvmt "all(ord(c) >= 32 and not 127 <= ord(c) < 160 for c in ''.join(labels))"
ok 'descriptors are not kept' test "$fds" -lt 100

# kB at most, so far
peak() { awk '/^VmHWM/ { print $2 }' "/proc/$pid/status"; }
begin flood.nvmt
before=$(peak)
# What waits for the disk, which a busy machine may be late with, is in memory.
$tool flood "$run_dir" 50000
soon landed flood.nvmt "t['n'] == 50000"
$tool flood "$run_dir" 50000
after=$(peak)
end $pid
echo "# 100000 marks: peak memory $before kB before, $after kB after"
ok 'a flood is recorded, and rows with it' landed flood.nvmt "t['n'] == 100000 and t['rows'] > 0"
# the sanitizers keep what was freed
if test "${NVMTOP_TEST_MEASURE:-yes}" = yes && ! grep -q __asan_init "$NVMTOP"; then
    ok 'memory does not grow with it' test $((after - before)) -lt 6000
else
    skip 'memory does not grow with it' 'this build keeps what was freed: build without sanitizers'
fi

cat >threads.c <<'END'
#include <nvmtop/mark.h>
#include <pthread.h>
static void *many(void *arg)
{
	long i, taken = 0;

	for (i = 0; i < 2000; i++)
		taken += nvmtop_mark((const char *)arg);
	return (void *)taken;
}
int main(void)
{
	pthread_t t[8];
	long taken = 0, i;

	for (i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, many, (void *)(i % 2 ? "odd" : "even"));
	for (i = 0; i < 8; i++) {
		void *n;

		pthread_join(t[i], &n);
		taken += (long)n;
	}
	printf("%ld\n", taken);
	return 0;
}
END
ok 'mark.h with threads' $CC -std=gnu99 -pedantic -Wall -Wextra -Werror -O2 -pthread -I"$NVMTOP_SRC/include" threads.c -o threads
begin threads.nvmt
taken=$($EMU ./threads)
end $pid
ok 'what it says was taken has landed, and none of it is broken' landed threads.nvmt \
    "t['n'] == $taken > 10 and set(labels) <= {'odd', 'even'}"

begin endless.nvmt
$tool flood "$run_dir" 100000000 2>/dev/null &
flood=$!
# It waits while they are counted: there would be more of them each time.
enough() { kill -STOP $flood && has_marks endless.nvmt 1001; is=$?; kill -CONT $flood; return $is; }
soon enough
end $pid
ok 'a flood that goes on does not keep it from ending' judge endless.nvmt "t['counts']['sync'] > 1000"
kill $flood 2>/dev/null
wait $flood 2>/dev/null

# a folder that is not ours alone is not used, and that is said
for kind in link open; do
    rm -rf "$run_dir" elsewhere
    case $kind in
    link) mkdir -m 700 elsewhere && ln -s "$PWD/elsewhere" "$run_dir" ;;
    open) mkdir "$run_dir" && chmod 777 "$run_dir" ;;
    esac
    run nvmtop --demo --record --duration 0.2 $kind.nvmt
    ok "a folder that is $kind: it records" is "$status" 0
    ok "a folder that is $kind: says so" says err 'only you can access'
    ok "a folder that is $kind: nothing in it" test -z "$(ls "$run_dir/")"
    run nvmtop mark
    ok "a folder that is $kind: no mark" is "$status" 1
done

# A service: its folder is open to a group. $as is its user, $member one of the group, $other neither.
rm -rf "$run_dir"
chmod 711 "$scratch"
as= member=
if test "$(id -u)" -eq 0; then
    as='setpriv --reuid 65534 --regid 54321 --clear-groups'
    member='setpriv --reuid 54322 --regid 54322 --groups 54321'
    other='setpriv --reuid 54322 --regid 54322 --clear-groups'
fi
$as mkdir service 2>/dev/null || { mkdir service && chown 65534:54321 service; }
chmod 750 service
chmod 711 "$XDG_RUNTIME_DIR"
mkfifo ready && chmod 666 ready
mkdir logs && chmod 777 logs
sed 's,/run/nvmtop/,service/,' sockets.py >service.py
# serve FILE: $pid is a service in the background that records
serve() {
    $as env XDG_RUNTIME_DIR= $EMU "$NVMTOP" --demo --record --ready-fd 9 "$1" 2>"$1.err" 9>ready &
    pid=$!
    read -r _ <ready
}
serve logs/served.nvmt
ok 'a service: its socket is for the group' is "$(stat -c %a service/$pid.sock)" 660
run $member env XDG_RUNTIME_DIR= $EMU "$NVMTOP" mark 'of a member'
ok 'a service: a member of the group marks it' is "$status:$(cat err)" 0:
run $member env XDG_RUNTIME_DIR= $EMU "$NVMTOP" mark --pid $pid 'by its PID'
ok 'a service: also by its PID' is "$status:$(cat err)" 0:
ok 'a service: from C' $member env XDG_RUNTIME_DIR= $EMU ./t-c99
ok 'a service: from Python' $member env XDG_RUNTIME_DIR= "$python" service.py
if test -n "$member"; then
    run $other env XDG_RUNTIME_DIR= $EMU "$NVMTOP" mark 'of another'
    ok 'a service: no other user does' is "$status" 1
    ok 'a service: and it is said what to do' says err 'a service? join the group nvmtop'
else
    skip 'a service: no other user does' 'only root can be other users: run it as root'
    skip 'a service: and it is said what to do' 'only root can be other users: run it as root'
fi
XDG_RUNTIME_DIR=$scratch/run
chmod 700 "$XDG_RUNTIME_DIR"
service=$pid
NVMTOP_RUNTIME_DIR=$scratch/none
begin beside.nvmt
NVMTOP_RUNTIME_DIR=$scratch/service
run nvmtop mark both
ok 'a service, and a recorder of this user: both are marked' says err "marked 2 .*$pid, $service\|marked 2 .*$service, $pid"
end $pid
run env XDG_RUNTIME_DIR="$scratch" NVMTOP_RUNTIME_DIR="$scratch/nvmtop" $EMU "$NVMTOP" mark nobody
ok 'one folder as both: nobody there' is "$status" 1
end $service
ok 'its socket has gone' test ! -e service/$service.sock
ok 'what was marked' landed logs/served.nvmt "labels == ['of a member', 'by its PID', 'from C', 'my label', 'both']"
serve logs/killed.nvmt
kill -KILL $pid
wait $pid 2>/dev/null
killed=$pid
serve logs/next.nvmt
ok 'what a killed one left is removed by the next' test ! -e service/$killed.sock -a -S service/$pid.sock
end $pid
chmod 777 service
serve logs/open.nvmt
ok 'a folder that all can write to is not used' test -z "$(ls service)"
end $pid
done_testing
