#!/bin/sh
# A disk that is slow, or does not answer at all, below the list of traces and a trace that
# is opened from it: the screen says what it waits for, every key is answered meanwhile, and
# a recording goes on.  Nothing here has a time: the disk answers only after the test has
# seen what came before, so that a screen that waited for it would wait for ever.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"
src=$(cd "${NVMTOP_SRC:-.}" && pwd)
case $program in /*) ;; *) program=$(pwd)/$program ;; esac
need_slowfs

pty_begin 80x24
plain_demo # no marks but those of the test
dir=$tmp/work
mkdir -p "$dir/disk" "$dir/base/far" "$dir/near"
cd "$dir" || exit 99
cp "$src/tests/traces/views.bin" base/far/far.bin
cp "$src/tests/traces/small.bin" near/near.bin
touch -d '2030-01-01' base/far/far.bin # the first in the list
ln -s ../disk/far/far.bin near/far.bin
echo "/far whole" >rules
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
# grows: what is recorded gets more from now on
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

# A folder that does not answer.
folder_hangs() {
	begin disk/far
	rule "/far list:hang"
	keys o
	check "$1: the list says that it is read" wait_for "Reading this folder"
	check "$1: and not that there is nothing" off_screen "no saved traces"
	keys '?'
	check "$1: the keys" wait_for "Tab         next view"
	keys Escape
	wait_gone "Tab         next view"
	keys 2
	check "$1: another view" wait_for "Clock  "
	keys o
	check "$1: the list again" wait_for "Reading this folder"
	keys Escape
	check "$1: Esc leaves it" wait_gone "Reading this folder"
	keys o
	wait_for "Reading this folder"
	rule "/far clear"
	rule "/far whole"
	check "$1: when the folder has answered, it is there" wait_for "> far.bin"
	check "$1: all of it" wait_gone "Reading this folder"
	keys Escape
	wait_gone "> far.bin"
	rule "/far list:hang"
	keys o
	wait_for "Reading this folder"
	keys q
	check "$1: q gives the terminal back" until_true left
	check "$1: why there is no end yet is said" wait_for "a disk or a driver does not answer"
	rule "/far clear"
	rule "/far whole"
	check "$1: the end" wait_prompt 0
	check "$1: the terminal is as it was" usable_terminal
}

# A file that does not answer, while a recording is made.
file_hangs() {
	begin near
	keys r
	wait_for "REC"
	rule "/far/far.bin open:hang"
	keys o
	check "$1: the list says for which file it waits" wait_for "Reading this folder: far.bin"
	check "$1: the recording goes on" grows
	rule "/far/far.bin clear"
	check "$1: the file has answered" wait_for "> far.bin"
	wait_gone "Reading this folder"
	check "$1: another file" on_screen "near.bin"
	rule "/far/far.bin hang"
	keys Enter
	check "$1: the trace is being opened" wait_for "Opening far.bin"
	check "$1: still the recording goes on" grows
	keys Down
	check "$1: the list goes on" wait_gone "> far.bin"
	keys Up
	wait_for "> far.bin"
	keys Escape
	check "$1: Esc opens nothing after all" wait_gone "Opening"
	check "$1: and leaves the list" on_screen "> far.bin"
	keys Enter
	wait_for "Opening far.bin"
	keys 2
	check "$1: another view" wait_for "Clock  "
	keys S
	wait_for "label of the mark:"
	rule "/far/far.bin clear"
	text_bytes "while"
	check "$1: who types is not disturbed" wait_for "label of the mark: while"
	keys Enter
	check "$1: then the trace is there" wait_for "45.9 / 45.9"
	check "$1: and nothing is being opened" off_screen "Opening"
	keys Escape
	check "$1: Esc is back to live" wait_gone "45.9 / 45.9"
	check "$1: where the mark was set" wait_for "1 mark"
	check "$1: and the recording goes on" grows
	# Slow, but not for ever.
	rule "/far/far.bin open:wait=400000"
	keys o
	check "$1: a slow list" wait_for "> far.bin"
	wait_gone "Reading this folder"
	keys Enter
	check "$1: a slow trace" wait_for "45.9 / 45.9"
	keys Escape
	wait_gone "45.9 / 45.9"
	rule "/far/far.bin clear"
	keys o
	wait_for "> far.bin"
	wait_gone "Reading this folder"
	rule "/far/far.bin hang"
	keys Enter
	wait_for "Opening far.bin"
	keys q
	check "$1: q gives the terminal back while it is opened" until_true left
	check "$1: and completes the recording" until_true complete
	rule "/far/far.bin clear"
	check "$1: it ends" wait_prompt 0
	check "$1: the terminal is usable" usable_terminal
	rm -f "$dir"/near/nvmtop-*
}

waits() {
	for p in $(pgrep -P "$(T display-message -p '#{pane_pid}')"); do
		cat /proc/"$p"/task/*/comm 2>/dev/null | grep -q nvmtop-job && return
	done
	return 1
}

# Before there is a screen.
start_hangs() {
	for traces in "far.bin" "near.bin --with far.bin"; do
		rule "/far/far.bin hang"
		run "cd $dir/near; clear; $program --replay $traces"
		until_true waits
		keys C-c
		check "$traces: Ctrl-C ends the wait" wait_for "stopped before the recording arrived"
		rule "/far/far.bin clear"
		check "$traces: with a status" wait_prompt 1
	done
	run "clear; $program --replay far.bin"
	check "when the disk answers, it is shown" wait_for "45.9 / 45.9"
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
check "nothing stays mounted" sh -c "! grep -q '$dir' /proc/mounts"
pty_end
