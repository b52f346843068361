#!/bin/sh
# Views: by number, Tab and mouse, live and in a replay; a row and its details.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS

# The column of that tab; its name follows if there is room.
tab_column() {
	screen | sed -n 29p | awk -v key="$1" '{ i = match($0, "(^| )" key "( |$)"); print i ? i + 1 : 0 }'
}

# Each view by text only it has.
walk() {
	while read -r key text; do
		keys "$key"
		check "$1: $key shows its view" wait_for "$text"
		keys 4
		wait_for "programs"
		click "$(tab_column "$key")" 29
		check "$1: a click on tab $key does too" wait_for "$text"
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
# Down until that row is chosen.
down_to() {
	for _ in 1 2 3 4 5 6 7 8 9; do
		was=$(chosen)
		keys Down
		until_true chosen_differs || return
		[ "$now" != "$1" ] || return 0
	done
	return 1
}

# Column and line, 1-based: press and release the left button.
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
check "Tab shows the next view" wait_for "NVENC"
keys Tab
check "Tab again shows the one after" wait_for "cpu0-3"
keys BTab
check "Shift-Tab shows the previous view" wait_for "NVENC"
keys BTab
wait_for "engines, cooling"
keys BTab
check "it wraps around" wait_for "cpu10"
keys 6
wait_for "Cooling"

keys Down
check "Down chooses a row" wait_for ">Hottest"
check "Down moves to another row" down_to cv0
keys '?'
check "? shows why it is missing" wait_for "probably powered down"
keys Up
check "Up shows the row above" wait_for "warned of from 99.0 °C"
keys Escape
check "Esc closes it" wait_gone "warned of from"
keys Enter
check "Enter opens it" wait_for "warned of from"
keys Escape
wait_gone "warned of from"
keys Escape
check "Esc clears the choice" until_true chosen_is ''
keys '?'
check "? without a row shows the keys" wait_for "sync mark"
keys Escape
wait_gone "sync mark"
click 5 5
check "a click chooses a row" wait_for ">Hottest"
keys q
wait_prompt 0

run "clear; $program --replay ${NVMTOP_SRC:-.}/tests/traces/views.nvmt --view power"
check "a trace opens with --view" wait_for "headroom"
walk replay
keys q
wait_prompt 0
pty_end
