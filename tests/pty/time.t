#!/bin/sh
# Moving through time: cursor, selection, search, loop and phases, in a replay and in the live history
# while sampling continues.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

trace=$(cd "${NVMTOP_SRC:-.}" && pwd)/tests/traces/demo.nvmt

# The playhead's time on the strip, in seconds.
at() {
	screen | grep -q -e "^ *$1 / 14.0"
}

begun() {
	screen | grep -q "^ *$1  *[0-9][0-9:]*\."
}

# The first phase is some seconds long.
lasts() {
	screen | grep -q "start  *[0-9:.]*  *[0-9]*[3-9]\.[0-9]"
}

begin() {
	run "clear; $program --replay $trace"
	wait_for "q quit" && wait_for " RAM  "
}

pty_begin 120x36 xterm-256color
plain_demo
check "a replay starts" begin
check "it is paused at its end" until_true at 14.0
keys Home
check "Home goes to the start" until_true at 0.0
keys l l l
check "l moves the cursor" until_true at 0.5
keys v
check "v starts a selection" wait_for "selected"
keys Right
keys v
check "the selection up to the cursor has energy and duration" wait_for " J  "
keys Escape
check "Esc clears the selection" wait_gone "selected"
bytes 2f
check "/ asks for a condition" wait_for "search:"
bytes 67 70 75 20 3e 20 35 30
keys Enter
check "it is found" wait_for "gpu > 50: from"
check "the cursor moves there" until_true at 2.9
keys g
bytes 35 30 25
keys Enter
check "g 50% goes to the middle" until_true at 7.0
keys L
check "L loops the phase" wait_for "playing"
keys Space
check "space pauses" wait_for "paused"
keys L
keys Home
for key in 1 2 3 4 5 6 7 8 9 10 11; do keys '>'; done
check "> speeds up to all at once" wait_for "all"
keys Space
check "it plays to the end" until_true at 14.0
keys 7
check "7 shows the phases" wait_for "length"
check "they have their energy" wait_for "100.6 "
keys x
keys Down
keys x
check "x compares two" wait_for "A mean"
keys Enter
check "Enter shows the charts of one" wait_for "selected 4.008 s"
keys q
wait_prompt

# Live: the past, while sampling continues.
run "clear; $program --demo"
check "the live screen starts" wait_for " RAM  "
keys h
check "h moves the cursor and pauses" wait_for PAUSED
keys End
keys 7
# Less than a second behind counts as now.
check "the history grows" until_true lasts
keys 1
keys Home
check "Home goes back to the start" wait_for PAUSED
keys Space
check "space plays from there" wait_gone PAUSED
check "the speed is shown" wait_for " 1x"
keys End
check "End returns to now" wait_for " now"
keys V
check "V selects the phase" wait_for "selected "
keys Escape
keys 0
keys 7
check "7 shows the phases live" wait_for "length"
keys s
check "a mark starts a phase" until_true begun 1
keys q
check "q quits" wait_prompt
pty_end
