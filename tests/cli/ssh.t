#!/bin/sh
# Recordings over real SSH connections that end in every way there is: each time
# the file is complete.  All of them run side by side.
. "$NVMTOP_SRC/tests/cli/lib.sh"
. "$NVMTOP_SRC/tests/tools/sshd.sh"
sshd_why=
sshd_begin "$scratch/sshd" || {
    echo "1..0 # SKIP $sshd_why"
    exit 0
}
trap 'sshd_end; for f in ./*.pid; do kill -9 "$(cat "$f")" 2>/dev/null; done; rm -rf "$scratch"' EXIT
here=$(pwd)

# Standard input of the clients: open, and silent.
mkfifo hold
exec 9<>hold

# record NAME CLIENT OPTIONS...: over ssh into NAME.nvmt; leaves NAME.pid, and the client's in NAME.client
record() {
    name=$1 client=$2
    shift 2
    # shellcheck disable=SC2086
    $client rig "cd $here && echo \$\$ >$name.pid && exec $EMU $NVMTOP --demo --record --fast-hz 200 $* $name.nvmt 2>$name.err" \
        <&9 >$name.out 2>&1 &
    echo $! >"$name.client"
    names="$names $name"
}
has_begun() { test "$(wc -c <"$1.nvmt")" -gt 12000; }
client() { cat "$1.client"; }
remote() { cat "$1.pid"; }
gone() { ! kill -0 "$1" || grep -q '^State:.*Z' "/proc/$1/status"; }
session() { sed -n 's/^PPid:[^0-9]*//p' "/proc/$(remote "$1")/status"; }
size() { wc -c <"$1.nvmt"; }
grown() { test "$(size "$1")" -gt "$2"; }
complete() { judge "$1.nvmt" "t['counts']['fast'] > 10 and t['counts']['medium'] > 3 and t['fast']['increasing']"; }

# An unprivileged sshd can give no terminal where the kernel's are not of the group tty.
kinds='pty plain eof'
if ! $ssh -tt rig true <&9 >tty.out 2>&1; then
    kinds='plain eof'
    skip 'a recording in a terminal that goes' "sshd gives none here, as root it does: $(tail -n 1 tty.out)"
fi
names=
for how in exit kill session hup cut; do
    ssh_to=$ssh
    test $how = cut && ssh_to=$sshc
    for kind in $kinds; do
        case $kind in
        pty) record "pty-$how" "$ssh_to -tt" ;;
        plain) record "plain-$how" "$ssh_to" ;;
        eof) record "eof-$how" "$ssh_to" --stop-on-eof ;;
        esac
    done
done
for name in $names; do
    ok "$name: records" soon has_begun "$name"
    session "$name" >"$name.session"
done

for how in exit kill session hup cut; do
    for kind in $kinds; do
        name=$kind-$how
        case $how in
        exit) kill -TERM "$(client "$name")" ;;
        kill) kill -KILL "$(client "$name")" ;;
        session)
            ok "$name: the session's process is sshd" says "/proc/$(cat "$name.session")/comm" sshd
            kill -KILL "$(cat "$name.session")"
            ;;
        hup) kill -HUP "$(remote "$name")" ;;
        cut) ;;
        esac
    done
done
sshd_freeze

# Without a terminal nobody tells the recorder, unless standard input does.
for how in exit kill session cut; do
    ok "plain-$how: the session ends" soon gone "$(cat plain-$how.session)"
    was=$(size plain-$how)
    ok "plain-$how: records on" soon grown plain-$how "$was"
    kill -TERM "$(remote plain-$how)"
done
for name in $names; do
    ok "$name: the recorder ends" soon gone "$(remote "$name")"
    ok "$name: the file is complete" complete "$name"
done
sshd_thaw

# --- streams ---
# stream NAME CLIENT RATES...: into NAME.nvmt
stream() {
    rates=$3
    # shellcheck disable=SC2086
    $2 rig "cd $here && echo \$\$ >$1.pid && exec $EMU $NVMTOP --demo --record - $rates 2>$1.err" \
        <&9 >"$1.nvmt" 2>"$1.out" &
    echo $! >"$1.client"
}
streams() { test "$(wc -c <"$1.nvmt")" -gt 40000; }
for how in term kill cut; do
    # While there is something to send sshd does not ask whether anybody takes it; that is
    # noticed when the 2 MB are full that are on the way without an answer.
    case $how in
    cut) stream stream-cut "$sshc" '--fast-hz 6000 --medium-hz 6000 --slow-hz 6000' ;;
    *) stream stream-$how "$ssh" '--fast-hz 200' ;;
    esac
done
for how in term kill cut; do
    ok "stream-$how: comes" soon streams stream-$how
done
kill -TERM "$(remote stream-term)"
kill -KILL "$(client stream-kill)"
sshd_freeze
for how in term kill cut; do
    ok "stream-$how: the recorder ends" soon gone "$(remote stream-$how)"
done
kill -KILL "$(client stream-cut)" 2>/dev/null
wait "$(client stream-term)"
run nvmtop check stream-term.nvmt
ok 'stream-term: whole' is "$status" 0
ok 'stream-term: says what it recorded' says stream-term.err 'standard output'
for how in kill cut; do
    run nvmtop report stream-$how.nvmt
    ok "stream-$how: cut, and as good as it came" is "$status" 0
done
sshd_thaw
# A recording through the pipe is the recording here.
# shellcheck disable=SC2086
$ssh rig "$EMU $NVMTOP --demo --record - --duration 1" <&9 2>err | tee tee.nvmt | nvmtop --print 100x30 --replay - >live.txt
ok 'ssh board nvmtop --record - | nvmtop --replay -' says live.txt 'Jetson AGX Orin'
run nvmtop check tee.nvmt
ok 'and | tee keeps it' is "$status" 0
done_testing
