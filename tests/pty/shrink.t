#!/bin/sh
# A trace whose file becomes shorter while the screen shows it: the screen goes on
# with what is left and says where it was cut.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

pty_begin 120x30
cp "${NVMTOP_SRC:-.}/tests/traces/demo.bin" "$tmp/demo.bin" || exit 99
chmod u+w "$tmp/demo.bin"
fast=$(od -A n -t u8 -j 56 -N 8 "$tmp/demo.bin" | tr -d ' ')
half=$((728 + fast / 2 * 98 + 11))

shown() {
	run "$program --replay $tmp/demo.bin"
	wait_for "q quit" && wait_for " EMC "
}

check "it is shown" shown
truncate -s "$half" "$tmp/demo.bin"
check "the screen says that it was cut, and where" wait_for "truncated to $half bytes"
keys - + + Left Home End
check "the rest is shown" wait_for " EMC "
truncate -s 0 "$tmp/demo.bin"
keys Left
check "also when nothing is left" wait_for "truncated to 0 bytes"
keys Right + q
check "q ends it as always" wait_prompt 0
check "the terminal is usable" usable_terminal
pty_end
