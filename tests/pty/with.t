#!/bin/sh
# Two traces: shown, moved, played, and closed.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
traces=$(cd "${NVMTOP_SRC:-.}/tests/traces" && pwd)

pty_begin 120x40 xterm-256color
cp "$traces/views.nvmt" "$tmp/a.nvmt"
cp "$traces/demo.nvmt" "$tmp/b.nvmt"
run "clear; cd $tmp; $program --board demo --replay a.nvmt --with b.nvmt"
check "B is named, with the alignment" wait_for "B  b.nvmt   aligned at mark 1"
check "A is named" wait_for "A a.nvmt"
check "the difference in view is shown" wait_for "B  mean +48 %  21.3 %"
keys '}'
check "} moves B" wait_for "moved by +"
keys '{' '{'
check "{ moves it back" wait_for "moved by -"
keys Home
wait_for " / 45.9"
keys '>' '>' '>' '>' '>' '>' '>' Space
check "both play to the end" wait_for "45.9 / 45.9"
keys 9
check "the Board view shows B" wait_for "─ B ─"
check "it lists signals of one trace only" wait_for "Only in A"
keys 1 Escape
check "Esc says that there is no live screen" wait_for "o opens another trace"
keys o
wait_for "a.nvmt"
keys Enter
wait_for "paused"
check "opening another trace closes B" wait_gone "B  mean"
keys q
check "q quits" wait_prompt
run "clear; $program --replay a.nvmt --with b.nvmt --align nonsense"
check "a missing mark is reported before the screen opens" wait_for "neither trace has such a mark"
pty_end
