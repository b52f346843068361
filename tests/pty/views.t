#!/bin/sh
# Views on a terminal: by number, Tab and mouse, live and in a replay; a row is
# chosen and asked.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS

# Where the tab of that number is; wherever there is room its name is behind it.
tab_column() {
	screen | sed -n 29p | awk -v key="$1" '{ i = match($0, "(^| )" key "( |$)"); print i ? i + 1 : 0 }'
}

# Each view by what it alone has.
walk() {
	while read -r key text; do
		keys "$key"
		check "$1: $key shows its view" wait_for "$text"
		keys 4
		wait_for "programs"
		click "$(tab_column "$key")" 29
		check "$1: a click on tab $key, too" wait_for "$text"
	done <<-END
		2 NVENC
		3 cpu0-3
		5 headroom
		6 Cooling
		8 processes
		9 This machine
		a cpu10
	END
}

# The name of the chosen row.
chosen() {
	screen | sed -n 's/^ *> *\([^ ]*\).*/\1/p'
}
chosen_is() {
	[ "$(chosen)" = "$1" ]
}
chosen_differs() {
	now=$(chosen)
	[ -n "$now" ] && [ "$now" != "$was" ]
}
# Down, row by row, to that one.
down_to() {
	for _ in 1 2 3 4 5 6 7 8 9; do
		was=$(chosen)
		keys Down
		until_true chosen_differs || return
		[ "$now" != "$1" ] || return 0
	done
	return 1
}

# Column and line from 1 on: press and release of the left button.
click() {
	text_bytes "$(printf '\033[<0;%d;%dM\033[<0;%d;%dm' "$1" "$2" "$1" "$2")"
}

pty_begin 110x30 xterm-256color
run "clear; $program --demo"
wait_for "q quit"
check "the overview comes first" wait_for "engines, cooling"
walk live
keys 1
wait_for "engines, cooling"
keys Tab
check "Tab: the next view" wait_for "NVENC"
keys Tab
check "and the next" wait_for "cpu0-3"
keys BTab
check "Shift-Tab: the one before" wait_for "NVENC"
keys BTab
wait_for "engines, cooling"
keys BTab
check "and round the end" wait_for "cpu10"
keys 6
wait_for "Cooling"

keys Down
check "Down chooses a row" wait_for ">Hottest"
check "further down" down_to cv0
keys '?'
check "? tells why it is missing" wait_for "probably the unit"
keys Up
check "Up: about the one above" wait_for "warned of from 99.0 °C"
keys Escape
check "Esc closes it" wait_gone "warned of from"
keys Enter
check "Enter opens it" wait_for "warned of from"
keys Escape
wait_gone "warned of from"
keys Escape
check "Esc lets go of the row" until_true chosen_is ''
keys '?'
check "? without a row: the keys" wait_for "sync mark"
keys Escape
wait_gone "sync mark"
click 5 5
check "a click chooses a row" wait_for ">Hottest"
keys q
wait_prompt 0

run "clear; $program --replay ${NVMTOP_SRC:-.}/tests/traces/views.bin --view power"
check "a trace begins with the view that was asked for" wait_for "headroom"
walk replay
keys q
wait_prompt 0
pty_end
