#!/bin/sh
# Processes on a terminal: found by a filter, asked about, and ended only by a yes.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
# A name that nothing else here has.
alive() { kill -0 "$victim" 2>/dev/null; }
dead() { ! alive; }

pty_begin 110x30 xterm-256color
sleeper=$tmp/victim-$$
cp "$(command -v sleep)" "$sleeper"
"$sleeper" 600 &
victim=$!
run "clear; $program"
wait_for "q quit"
keys 8
check "8 shows the processes" wait_for "GPU mem"
keys f
check "f asks for a text" wait_for "filter:"
text_bytes "victim-$$"
check "only what has it is left" wait_for "1 process,"
keys Enter
wait_for "filter: \"victim"
keys Down
keys x
check "x asks first" wait_for "Kill victim-$$"
keys n
check "n: no" off_screen "Kill victim-$$"
check "it lives" alive
keys x
wait_for "Kill victim-$$"
keys Escape
check "Esc: no" wait_gone "Kill victim-$$"
check "it still lives" alive
keys x
wait_for "Kill victim-$$"
keys y
check "y: it is told" wait_for "SIGTERM"
check "and has ended" until_true dead
kill -KILL "$victim" 2>/dev/null # where it has not
wait "$victim" 2>/dev/null
keys Escape
check "Esc shows all again" wait_for "PID"
keys t
check "t: a tree" wait_for "processes"
keys M
check "M: by memory" on_screen "RSS"
keys 1
check "and back to the overview" wait_for "Load"
keys q
wait_prompt 0
pty_end
