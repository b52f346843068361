#!/bin/sh
# A disk that hangs during a recording and at its end: it is reported, a second `q` ends the wait, and
# the terminal is restored before a .nvmt is written.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"
src=$(cd "${NVMTOP_SRC:-.}" && pwd)
NVMTOP_BOARDS=${NVMTOP_BOARDS:-$src/boards}
export NVMTOP_BOARDS
case $program in /*) ;; *) program=$(pwd)/$program ;; esac

pty_begin 150x30 # messages of the shell in one line
DISK=$(cd "$tmp" && pwd -P)
export DISK
if ! ${CC:-cc} -shared -fPIC -o "$tmp/disk.so" "$src/tests/tools/slowdisk.c" -ldl 2>/dev/null ||
	! LD_PRELOAD=$tmp/disk.so $program --version 2>&1 | grep -q '^nvmtop' ||
	LD_PRELOAD=$tmp/disk.so $program --version 2>&1 | grep -qi preload; then
	skip_all 'nothing can be preloaded here: build without sanitizers, for this machine'
fi
slow="DISK=$DISK LD_PRELOAD=$tmp/disk.so $program"
run "cd $tmp"
wait_prompt 0
hangs() { : >"$tmp/$1.hangs"; }
answers() { rm "$tmp/$1.hangs"; }
left() { [ "$(T display-message -p '#{alternate_on}')" = 0 ]; }
# Line editing and echo are on.
given_back() {
	modes=" $(stty -a <"$(T display-message -p '#{pane_tty}')" | tr ';\n' '  ') "
	case $modes in *" icanon "*) case $modes in *" echo "*) return 0 ;; esac ;; esac
	return 1
}
# Before it would by itself, which with --keep is after 10 s.
ended_by_it() {
	began=$(date +%s%N)
	wait_prompt "$1" && test $(($(date +%s%N) - began)) -lt 8000000000
}

# With the screen.
run "clear; $slow --demo"
wait_for "q quit"
keys r
wait_for "REC"
hangs write
check "the screen reports that the disk does not respond" wait_for "the disk does not respond"
answers write
check "the report disappears when it does" wait_gone "the disk does not respond"
hangs write
wait_for "the disk does not respond"
keys q
until_true left
wait_for "waiting for it, Ctrl-C ends"
keys q
check "a second q ends the wait" ended_by_it 1
answers write
check "the terminal is restored" usable_terminal

# Without the screen.
run "clear; $slow record --demo end.nvmt"
wait_for "q stop"
hangs write
sleep 0.5
keys q
wait_for "waiting for it, Ctrl-C ends"
keys q
check "record: a second q ends the wait" ended_by_it 1
check "record: the unwritten data is reported" wait_for "of end.nvmt are not written"
answers write
check "record: the terminal is restored" usable_terminal
run "clear; $slow record --demo --keep 1 kept.nvmt"
wait_for "q stop"
hangs write
keys w
sleep 1.5
keys q
wait_for "waiting for it, Ctrl-C ends"
keys q
check "record --keep: a second q ends the wait" ended_by_it 1
check "record --keep: the unwritten data is reported" wait_for "of kept.nvmt are not written"
answers write
check "record --keep: the terminal is restored" usable_terminal

# Version 1.
hangs convert
run "clear; $slow record --demo run.bin"
wait_for "q stop"
sleep 0.5
keys q
until_true test -e "$tmp/run.bin.tmp"
check "the terminal is restored before a .bin is written" given_back
keys C-c
wait_for "^C"
answers convert
check "Ctrl-C ends the wait" wait_prompt 1
check "the command to make it is printed" wait_for "export nvmt1 run.nvmt -o run.bin"
check "the log exists" test -s "$tmp/run.nvmt" -a ! -e "$tmp/run.bin"
run "clear; $program run.bin"
check "what it is made of is said" wait_for "run.bin does not exist, but run.nvmt"
wait_prompt 1
pty_end
