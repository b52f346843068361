#!/bin/sh
# Moving through time on a terminal: cursor, selection, search, loop and phases, in a
# replay and over the live history while sampling goes on.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

trace=$(cd "${NVMTOP_SRC:-.}" && pwd)/tests/traces/demo.bin

# The line of the playhead: the strip's second.
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
check "a replay comes up" begin
check "paused at its end" until_true at 14.0
keys Home
check "Home: at the start" until_true at 0.0
keys l l l
check "l moves the cursor" until_true at 0.5
keys v
check "v begins to select" wait_for "selected"
keys Right
keys v
check "up to the cursor: energy and duration" wait_for " J  "
keys Escape
check "Esc: nothing is selected" wait_gone "selected"
bytes 2f
check "/ asks for a condition" wait_for "search:"
bytes 67 70 75 20 3e 20 35 30
keys Enter
check "it is found" wait_for "gpu > 50: from"
check "and gone to" until_true at 2.9
keys g
bytes 35 30 25
keys Enter
check "g 50%" until_true at 7.0
keys L
check "L plays the phase over and over" wait_for "playing"
keys Space
check "space pauses" wait_for "paused"
keys L
keys Home
for key in 1 2 3 4 5 6 7 8 9 10 11; do keys '>'; done
check "> up to all at once" wait_for "all"
keys Space
check "plays all of it" until_true at 14.0
keys 7
check "7: the phases" wait_for "length"
check "with their energy" wait_for "100.1 "
keys x
keys Down
keys x
check "x: side by side" wait_for "A mean"
keys Enter
check "Enter: the charts of one" wait_for "selected 4.008 s"
keys q
wait_prompt

# Live: the past while it goes on.
run "clear; $program --demo"
check "the live screen comes up" wait_for " RAM  "
keys h
check "h: the cursor, and the picture stands still" wait_for PAUSED
keys End
keys 7
# What is less than a second behind is now.
check "the history grows" until_true lasts
keys 1
keys Home
check "Home: back to the start" wait_for PAUSED
keys Space
check "space plays from there" wait_gone PAUSED
check "with its speed" wait_for " 1x"
keys End
check "End: now" wait_for " now"
keys V
check "V selects the phase" wait_for "selected "
keys Escape
keys 0
keys 7
check "phases, live" wait_for "length"
keys s
check "a mark begins one" until_true begun 1
keys q
check "q quits" wait_prompt
pty_end
