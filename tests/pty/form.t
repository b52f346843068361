#!/bin/sh
# Appearance on a real terminal: themes, screen of settings, saved settings, mouse, copies of the screen.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

src=$(cd "${NVMTOP_SRC:-.}" && pwd)
NVMTOP_BOARDS=${NVMTOP_BOARDS:-$src/boards}
export NVMTOP_BOARDS
trace=$src/tests/traces/demo.nvmt
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
check "24-bit colour" until_true coloured '48;2;16;17;21'
leave
check "no reply to a query is left on the screen" off_screen rgb:
show "--replay $trace --theme light --color 256"
check "256 colours" until_true coloured '48;5;231'
leave
show "--replay $trace --theme mono"
check "no colours" until_true not_coloured '38;'
leave

show "--replay $trace"
check "the mouse is on" until_true mouse_is 1
keys F2
check "F2 opens the screen of settings" wait_for "Settings"
keys Right
check "another theme, live" until_true coloured '48;2;0;0;0'
keys Down Down Down Right
check "the mouse is off, live" until_true mouse_is 0
keys Escape
wait_gone "Settings"
keys Down Down H
check "H hides the chosen row" wait_for "CPU is hidden"
keys z
check "z shows one alone" wait_gone "Heat gpu"
keys Escape # two at once are one key with Alt
wait_for "Heat gpu"
check "settings are saved while the screen runs" wait_file "$conf" "hide.overview = cpu.util"
keys F2
wait_for "Settings"
check "the screen of settings shows the history" wait_for "10 min"
keys F2
wait_gone "Settings"
was_inode=$(stat -c %i "$conf")
leave
check "the file is not written again on exit" [ "$(stat -c %i "$conf")" = "$was_inode" ]
check "saved: the theme" grep -qx 'theme = high-contrast' "$conf"
check "saved: the mouse" grep -qx 'mouse = no' "$conf"
check "saved: the row" grep -qx 'hide.overview = cpu.util' "$conf"
show "--replay $trace"
check "the theme is restored" until_true coloured '48;2;0;0;0'
check "the mouse setting is restored" mouse_is 0
leave
show "--replay $trace --no-config"
check "--no-config ignores them" until_true mouse_is 1
leave
show "--replay $trace --no-config --no-mouse"
check "--no-mouse does not use the mouse" mouse_is 0
leave

mkdir -p "$dir/ro/nvmtop/nvmtop.conf"
run "clear; env XDG_CONFIG_HOME=$dir/ro $program --replay $trace"
check "an unreadable settings file is reported" wait_for "cannot read the settings"
keys F2 Right
wait_for "high contrast"
keys F2
wait_gone "Settings"
keys q
check "failing to save the settings is reported" wait_for "cannot save the settings in"
wait_prompt

rm -rf "$dir/config"
show "--replay $trace"
keys F2 Right
check "a change is saved soon" wait_file "$conf" "theme = high-contrast"
keys Left
not_in_file() {
	! in_file "$@"
}
check "reverting it is saved too" until_true not_in_file "$conf" "theme = high-contrast"
keys F2
wait_gone "Settings"
leave
cp "$trace" "$dir/demo.nvmt"
show "--replay demo.nvmt"
keys p
check "p asks" wait_for "save:"
keys t
check "t saves text" wait_for "saved nvmtop-"
check "the file exists" until_true has_file txt
check "it has the content of the screen" until_true grep -q "Heat gpu" "$dir"/nvmtop-*.txt
check "it does not contain the prompt" sh -c "! grep -q 'save:' '$dir'/nvmtop-*.txt"
keys p c
check "c saves CSV" until_true has_file csv
keys p s
check "s saves a picture" until_true has_file svg
check "the picture is complete" until_true grep -q '</svg>' "$dir"/nvmtop-*.svg
# rows and columns are 1-based: a tab, a row, the wheel over the charts
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
check "a click on a mark moves there" wait_gone "14.0 / 14.0"
text_bytes "$(printf '\033[<0;60;10M\033[<32;80;10M\033[<0;80;10m')"
check "dragging selects" wait_for "selected"
keys Escape
wait_gone "selected"
leave
check "the terminal is restored" usable_terminal
pty_end
