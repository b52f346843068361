#!/bin/sh
# The first minute: where a replay starts and ends, what o lists, and a first frame that does not wait
# for sensors.
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
cp "$src/tests/traces/demo.nvmt" rec/a.nvmt
cp "$src/tests/traces/demo.nvmt" rec/sub/b.nvmt

run "cd $dir; clear; $program --board nix"
check "an unknown board is reported after the screen" wait_for 'unknown board "nix"'
check "exit status 2" wait_prompt 2
check "the terminal is restored" usable_terminal

mkdir -p cfg/nvmtop/boards
printf 'board mine\ntitle Mine\nslow nonsense x\n' >cfg/nvmtop/boards/mine.board
run "clear; XDG_CONFIG_HOME=$dir/cfg $program --sysroot $roots/agx_orin-36"
check "a board file of the user that is ignored is named, with its line" wait_for "board file ignored: $dir/cfg/nvmtop/boards/mine.board:3: "
keys q
wait_prompt 0

run "clear; $program --replay rec/a.nvmt"
wait_for "q quit"
keys Escape
check "Esc does not close a file opened by --replay" wait_for "q quits, o opens another trace"
check "it is still shown" wait_for "a.nvmt"
keys o
check "o lists the directory of that file" wait_for "> a.nvmt"
check "its subdirectories are listed" wait_for "sub"
keys Down Down Enter
check "Enter on a directory lists it" wait_for "> b.nvmt"
keys Enter
check "Enter opens a file in it" wait_gone "> b.nvmt"
check "its name is shown" wait_for "b.nvmt"
keys q
wait_prompt 0

# As a non-root user, even if root runs the tests: with copies of what may be in a folder of root's alone.
as=
[ "$(id -u)" -ne 0 ] || as="setpriv --reuid=65534 --clear-groups"
cp -a "$roots/agx_orin-36" locked && cp "${program##* }" mine && cp -r "$NVMTOP_BOARDS" boards &&
	chmod -R a+rX,u+w locked mine boards && chmod 755 "$tmp" "$dir" || exit 99
chmod 0 locked/sys/kernel/debug
# It may have its way to the program for itself, not for one that it starts.
if $as test -x "$dir/mine"; then
	run "clear; HOME=/nowhere NVMTOP_BOARDS=$dir/boards $as ${EMU:-} ./mine --sysroot locked"
	check "signals that need root are reported once, with the remedy" \
		wait_for "signals need root, such as EMC: sudo nvmtop-setup"
	keys Up
	check "until a key is pressed" wait_gone "signals need root"
	keys q
	wait_prompt 0
else
	skip "signals that need root are reported" "nobody else gets to $dir: run it as another user, or with TMPDIR elsewhere"
fi
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
check "the first frame does not wait for sensors" wait_for "Starting"
check "it shows the keys" wait_for "q quit"
keys r
rule "$type clear"
check "keys pressed meanwhile take effect when the board is open" wait_for "REC nvmtop-"
keys r
wait_for "saved"
keys q
check "q quits" wait_prompt 0
rule "$type hang"
run "clear; $program --sysroot root"
wait_for "Starting"
keys q
check "q during the start reports what it waits for" wait_for "does not answer"
rule "$type clear"
check "it exits when the kernel responds" wait_prompt 0
pty_end
