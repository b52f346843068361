#!/bin/sh
# What the screen looks like, on a real terminal: themes, set-up, what is kept, the mouse, copies.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

src=$(cd "${NVMTOP_SRC:-.}" && pwd)
NVMTOP_BOARDS=${NVMTOP_BOARDS:-$src/boards}
export NVMTOP_BOARDS
trace=$src/tests/traces/demo.bin
test -n "${NVMTOP:-}" || program=$(pwd)/$program

coloured() {
	T capture-pane -p -e | grep -q -F -e "$1"
}
not_coloured() {
	! coloured "$1"
}
has_file() {
	# shellcheck disable=SC2144
	[ -f "$dir"/nvmtop-*."$1" ]
}
mouse_is() {
	[ "$(T display-message -p '#{mouse_button_flag}')" = "$1" ]
}
show() {
	run "cd $dir; clear; env XDG_CONFIG_HOME=$dir/config COLORTERM=truecolor $program $*"
	wait_for "q quit"
}
leave() {
	keys q
	wait_prompt 0
}

pty_begin 110x34 tmux-256color
dir=$tmp/work
mkdir "$dir"
conf=$dir/config/nvmtop/nvmtop.conf
T set -ga terminal-overrides ',*:Tc'

show "--replay $trace --theme dark"
check "24 bits of colour" until_true coloured '48;2;16;17;21'
leave
check "and nothing of it is left behind" off_screen rgb:
show "--replay $trace --theme light --color 256"
check "256 colours" until_true coloured '48;5;231'
leave
show "--replay $trace --theme mono"
check "none" until_true not_coloured '38;'
leave

show "--replay $trace"
check "the mouse is on" until_true mouse_is 1
keys F2
check "F2 shows the set-up" wait_for "Set-up"
keys Right
check "another theme, live" until_true coloured '48;2;0;0;0'
keys Down Down Down Right
check "the mouse is off, live" until_true mouse_is 0
keys Escape
wait_gone "Set-up"
keys Down Down H
check "H hides the chosen row" wait_for "CPU is hidden"
keys z
check "z shows one alone" wait_gone "Heat gpu"
keys Escape Escape
wait_for "Heat gpu"
check "it is kept while the screen goes on" wait_file "$conf" "hide.overview = cpu.util"
keys F2
wait_for "Set-up"
check "the set-up has the history" wait_for "up to 32 MiB"
keys F2
wait_gone "Set-up"
was_inode=$(stat -c %i "$conf")
leave
check "and not written again at the end" [ "$(stat -c %i "$conf")" = "$was_inode" ]
check "it is kept: the theme" grep -qx 'theme = high-contrast' "$conf"
check "it is kept: the mouse" grep -qx 'mouse = no' "$conf"
check "it is kept: the row" grep -qx 'hide.overview = cpu.util' "$conf"
show "--replay $trace"
check "and is there again" until_true coloured '48;2;0;0;0'
check "the mouse as well" mouse_is 0
leave
show "--replay $trace --no-config"
check "not without the settings" until_true mouse_is 1
leave
show "--replay $trace --no-config --no-mouse"
check "--no-mouse leaves it alone" mouse_is 0
leave

mkdir -p "$dir/ro/nvmtop/nvmtop.conf"
run "clear; env XDG_CONFIG_HOME=$dir/ro $program --replay $trace"
check "a file of settings that cannot be read: one line" wait_for "cannot read the settings"
keys F2 Right
wait_for "high contrast"
keys F2
wait_gone "Set-up"
keys q
check "and one when it cannot be kept" wait_for "cannot save the settings in"
wait_prompt

rm -rf "$dir/config"
show "--replay $trace"
keys F2 Right
check "what is chosen is kept soon" wait_file "$conf" "theme = high-contrast"
keys Left
not_in_file() {
	! in_file "$@"
}
check "and so is that it was taken back" until_true not_in_file "$conf" "theme = high-contrast"
keys F2
wait_gone "Set-up"
keys q
cp "$trace" "$dir/demo.bin"
show "--replay demo.bin"
keys p
check "p asks" wait_for "save:"
keys t
check "t: as text" wait_for "saved nvmtop-"
check "the file is there" until_true has_file txt
check "it is the screen" until_true grep -q "Heat gpu" "$dir"/nvmtop-*.txt
check "without the question" sh -c "! grep -q 'save:' '$dir'/nvmtop-*.txt"
keys p c
check "c: as CSV" until_true has_file csv
keys p s
check "s: as a picture" until_true has_file svg
check "it is whole" until_true grep -q '</svg>' "$dir"/nvmtop-*.svg
# rows and columns are counted from 1: a tab, a row, the wheel over the charts
axis() {
	screen | sed -n 3p
}
axis_differs() {
	[ "$(axis)" != "$was" ]
}
was=$(axis)
text_bytes "$(printf '\033[<64;90;10M')"
check "the wheel zooms" until_true axis_differs
text_bytes "$(printf '\033[<0;20;33M\033[<0;20;33m')"
check "a click on a tab shows its view" wait_for "Clock  "
text_bytes "$(printf '\033[<0;3;33M\033[<0;3;33m')"
wait_for "EMC"
text_bytes "$(printf '\033[<0;4;6M\033[<0;4;6m')"
check "a click on a name chooses the row" wait_for ">"
col=$(axis | sed 's/ 2 .*//' | wc -m)
text_bytes "$(printf '\033[<0;%d;3M\033[<0;%d;3m' "$((col + 1))" "$((col + 1))")"
check "a click on a mark goes there" wait_gone "14.0 / 14.0"
text_bytes "$(printf '\033[<0;60;10M\033[<32;80;10M\033[<0;80;10m')"
check "dragging selects" wait_for "selected"
keys Escape
wait_gone "selected"
leave
check "the terminal is as it was" usable_terminal
pty_end
