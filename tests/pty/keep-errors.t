#!/bin/sh
# Ring mode on a narrow terminal, and what is told of a file that cannot be written.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS

pty_begin 80x24
dir=$tmp/folder
mkdir "$dir"
run "cd $dir; clear; $program --demo --record --keep 1 narrow.nvmt"
check "w is on a line of 80 columns, too" wait_for "w write"
keys s
check "and marks are counted" wait_for "1 mark"
keys q
wait_prompt
run "clear; $program --demo --max-size 100k"
wait_for "q quit"
keys r
check "why a recording ended is said first" wait_for "max-size is reached: saved nvmtop-"
keys q
check "and again when the screen has gone" wait_for "has reached --max-size"
wait_prompt
mkdir "$dir/gone"
run "cd $dir/gone; clear; $program --demo --keep 1"
wait_for "q quit"
rmdir "$dir/gone"
keys w
check "what cannot be written is told" wait_for "cannot record"
keys q
check "and by the exit status, too" wait_prompt 1
check "with the sentence" on_screen "cannot record"
pty_end
