#!/bin/sh
# Keys and clicks not covered by the other terminal tests.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
XDG_CONFIG_HOME=/nonexistent
export XDG_CONFIG_HOME
trace=$(cd "${NVMTOP_SRC:-.}" && pwd)/tests/traces/demo.nvmt

# The position of the playhead.
at() {
	screen | grep -q -e "^ *$1 / 14.0"
}
not_at() {
	screen | grep -q -e " / 14.0" && ! at "$1"
}
# One line of the screen, and whether it changed.
line() {
	screen | sed -n "${1}p"
}
line_differs() {
	[ "$(line "$1")" != "$was" ]
}
line_is() {
	[ "$(line "$1")" = "$was" ]
}
# The first row on that line has this name.
row_is() {
	line "$1" | grep -q -e "^[ >] *$2"
}
# The round times of the axis, without the playhead's.
labels() {
	line 3 | sed 's/▼ [0-9.]* s//; s/[0-9.]* s ▼//; s/  */ /g; s/ $//'
}
labels_differ() {
	[ "$(labels)" != "$was" ]
}
labels_are() {
	[ "$(labels)" = "$was" ]
}
# Button, column and line, 1-based.
press() {
	text_bytes "$(printf '\033[<%d;%d;%dM\033[<%d;%d;%dm' "$1" "$2" "$3" "$1" "$2" "$3")"
}
# The column at which a text of the key bar starts.
bar_column() {
	line 34 | awk -v text="$1" '{ print index($0, text) }'
}
# Click on that text of the key bar.
bar() {
	wait_for "$1"
	press 0 "$(bar_column "$1")" 34
}

pty_begin 120x34 xterm-256color
run "clear; $program --replay $trace --no-config"
wait_for "q quit"
wait_for " RAM  "

# Through time
keys Home
until_true at 0.0
keys l l l l
until_true not_at 0.0
was=$(line 4)
keys .
check ". moves one sample forward" until_true line_differs 4
keys ,
check ", moves back" until_true line_is 4
keys End
until_true at 14.0
was=$(line 3)
keys +
check "+ zooms in" until_true line_differs 3
keys S-Left
check "Shift-Left moves a screen back" until_true not_at 14.0
keys S-Right
check "Shift-Right moves a screen forward" until_true at 14.0
keys -
check "- zooms out" until_true line_is 3
keys Left
check "Left moves back" until_true not_at 14.0
keys Right
check "Right moves forward" until_true at 14.0
keys Home
until_true at 0.0
keys '<' '<'
check "< plays slower" wait_for "1/5x"
keys '>' '>'
wait_gone "1/5x"
keys /
text_bytes "gpu > 50"
keys Enter
wait_for "gpu > 50: from"
at_first=$(screen | grep -o '[0-9.]* / 14.0')
keys n
check "n goes to the next match" until_true not_at "${at_first%% *}"
keys N
check "N goes to the previous match" until_true at "${at_first%% *}"

# The chosen row
keys Down
check "Down chooses a row" wait_for ">GPU"
was=$(line 5)
keys ')'
check ") makes it higher" until_true line_differs 5
keys '('
check "( makes it lower again" until_true line_is 5
keys J
check "J moves it down" until_true row_is 4 "CPU"
keys K
check "K moves it up" until_true row_is 4 "GPU"
keys Escape
check "Esc clears the choice" wait_gone ">GPU"

# Lists
keys F1
wait_for "sync mark"
was=$(line 4)
keys NPage
check "PgDn scrolls by a page" until_true line_differs 4
keys PPage
check "PgUp scrolls back" until_true line_is 4
press 65 20 10
check "the wheel scrolls a list" until_true line_differs 4
press 64 20 10
check "it scrolls back" until_true line_is 4
keys Escape
wait_gone "sync mark"
keys O
check "O opens the screen of settings" wait_for "Settings"
keys Escape
wait_gone "Settings"

# The mouse on the key bar and the strip
bar "? keys"
check "a click on ? keys opens the list of keys" wait_for "sync mark"
bar "Esc close"
check "a click on Esc closes it" wait_gone "sync mark"
bar "Space play"
check "a click on Space plays" wait_for "Space pause"
bar "Space pause"
check "another click pauses" wait_for "Space play"
bar "g go to"
check "a click on g opens the prompt" wait_for "go to:"
text_bytes "50%"
keys BSpace BSpace BSpace
text_bytes "start"
check "typed text appears" wait_for "go to: start"
keys Escape
wait_gone "go to:"
was=$(labels)
press 64 80 10
check "the wheel zooms in" until_true labels_differ
press 65 80 10
check "the wheel zooms out" until_true labels_are
keys Home
until_true at 0.0
press 0 52 32
check "a click on the strip moves there" until_true not_at 0.0
keys End
until_true at 14.0
keys [
until_true not_at 14.0
at_mark=$(screen | grep -o '[0-9.]* / 14.0')
keys Home
until_true at 0.0
n=$(screen | grep -n "^ *CPU  *[0-9]" | sed 's/:.*//;q') # no load goes that high
press 0 "$(line "$n" | sed 's/│[^│]*$//' | wc -m)" "$n"
check "a click on a mark's line goes to the mark" until_true at "${at_mark%% *}"

wait_for "q quit"
bar "q quit"
check "a click on q quits" wait_prompt 0
check "the terminal is restored" usable_terminal

# A recording in several files
run "cd $tmp; clear; $program --record --demo --split 1 --duration 3.5 -o parts.nvmt"
wait_prompt 0
check "there are several files" [ -s "$tmp/parts.3.nvmt" ]
run "clear; $program --replay parts.nvmt --no-config"
check "the next file is announced" wait_for "continues in parts.2.nvmt"
keys e
title() {
	screen | sed -n 1p | grep -q -F -e " $1 "
}
check "e opens the next file" until_true title parts.2.nvmt
keys E
check "E opens the previous file" until_true title parts.nvmt
keys E
check "there is none before the first" wait_for "no previous file"
keys Home Space
# A file in the middle is shown only while it plays; the last one stays.
last=parts.$(find "$tmp" -name 'parts*.nvmt' | wc -l).nvmt
check "playback continues in the next file" until_true title "$last"
check "playback stops at the end of the last file" until_true on_screen "paused"
keys q
wait_prompt 0

# Processes
run "clear; $program --demo --no-config --view processes"
wait_for "GPU mem"
was=$(T capture-pane -p -e | sed -n 3p)
head_differs() {
	[ "$(T capture-pane -p -e | sed -n 3p)" != "$was" ]
}
for key in P M N G; do
	keys "$key"
	check "$key sorts by another column" until_true head_differs
	was=$(T capture-pane -p -e | sed -n 3p)
done
keys f
wait_for "filter:"
text_bytes "aü"
check "the filter accepts any letter" wait_for "filter: aü"
keys BSpace
check "Backspace removes a whole character" wait_gone "aü"
check "but not the previous one" wait_for "filter: a"
keys Escape
wait_gone "filter:"

# After another program cleared the screen
T send-keys -R
wait_gone "GPU mem"
keys C-l
check "Ctrl-L redraws" wait_for "GPU mem"
keys q
check "q quits" wait_prompt 0
pty_end
