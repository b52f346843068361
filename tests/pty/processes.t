#!/bin/sh
# Processes: filtered, and killed only after confirmation.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
# A unique name.
alive() { kill -0 "$victim" 2>/dev/null; }
dead() { ! alive; }

pty_begin 110x30 xterm-256color
sleeper=$tmp/victim-$$
cp "$(command -v sleep)" "$sleeper"
"$sleeper" 600 &
victim=$!
# Nothing else may have its whole name in a command line, what looks for it on the screen neither.
run "clear; $program"
wait_for "q quit"
keys 8
check "8 shows the processes" wait_for "GPU mem"
keys f
check "f opens the filter prompt" wait_for "filter:"
text_bytes "victim-$$"
check "only matches are listed" wait_for "1 process,"
keys Enter
wait_for "filter: \"victim"
keys Down
keys x
check "x asks first" wait_for "Kill victim-"
keys n
check "n cancels" wait_gone "Kill victim-"
check "the process lives" alive
keys x
wait_for "Kill victim-"
keys Escape
check "Esc cancels" wait_gone "Kill victim-"
check "the process still lives" alive
keys x
wait_for "Kill victim-"
keys y
check "y reports the signal" wait_for "SIGTERM"
check "the process has ended" until_true dead
kill -KILL "$victim" 2>/dev/null # in case it has not
wait "$victim" 2>/dev/null
keys Escape
check "Esc clears the filter" wait_for "PID"
keys t
check "t shows a tree" wait_for "processes"
keys M
check "M sorts by memory" wait_for "RSS"
keys 1
check "back to the overview" wait_for "Load"
keys q
wait_prompt 0

# those of a demo are nobody's: a made-up process must not look as if it could be killed
run "clear; $program --demo --view processes"
wait_for "10 processes"
keys Down
wait_for "Enter command"
check "the demo: the key bar has no kill" off_screen "x kill"
keys x
check "the demo: x says that they are simulated" wait_for "are simulated"
check "the demo: x asks nothing" off_screen "SIGTERM"
keys q
wait_prompt 0
pty_end
