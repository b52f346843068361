#!/bin/sh
# A remote screen: a stream from a pipe, from an SSH connection, from a recorder at
# work, on a real terminal.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"
NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS

picture() {
	screen | sed -n '4,20p'
}
differs() {
	picture >"$tmp/now"
	! cmp -s "$tmp/before" "$tmp/now"
}
gone() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status"
}

pty_begin 110x36 xterm-256color
dir=$tmp/work
mkdir "$dir"
run "cd $dir"

run "clear; $program --demo --record -"
check "no stream to a terminal" wait_for "a file, as in nvmtop record - |"
check "wrong use" wait_prompt 2
run "clear; $program --replay -"
check "none from a terminal either" wait_for "as in ssh board nvmtop record - |"
wait_prompt 2

run "clear; sh -c 'echo \$\$ >rec.pid; exec $program --demo --record - 2>rec.err' | tee kept.nvmt | $program --replay -; echo status \$?"
check "a stream is a live screen" wait_for "live from"
check "of that board" wait_for "Jetson AGX Orin"
picture >"$tmp/before"
check "it moves" until_true differs
keys Space
check "it can be paused" wait_for PAUSED
keys Space
wait_gone PAUSED
keys s
check "marks are set elsewhere" wait_for "record with tee here."
kill -USR1 "$(cat rec.pid 2>/dev/null || cat "$dir/rec.pid")"
axis_has() {
	screen | sed -n 3p | grep -q -e "$1"
}
check "a mark that was set there is seen here" until_true axis_has '[^0-9:]1 '
kill -TERM "$(cat "$dir/rec.pid")"
check "the end is said" wait_for ", ended"
check "the screen stays, and can be played" wait_for "paused"
keys Home
keys Space
check "from its beginning" wait_for "playing"
keys q
check "a stream that was ended: status 0" wait_for "status 0"

run "clear; sh -c 'echo \$\$ >rec.pid; exec $program --demo --record - 2>rec.err' | $program --replay -; echo status \$?"
wait_for "live from"
kill -KILL "$(cat "$dir/rec.pid")"
check "a recorder that was killed: the screen stays" wait_for "the stream was truncated"
keys q
check "status 3" wait_for "status 3"

run "clear; sh -c 'echo \$\$ >rec.pid; exec $program --demo --record - 2>rec.err' | $program --replay -; echo status \$?"
wait_for "live from"
pid=$(cat "$dir/rec.pid")
keys q
check "q: status 0" wait_for "status 0"
check "and the recorder ends" until_true gone "$pid"
check "in good order" wait_file "$dir/rec.err" "standard output"

# --- what is recorded on this machine ---
$program --demo --record "$dir/grow.bin" 2>"$dir/grow.err" &
recorder=$!
until_true test -s "$dir/grow.bin.nvmt"
run "clear; $program --replay grow.bin --follow; echo status \$?"
check "--follow: a recording at work is live" wait_for "live from"
picture >"$tmp/before"
check "and moves" until_true differs
kill -USR1 $recorder
check "with its marks" until_true axis_has '[^0-9:]1 '
kill -TERM $recorder
wait $recorder
check "its end is said" wait_for ", ended"
keys q
check "status 0" wait_for "status 0"
run "clear; $program --replay kept.nvmt --follow; echo status \$?"
check "--follow: a stream that is complete" wait_for "kept.nvmt"
keys q
wait_for "status 0"

# a trace that is being copied
size=$(wc -c <"$dir/grow.bin")
head -c $((size / 3)) "$dir/grow.bin" >"$dir/copy.bin"
run "clear; $program --replay copy.bin --follow; echo status \$?"
check "--follow: a trace that is being copied" wait_for "copy.bin"
length() {
	screen | sed -n 's/.* \/ \([0-9:.]*\) .*/\1/p' | head -n 1
}
was=$(length)
longer() {
	[ "$(length)" != "$was" ]
}
cp "$dir/grow.bin" "$dir/copy.bin"
check "grows on the screen" until_true longer
keys q
check "and is left" wait_for "status 0"

# --- the same through SSH ---
. "${NVMTOP_SRC:-.}/tests/tools/sshd.sh"
sshd_why=
if sshd_begin "$tmp/sshd"; then
	trap 'sshd_end; pty_stop; rm -rf "$tmp"' EXIT
	run "clear; $ssh rig 'echo \$\$ >$dir/rec.pid; exec $program --demo --record - 2>$dir/rec.err' | $program --replay -; echo status \$?"
	check "ssh: a remote screen" wait_for "live from"
	picture >"$tmp/before"
	check "that moves" until_true differs
	# ssh reads the terminal as its standard input
	keys g
	wait_for "go to:"
	for digit in 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9; do
		keys $digit
	done
	check "every key comes here" wait_for "go to: 123456789123456789"
	keys Escape
	wait_gone "go to:"
	pid=$(cat "$dir/rec.pid")
	kill -KILL "$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status")"
	check "the connection breaks: the screen stays" wait_for "the stream was truncated"
	keys q
	check "status 3" wait_for "status 3"
	check "the recorder over there ends" until_true gone "$pid"
	run "clear; $ssh rig 'echo \$\$ >$dir/rec.pid; exec $program --demo --record - 2>$dir/rec.err' | $program --replay -; echo status \$?"
	wait_for "live from"
	pid=$(cat "$dir/rec.pid")
	keys q
	check "q here" wait_for "status 0"
	check "ends it over there" until_true gone "$pid"
	check "with a complete stream of its own" wait_file "$dir/rec.err" "standard output"
	sshd_end
else
	tests_run=$((tests_run + 1))
	echo "ok $tests_run - ssh: a remote screen # SKIP $sshd_why"
fi
pty_end
