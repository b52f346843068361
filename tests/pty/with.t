#!/bin/sh
# Two traces on a terminal: they are shown, moved, played, and left again.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
traces=$(cd "${NVMTOP_SRC:-.}/tests/traces" && pwd)

pty_begin 120x40 xterm-256color
cp "$traces/views.bin" "$tmp/a.bin"
cp "$traces/demo.bin" "$tmp/b.bin"
run "clear; cd $tmp; $program --board demo --replay a.bin --with b.bin"
check "B is named, and where the two meet" wait_for "B  b.bin   aligned at mark 1"
check "so is A" wait_for "A a.bin"
check "with what is different, of what is in view" wait_for "B  mean +48 %  21.3 %"
keys '}'
check "} moves B" wait_for "moved by +"
keys '{' '{'
check "{ moves it back" wait_for "moved by -"
keys Home
wait_for " / 45.9"
keys '>' '>' '>' '>' '>' '>' '>' Space
check "both are played to the end" wait_for "45.9 / 45.9"
keys 9
check "the board view tells of B" wait_for "─ B ─"
check "and which signals only one has" wait_for "Only in A"
keys 1 Escape
check "there is no live screen to go back to" wait_for "o opens another trace"
keys o
wait_for "a.bin"
keys Enter
wait_for "paused"
check "a trace that is opened then is alone" wait_gone "B  mean"
keys q
check "q ends it" wait_prompt
run "clear; $program --replay a.bin --with b.bin --align nonsense"
check "a mark that is not there is told before the screen opens" wait_for "neither trace has such a mark"
pty_end
