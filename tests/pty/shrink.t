#!/bin/sh
# A trace file that shrinks while the screen shows it: the screen shows what is left and reports where
# it was truncated.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

pty_begin 120x30
$program cut "${NVMTOP_SRC:-.}/tests/traces/demo.nvmt" --from 0 -o "$tmp/demo.nvmt" || exit 99
size=$(wc -c <"$tmp/demo.nvmt")

shown() {
	run "$program --replay $tmp/demo.nvmt"
	wait_for "q quit" && wait_for " EMC "
}

check "the trace is shown" shown
truncate -s $((size / 2)) "$tmp/demo.nvmt"
check "the screen reports the truncation and the new size" wait_for "truncated to $((size / 2)) bytes"
keys - + + + + + Left Home End
check "the rest is shown" wait_for " EMC "
truncate -s 0 "$tmp/demo.nvmt"
keys Left Home
check "an empty file is reported too" wait_for "truncated to 0 bytes"
keys Right + q
check "q quits as usual" wait_prompt 0
check "the terminal is usable" usable_terminal
pty_end
