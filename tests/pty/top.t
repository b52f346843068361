#!/bin/sh
# The whole program with the demo board: view, mark, record, replay, stop, resize, quit.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
boards=$NVMTOP_BOARDS

begin() {
	run "cd $dir; clear; $* $program --demo"
	wait_for "q quit" && wait_for " RAM  "
}

# The pid is in the name of the mark socket; other instances have other directories.
pid() {
	find "$tmp/nvmtop" -name '*.sock' | sed 's|.*/||; s|\.sock$||'
}

traces() {
	find "$dir" -name 'nvmtop-*.nvmt' | wc -l
}

is_count() {
	[ "$(traces)" -eq "$1" ]
}

# A valid log with this many marks, and no other file left.
is_complete() {
	$program check "$1" >"$dir/../checked" && grep -q "marks: $2;" "$dir/../checked" &&
		[ "$(find "$dir" -name '*.tmp' | wc -l)" -eq 0 ]
}

stopped() {
	grep -q '^State:.*stopped' "/proc/$1/status" 2>/dev/null
}

# All threads but the main one block every signal except faults (ILL, ABRT, BUS, FPE, SEGV), and there
# are at least so many of them. A sanitizer's thread has another name.
threads_leave_signals() {
	threads=0
	for task in "/proc/$1/task"/*; do
		grep -q '^nvmtop-' "$task/comm" 2>/dev/null || continue
		mask=$(sed -n 's/^SigBlk:.*\(....\)$/\1/p' "$task/status" 2>/dev/null)
		[ "$mask" ] || continue
		threads=$((threads + 1))
		[ $((0x$mask & 0x4e8)) -eq 0 ] && [ $((0x$mask & 0x4002)) -eq $((0x4002)) ] || {
			echo "# $(cat "$task/comm"): $mask"
			return 1
		}
	done
	echo "# $threads threads"
	[ "$threads" -ge "$2" ]
}

# The axis line has the number of a mark, or a word.
axis_has() {
	screen | sed -n 3p | grep -q -E -e "(^| )$1( |\$)"
}

# The screen has changed.
differs() {
	screen | sed -n '4,30p' >"$tmp/now"
	! cmp -s "$tmp/before" "$tmp/now"
}

remember() {
	screen | sed -n '4,30p' >"$tmp/before"
}

still() {
	remember
	sleep 0.6
	! differs
}

pty_begin 110x36 xterm-256color
plain_demo
dir=$tmp/work
mkdir "$dir"

check "the screen starts" begin
check "DEMO is shown" wait_for DEMO
check "the alternate screen is used" [ "$(T display-message -p '#{alternate_on}')" = 1 ]
for row in CPU EMC RAM Power; do
	check "there is $row" wait_for " $row "
done
remember
check "it moves" until_true differs

keys s
check "s: a mark, with its number on the axis" until_true axis_has 1
keys s
check "s again: the second" until_true axis_has 2

keys Space
check "space pauses" wait_for PAUSED
check "nothing moves then" until_true still
keys Space
check "space resumes" wait_gone PAUSED
remember
check "it moves again" until_true differs
# Milliseconds per column, from a label on the axis; now is in column 109.
zoom() {
	screen | sed -n '3{s/…/~/g;p;}' | awk '{
		if (match($0, /-[0-9.]+ m?s/)) {
			split(substr($0, RSTART + 1, RLENGTH), label, " ")
			printf "%d\n", label[1] * (label[2] == "s" ? 1000 : 1) / (110 - RSTART - RLENGTH)
		}
	}'
}
zoom_known() {
	was=$(zoom)
	[ "$was" ]
}
# Changed by this factor; a label is at most a column off.
zoomed() {
	is=$(zoom)
	[ "$is" ] && [ $((was * $1 * 4)) -gt $((is * $2 * 3)) ] && [ $((was * $1 * 4)) -lt $((is * $2 * 5)) ]
}
keys End
until_true axis_has now
# The first one ends that the span grows with what there is to show; the mark is seen after it.
keys + s
until_true axis_has 3
until_true zoom_known
keys +
check "+ zooms in by two" until_true zoomed 1 2
until_true zoom_known
keys -
check "- zooms out by two" until_true zoomed 2 1

keys '?'
check "? shows the keys" wait_for "sync mark"
keys Escape
check "Esc closes them" wait_gone "sync mark"
keys F1
check "F1 shows them too" wait_for "sync mark"
keys Escape
wait_gone "sync mark"

keys r
check "r records" wait_for "REC nvmtop-"
keys s
check "a mark while recording is counted" wait_for "1 mark "
check "other threads block all signals but faults" threads_leave_signals "$(pid)" 4
keys r
check "r again saves" wait_for "saved nvmtop-"
check "it offers to open the recording" wait_for "Enter opens it"
check "a trace exists" until_true is_count 1
check "it is complete and has the mark" is_complete "$dir"/nvmtop-*.nvmt 1

keys o
check "o lists it" wait_for "> nvmtop-"
keys Enter
check "Enter replays it" wait_for "Esc live"
check "the strip names the file" wait_for "nvmtop-2"
check "a replay does not move" until_true still
keys Escape
check "Esc returns to live" wait_gone "Esc live"
remember
check "live moves" until_true differs

for size in 1x1 200x60 20x5 60x16 80x24; do
	T resize-window -x "${size%x*}" -y "${size#*x}"
	sleep 0.1
done
check "after many resizes the frame is complete" wait_for "q quit"
check "and so is the header" wait_for "DEMO"
T resize-window -x 110 -y 36
until_true axis_has now

keys C-z
check "Ctrl-Z stops" until_true stopped "$(pid)"
check "the terminal is usable meanwhile" usable_terminal
T resize-window -x 90 -y 28
run fg
check "fg redraws in the new size" wait_for "q quit"
T resize-window -x 110 -y 36
wait_for "q quit"
keys q
check "q quits with exit status 0" wait_prompt 0
check "the terminal is restored" usable_terminal

# a second one, ended by a signal while it records
rm -f "$dir"/*
begin
keys r
wait_for "REC nvmtop-"
keys s
wait_for "1 mark "
kill -TERM "$(pid)"
check "SIGTERM ends it while recording" until_true last_line ']$'
check "the terminal is restored after SIGTERM" usable_terminal
check "the trace is complete" is_complete "$dir"/nvmtop-*.nvmt 1
run "clear; $program --replay $dir/nvmtop-*.nvmt"
check "it can be replayed from the command line" wait_for "q quit"
keys q
wait_prompt 0

# a third, whose terminal is closed while it records
rm -f "$dir"/*
# shellcheck disable=SC2086
begin $hung_up
keys r
wait_for "REC nvmtop-"
victim=$(pid)
T kill-server
gone() {
	[ ! -d "/proc/$1" ] || grep -q '^State:.*zombie' "/proc/$1/status"
}
check "closing the terminal ends it" until_true gone "$victim"
check "the trace is complete then too" is_complete "$dir"/nvmtop-*.nvmt 0

pty_begin 100x30
run "clear; TERM=dumb $program --demo"
check "TERM=dumb: exit status 2" wait_prompt 2
check "TERM=dumb: names alternatives" wait_for "use nvmtop record"
run "clear; LC_ALL=C TERM=screen $program --demo"
wait_for "q quit"
check "without UTF-8: ASCII only" [ "$(screen | LC_ALL=C tr -d '\000-\176' | wc -c)" -eq 0 ]
keys q
wait_prompt 0
run "clear; TERM=vt100 $program --demo"
check "a vt100 shows it" wait_for "q quit"
keys q
check "a vt100 is restored" usable_terminal
run "clear; (ulimit -n 40; NVMTOP_BOARDS=$boards $program --sysroot $roots/agx_orin-36)"
check "too few open files are allowed: exit status 1" wait_prompt 1
check "the message says what to raise" wait_for "raise the limit (ulimit -n)"
check "the terminal is usable after it" usable_terminal
pty_end
