#!/bin/sh
# A slow or hanging disk with the list of traces and a trace opened from it: the screen says what it
# waits for, keys work and a recording continues. No timing is involved: the disk responds only after
# the test has seen the screen, so a screen that waited for the disk would wait for ever.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"
src=$(cd "${NVMTOP_SRC:-.}" && pwd)
case $program in /*) ;; *) program=$(pwd)/$program ;; esac
need_slowfs

pty_begin 80x24
plain_demo # no marks except those of the test
dir=$tmp/work
mkdir -p "$dir/disk" "$dir/base/far" "$dir/near"
cd "$dir" || exit 99
cp "$src/tests/traces/views.nvmt" base/far/far.nvmt
cp "$src/tests/traces/small.nvmt" near/near.nvmt
touch -d '2030-01-01' base/far/far.nvmt # first in the list
ln -s ../disk/far/far.nvmt near/far.nvmt
echo "/far/* whole" >rules
slow_mount base rules disk
# begin FOLDER
begin() {
	run "cd $dir/$1; clear; $program --demo"
	wait_for "q quit"
}
left() {
	[ "$(T display-message -p '#{alternate_on}')" = 0 ]
}
size_of() {
	wc -c 2>/dev/null <"$(echo "$dir"/near/nvmtop-*.nvmt)" || echo 0
}
# grows: the recording gets larger from now on
larger() {
	[ "$(size_of)" -gt "$before" ]
}
grows() {
	before=$(size_of)
	until_true larger
}
complete() {
	for f in "$dir"/near/nvmtop-*.nvmt; do
		[ -f "$f" ] && python3 "$src/tests/tools/nvmt-log.py" --brief "$f" | tail -n 1 | grep -q "\"reason\"" && return
	done
	return 1
}

# A directory that hangs.
folder_hangs() {
	begin disk/far
	rule "/far list:hang"
	keys o
	check "$1: the list shows that it is loading" wait_for "Reading this folder"
	check "$1: not that there are no traces" off_screen "no saved traces"
	keys '?'
	check "$1: the list of keys opens" wait_for "Tab         next view"
	keys Escape
	wait_gone "Tab         next view"
	keys 2
	check "$1: another view opens" wait_for "Clock  "
	keys o
	check "$1: the list opens again" wait_for "Reading this folder"
	keys Escape
	check "$1: Esc closes it" wait_gone "Reading this folder"
	keys o
	wait_for "Reading this folder"
	rule "/far clear"
	check "$1: the list appears when the directory responds" wait_for "> far.nvmt"
	check "$1: the list is complete" wait_gone "Reading this folder"
	keys Escape
	wait_gone "> far.nvmt"
	rule "/far list:hang"
	keys o
	wait_for "Reading this folder"
	keys q
	check "$1: q restores the terminal" until_true left
	check "$1: the reason for not exiting is shown" wait_for "a disk, a driver or another program"
	rule "/far clear"
	check "$1: it exits" wait_prompt 0
	check "$1: the terminal is restored" usable_terminal
}

# 1: the machine was so slow meanwhile that not all rows had room in memory.
exited() {
	last_line '[0]$' || { last_line '[1]$' && on_screen 'rows were lost because'; }
}

# A file that hangs, during a recording.
file_hangs() {
	begin near
	keys r
	wait_for "REC"
	rule "/far/far.nvmt open:hang"
	keys o
	check "$1: the list names the file it waits for" wait_for "Reading this folder: far.nvmt"
	check "$1: the recording continues" grows
	rule "/far/far.nvmt clear"
	check "$1: the file responds" wait_for "> far.nvmt"
	wait_gone "Reading this folder"
	check "$1: other files are listed" wait_for "near.nvmt"
	rule "/far/far.nvmt hang"
	keys Enter
	check "$1: the trace is being opened" wait_for "Opening far.nvmt"
	check "$1: the recording still continues" grows
	keys Down
	check "$1: the list still works" wait_gone "> far.nvmt"
	keys Up
	wait_for "> far.nvmt"
	keys Escape
	check "$1: Esc cancels opening" wait_gone "Opening"
	check "$1: the list stays" wait_for "> far.nvmt"
	keys Enter
	wait_for "Opening far.nvmt"
	keys 2
	check "$1: another view opens" wait_for "Clock  "
	keys S
	wait_for "label of the mark:"
	rule "/far/far.nvmt clear"
	text_bytes "while"
	check "$1: typing is not interrupted" wait_for "label of the mark: while"
	keys Enter
	check "$1: then the trace is shown" wait_for "45.9 / 45.9"
	check "$1: nothing is being opened" off_screen "Opening"
	keys Escape
	check "$1: Esc returns to live" wait_gone "45.9 / 45.9"
	check "$1: the mark was set there" wait_for "1 mark"
	check "$1: the recording continues after it" grows
	# Slow, but not hanging.
	rule "/far/far.nvmt open:wait=400000"
	keys o
	check "$1: a slow list appears" wait_for "> far.nvmt"
	wait_gone "Reading this folder"
	keys Enter
	check "$1: a slow trace opens" wait_for "45.9 / 45.9"
	keys Escape
	wait_gone "45.9 / 45.9"
	rule "/far/far.nvmt clear"
	keys o
	wait_for "> far.nvmt"
	wait_gone "Reading this folder"
	rule "/far/far.nvmt hang"
	keys Enter
	wait_for "Opening far.nvmt"
	keys q
	check "$1: q restores the terminal while opening" until_true left
	check "$1: q completes the recording" until_true complete
	rule "/far/far.nvmt clear"
	check "$1: it exits after that" until_true exited
	check "$1: the terminal is usable" usable_terminal
	rm -f "$dir"/near/nvmtop-*
}

waits() {
	for p in $(pgrep -P "$(T display-message -p '#{pane_pid}')"); do
		cat /proc/"$p"/task/*/comm 2>/dev/null | grep -q nvmtop-job && return
	done
	return 1
}

# Before the screen appears.
start_hangs() {
	for traces in "far.nvmt" "near.nvmt --with far.nvmt"; do
		rule "/far/far.nvmt hang"
		run "cd $dir/near; clear; $program --replay $traces"
		until_true waits
		keys C-c
		check "$traces: Ctrl-C ends the wait" wait_for "stopped before the recording arrived"
		rule "/far/far.nvmt clear"
		check "$traces: exit status 1" wait_prompt 1
	done
	run "clear; $program --replay far.nvmt"
	check "the trace is shown when the disk responds" wait_for "45.9 / 45.9"
	keys q
	wait_prompt 0
}

start_hangs
folder_hangs 80x24
file_hangs 80x24
T resize-window -x 120 -y 40
folder_hangs 120x40
file_hangs 120x40
run "cd $dir"
wait_prompt
slow_release
check "nothing is left mounted" sh -c "! grep -q '$dir' /proc/mounts"
pty_end
