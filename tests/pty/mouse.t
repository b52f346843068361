#!/bin/sh
# The mouse: tabs, rows, the time cursor, a selection, the wheel.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

XDG_CONFIG_HOME=/nonexistent
export XDG_CONFIG_HOME
trace=$(cd "${NVMTOP_SRC:-.}" && pwd)/tests/traces/demo.nvmt

# Lines and columns are 1-based.
line() {
	screen | sed -n "${1}p"
}
# The first line that matches.
line_of() {
	screen | grep -n -e "$1" | sed 's/:.*//;q'
}
# The column at which a text starts in a line; 0: not found.
column_of() {
	line "$2" | grep -q -e "$1" || {
		echo 0
		return
	}
	line "$2" | sed "s/$1.*//" | wc -m
}

# Button, column, line; M: press or move, m: release.
mouse() {
	text_bytes "$(printf '\033[<%d;%d;%d%s' "$1" "$2" "$3" "${4:-M}")"
}
click() {
	mouse 0 "$1" "$2"
	mouse 0 "$1" "$2" m
}
# From one column to another, within a line.
drag() {
	mouse 0 "$1" "$3"
	mouse 32 "$((($1 + $2) / 2))" "$3"
	mouse 32 "$2" "$3"
	mouse 0 "$2" "$3" m
}
wheel_up() {
	mouse 64 "$1" "$2"
}
wheel_down() {
	mouse 65 "$1" "$2"
}
tab() {
	n=$(line_of "1 Overview")
	click "$(column_of "$1" "$n")" "$n"
}

# The time cursor: its head on the axis, its line through a chart.
cursor_in() {
	[ "$(column_of ▼ 3)" -eq "$1" ] && [ "$(column_of ┊ "$cpu")" -eq "$1" ]
}
at() {
	screen | grep -q -e "^ *$1 / 14.0"
}
playhead() {
	screen | sed -n 's/^ *\([0-9.]*\) \/ 14\.0.*/\1/p'
}
between() {
	playhead | awk -v from="$1" -v to="$2" '{ is = from < $1 && $1 < to } END { exit !is }'
}
# The round times of the axis, without the cursor's.
labels() {
	line 3 | sed 's/▼ [0-9.]* s//; s/[0-9.]* s ▼//; s/  */ /g; s/ $//'
}
labels_differ() {
	[ "$(labels)" != "$was" ]
}
labels_are() {
	[ "$(labels)" = "$was" ]
}

pty_begin 120x34 xterm-256color
run "clear; $program --replay $trace --no-config"
wait_for "q quit"
wait_for " RAM  "
until_true at 14.0

# Each view by text only it has.
while read -r name text; do
	tab "$name"
	check "a click on the tab $name" wait_for "$text"
done <<-END
	Power sum of rails
	Thermal Zones in view
	GPU Clock
	Signals GPU clock
	Overview busiest
END

cpu=$(line_of "^ *CPU  *[0-9]") # no load goes that high, so cursor and marks are visible there
power=$(line_of "^ *Power  *[0-9]")
click 5 "$cpu"
check "a click chooses a row" wait_for ">CPU"
click 8 "$((power + 1))"
check "a click on any of its lines does" wait_for ">Power"
check "only one row is chosen" off_screen ">CPU"
click 5 "$power"
check "a second click shows its details" wait_for "power.total, in mW"
click 5 "$power"
check "a third click closes them" wait_gone "power.total, in mW"

click 50 "$cpu"
check "a click in a chart moves the cursor there" until_true cursor_in 50
check "the playhead moves too" between 2.0 5.0
click 110 "$power"
check "a click in any chart does" until_true cursor_in 110
check "the time there is later" between 10.0 14.0
mouse 35 60 "$cpu"
mouse 35 70 "$cpu"
keys Home
check "moving the pointer does not move the cursor" until_true at 0.0
check "and selects nothing" off_screen "selected "

# From one mark's line to another's.
one=$(line "$cpu" | sed 's/│.*//' | wc -m)
two=$(line "$cpu" | sed 's/│[^│]*$//' | wc -m)
drag "$one" "$two" "$cpu"
check "dragging selects from mark to mark" wait_for "selected 4.008 s"
check "the cursor follows" until_true at 9.2
keys Escape
check "Esc clears it" wait_gone "selected "
drag 110 70 "$power"
check "dragging backwards selects too" wait_for "selected "
span() {
	screen | sed -n 's/.*selected \([0-9.]* s\) .*/\1/p'
}
was=$(span)
keys Escape
wait_gone "selected "
drag 70 110 "$power"
wait_for "selected "
check "the selection is the same" [ "$was" = "$(span)" ]
keys Escape
wait_gone "selected "

was=$(labels)
wheel_up 80 "$cpu"
check "the wheel zooms in" until_true labels_differ
check "it zooms around the pointer" until_true cursor_in 80
once=$(labels)
wheel_up 80 "$cpu"
is_closer() {
	labels_differ && [ "$(labels)" != "$once" ]
}
check "it zooms in further" until_true is_closer
check "still around the pointer" until_true cursor_in 80
wheel_down 80 "$cpu"
wheel_down 80 "$cpu"
check "it zooms out again" until_true labels_are
wheel_down 80 "$cpu"
tab Power
wait_for "sum of rails"
tab Overview
wait_for "busiest"
check "it stops at the whole trace" labels_are
keys q
wait_prompt 0

# Live
plain_demo
run "clear; $program --demo --no-config"
wait_for "q quit"
wait_for " RAM  "
cpu=$(line_of "^ *CPU  *[0-9]")
has_past() {
	line $((cpu + 2)) | grep -q '^.\{35,89\}[^ ]'
}
until_true has_past
click 110 "$cpu"
check "live: a click in a chart goes back in time" wait_for "PAUSED"
click 100 "$cpu"
check "paused: a click moves the cursor there" until_true cursor_in 100
keys End
check "End returns to now" wait_gone "PAUSED"
keys q
check "q quits" wait_prompt 0
check "the terminal is restored" usable_terminal

# Without the mouse nvmtop gets none of this.
run "clear; $program --replay $trace --no-config --no-mouse"
wait_for "q quit"
check "--no-mouse leaves the mouse to the terminal" [ "$(T display-message -p '#{mouse_any_flag}#{mouse_button_flag}')" = 00 ]
keys q
check "q quits then too" wait_prompt 0
pty_end
