#!/bin/sh
# A remote screen: a stream from a pipe, from an SSH connection, from a running recorder.
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
check "a stream is not written to a terminal" wait_for "a file, as in nvmtop record - |"
check "exit status 2" wait_prompt 2
run "clear; $program --replay -"
check "nor read from one" wait_for "as in ssh board nvmtop record - |"
wait_prompt 2

run "clear; sh -c 'echo \$\$ >rec.pid; exec $program --demo --record - 2>rec.err' | tee kept.nvmt | $program --replay -; echo status \$?"
check "a stream gives a live screen" wait_for "live from"
check "it shows the remote board" wait_for "Jetson AGX Orin"
picture >"$tmp/before"
check "it moves" until_true differs
keys Space
check "it can be paused" wait_for PAUSED
keys Space
wait_gone PAUSED
keys s
check "s says where marks can be set" wait_for "record with tee here."
kill -USR1 "$(cat rec.pid 2>/dev/null || cat "$dir/rec.pid")"
axis_has() {
	screen | sed -n 3p | grep -q -e "$1"
}
check "a remote mark is shown" until_true axis_has '[^0-9:]1 '
kill -TERM "$(cat "$dir/rec.pid")"
check "the end is reported" wait_for ", ended"
check "the screen stays and is paused" wait_for "paused"
keys Home
keys Space
check "it plays from the start" wait_for "playing"
keys q
check "a complete stream: exit status 0" wait_for "status 0"

run "clear; sh -c 'echo \$\$ >rec.pid; exec $program --demo --record - 2>rec.err' | $program --replay -; echo status \$?"
wait_for "live from"
kill -KILL "$(cat "$dir/rec.pid")"
check "a killed recorder: the screen stays" wait_for "the stream was truncated"
keys q
check "status 3" wait_for "status 3"

run "clear; sh -c 'echo \$\$ >rec.pid; exec $program --demo --record - 2>rec.err' | $program --replay -; echo status \$?"
wait_for "live from"
pid=$(cat "$dir/rec.pid")
keys q
check "q: status 0" wait_for "status 0"
check "the recorder ends" until_true gone "$pid"
check "it ends normally" wait_file "$dir/rec.err" "standard output"

# --- a recording on this machine ---
$program --demo --record "$dir/grow.nvmt" 2>"$dir/grow.err" &
recorder=$!
until_true test -s "$dir/grow.nvmt"
run "clear; $program --replay grow.nvmt --follow; echo status \$?"
check "--follow: a running recording is live" wait_for "live from"
picture >"$tmp/before"
check "--follow: it moves" until_true differs
kill -USR1 $recorder
check "--follow: it has marks" until_true axis_has '[^0-9:]1 '
kill -TERM $recorder
wait $recorder
check "--follow: its end is reported" wait_for ", ended"
keys q
check "status 0" wait_for "status 0"
run "clear; $program --replay kept.nvmt --follow; echo status \$?"
wait_for "1 Overview" # the name is in the command line, too
check "--follow: a stream that is complete" wait_for "kept.nvmt"
keys q
wait_for "status 0"

# a recording that is being copied
size=$(wc -c <"$dir/grow.nvmt")
head -c $((size / 3)) "$dir/grow.nvmt" >"$dir/copy.nvmt"
run "clear; $program --replay copy.nvmt --follow; echo status \$?"
check "--follow: a recording that is being copied is behind" wait_for " behind"
tail -c +$((size / 3 + 1)) "$dir/grow.nvmt" >>"$dir/copy.nvmt"
check "--follow: the rest of it is read" wait_for ", ended"
keys q
check "--follow: q exits with status 0" wait_for "status 0"
$program export nvmt1 "$dir/grow.nvmt" -o "$dir/grow.bin"
size=$(wc -c <"$dir/grow.bin")
head -c $((size / 3)) "$dir/grow.bin" >"$dir/copy.bin"
run "clear; $program --replay copy.bin --follow; echo status \$?"
wait_for "1 Overview"
check "--follow: a file of version 1 is shown as far as it has come" wait_for "copy.bin"
keys q
check "--follow: q exits with status 0" wait_for "status 0"

# --- the same through SSH ---
. "${NVMTOP_SRC:-.}/tests/tools/sshd.sh"
sshd_why=
if sshd_begin "$tmp/sshd"; then
	trap 'sshd_end; pty_stop; rm -rf "$tmp"' EXIT
	run "clear; $ssh rig 'echo \$\$ >$dir/rec.pid; exec $program --demo --record - 2>$dir/rec.err' | $program --replay -; echo status \$?"
	check "ssh: a remote screen" wait_for "live from"
	picture >"$tmp/before"
	check "ssh: it moves" until_true differs
	# ssh's standard input is the terminal
	keys g
	wait_for "go to:"
	for digit in 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9; do
		keys $digit
	done
	check "ssh: every key reaches nvmtop" wait_for "go to: 123456789123456789"
	keys Escape
	wait_gone "go to:"
	pid=$(cat "$dir/rec.pid")
	kill -KILL "$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status")"
	check "ssh: the screen stays when the connection breaks" wait_for "the stream was truncated"
	keys q
	check "status 3" wait_for "status 3"
	check "ssh: the remote recorder ends" until_true gone "$pid"
	run "clear; $ssh rig 'echo \$\$ >$dir/rec.pid; exec $program --demo --record - 2>$dir/rec.err' | $program --replay -; echo status \$?"
	wait_for "live from"
	pid=$(cat "$dir/rec.pid")
	keys q
	check "ssh: q exits with status 0" wait_for "status 0"
	check "ssh: q ends the remote recorder" until_true gone "$pid"
	check "ssh: its stream is complete" wait_file "$dir/rec.err" "standard output"
	sshd_end
else
	skip "ssh: a remote screen" "$sshd_why"
fi
pty_end
