#!/bin/sh
# On a terminal: a recording ends, and its disk takes long to say that it has it.
# The screen goes on meanwhile.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
patience=40
tmp=$(mktemp -d "${TMPDIR:-/tmp}/nvmtop-pty.XXXXXX") || exit 99
trap 'pty_stop; rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP

# Whoever asks the disk waits for as long as the file is there.
cat >"$tmp/slow.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static void wait_for_it(void)
{
	const char *file = getenv("SLOWDISK");
	while (file && access(file, F_OK) == 0)
		usleep(10000);
}
int fsync(int fd)
{
	wait_for_it();
	return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}
int fdatasync(int fd)
{
	wait_for_it();
	return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
END
${CC:-cc} -shared -fPIC -o "$tmp/slow.so" "$tmp/slow.c" -ldl 2>/dev/null || skip_all "there is no compiler here"
LD_PRELOAD=$tmp/slow.so $program --version >"$tmp/out" 2>&1
grep -q '^nvmtop' "$tmp/out" && ! grep -qi preload "$tmp/out" || skip_all "$program cannot be preloaded"

whole() {
	[ "$(find "$1" -name '*.part*' | wc -l)" -eq 0 ] && [ "$(find "$1" -name 'nvmtop-*.bin' | wc -l)" -eq "$2" ]
}
begun() {
	find "$1" -name '*.part' -size +20k | grep -q .
}
# What the clock on the screen says; it stands on every line that has one.
clock() {
	screen | grep -o '[0-9][0-9]:[0-9][0-9]:[0-9][0-9]' | head -n 1
}
clock_moves() {
	[ "$(clock)" != "$1" ]
}

pty_begin 150x40
dir=$tmp/work
mkdir "$dir"
run "cd $dir; clear; SLOWDISK=$tmp/slow LD_PRELOAD=$tmp/slow.so $program --demo"
wait_for "q quit"
keys r
check "recording" wait_for "REC"
until_true begun "$dir"
touch "$tmp/slow"
keys r
check "the end is shown" wait_for "completing nvmtop-"
check "nothing is recorded any more" wait_gone "REC"
check "the file is not complete" begun "$dir"
check "time goes on" until_true clock_moves "$(clock)"
keys p
check "keys go on" wait_for "Processes"
keys 1
keys r
check "another one has to wait, which is said" wait_for "still being completed"
rm "$tmp/slow"
check "it is complete then" until_true whole "$dir" 1
check "which is said" wait_for "saved nvmtop-"
check "and is over" wait_gone "completing nvmtop-"
keys r
check "another one can begin" wait_for "REC"
until_true begun "$dir"
touch "$tmp/slow"
keys q
check "the end of the screen waits and says for what" wait_for "nvmtop: completing nvmtop-"
rm "$tmp/slow"
check "and ends" wait_prompt 0
check "with a summary" wait_for "nvmtop: recorded"
check "and a whole file" whole "$dir" 2
pty_end
