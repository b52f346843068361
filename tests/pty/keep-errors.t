#!/bin/sh
# Look-back recording on a narrow terminal, and reporting of a file that cannot be written.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS

pty_begin 80x24
dir=$tmp/folder
mkdir "$dir"
run "cd $dir; clear; $program --demo --record --keep 1 narrow.nvmt"
check "a line of 80 columns has w" wait_for "w write"
keys s
check "marks are counted" wait_for "1 mark"
keys q
wait_prompt
run "clear; $program --demo --max-size 100k"
wait_for "q quit"
keys r
check "the reason for the end of the recording is shown first" wait_for "max-size is reached: saved nvmtop-"
keys q
check "it is printed again after the screen" wait_for "has reached --max-size"
wait_prompt
mkdir "$dir/gone"
run "cd $dir/gone; clear; $program --demo --keep 1"
wait_for "q quit"
rmdir "$dir/gone"
keys w
check "a file that cannot be written is reported" wait_for "No such file"
keys q
check "exit status 1" wait_prompt 1
check "the error is printed" wait_for "No such file"
pty_end
