#!/bin/sh
# The first minute: where a replay begins and ends, what o lists, and the first picture, which waits for no sensor.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"
src=$(cd "${NVMTOP_SRC:-.}" && pwd)
NVMTOP_BOARDS=${NVMTOP_BOARDS:-$src/boards}
export NVMTOP_BOARDS
case $program in /*) ;; *) program=$(pwd)/$program ;; esac

pty_begin 110x34
dir=$tmp/work
mkdir -p "$dir/rec/sub"
cd "$dir" || exit 99
cp "$src/tests/traces/demo.bin" rec/a.bin
cp "$src/tests/traces/demo.bin" rec/sub/b.bin

run "cd $dir; clear; $program --board nix"
check "a board that does not exist is told after the screen" wait_for 'unknown board "nix"'
check "with its status" wait_prompt 2
check "the terminal is as it was" usable_terminal

run "clear; $program --replay rec/a.bin"
wait_for "q quit"
keys Escape
check "Esc does not leave a file that was opened by --replay" wait_for "q quits, o opens another trace"
check "it is still there" on_screen "a.bin"
keys o
check "o lists the folder of that file" wait_for "> a.bin"
check "with the folders in it" on_screen "sub"
keys Down Down Enter
check "Enter on one lists that" wait_for "> b.bin"
keys Enter
check "and opens what is in it" wait_gone "> b.bin"
check "by its name" on_screen "b.bin"
keys q
wait_prompt 0

# As a user who is not root, whoever runs the tests.
as=
[ "$(id -u)" -ne 0 ] || as="setpriv --reuid=65534 --clear-groups"
cp -a "$roots/agx_orin-36" locked && chmod -R u+w locked && cp "$program" mine && chmod 755 "$tmp" "$dir" || exit 99
chmod 700 locked/sys/kernel/debug
[ -n "$as" ] || chmod 0 locked/sys/kernel/debug
run "clear; HOME=/nowhere $as ./mine --sysroot locked"
check "what root could read is told once, and how" wait_for "signals need root, such as EMC: sudo nvmtop-setup"
keys Up
check "until the next key" wait_gone "signals need root"
keys q
wait_prompt 0
chmod 700 locked/sys/kernel/debug

need_slowfs
mkdir -p root/sys
cp -a "$roots/agx_orin-36" base && chmod -R u+w base || exit 99
mv base/proc base/etc root/
: >none
slow_mount base/sys none root/sys
type=/devices/virtual/thermal/thermal_zone5/type
rule "$type hang"
run "clear; $program --sysroot root"
check "the first picture waits for no sensor" wait_for "Starting"
check "and tells the keys" on_screen "q quit"
keys r
rule "$type clear"
check "what was asked for meanwhile is done when the board is open" wait_for "REC nvmtop-"
keys r
wait_for "saved"
keys q
check "q ends it" wait_prompt 0
rule "$type hang"
run "clear; $program --sysroot root"
wait_for "Starting"
keys q
check "q ends it while it starts" wait_for "does not answer"
rule "$type clear"
check "when the kernel lets it" wait_prompt 0
pty_end
