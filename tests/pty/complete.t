#!/bin/sh
# On a terminal: a recording begins, and its folder takes long to answer; it ends, and its
# disk takes long to say that it has it.  The screen goes on meanwhile.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
patience=40
tmp=$(mktemp -d "${TMPDIR:-/tmp}/nvmtop-pty.XXXXXX") || exit 99
trap 'pty_stop; rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP

# Whoever asks the disk waits for as long as the file is there; who asks how much room is
# left, before a file is made, for as long as the other one is.
cat >"$tmp/slow.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>
static void wait_for(const char *file)
{
	while (file && access(file, F_OK) == 0)
		usleep(10000);
}
static void wait_for_it(void)
{
	wait_for(getenv("SLOWDISK"));
}
int fstatvfs(int fd, struct statvfs *v)
{
	wait_for(getenv("SLOWFOLDER"));
	return ((int (*)(int, struct statvfs *))dlsym(RTLD_NEXT, "fstatvfs"))(fd, v);
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
${CC:-cc} -shared -fPIC -o "$tmp/slow.so" "$tmp/slow.c" -ldl 2>/dev/null || skip_all "there is no compiler here: ./bootstrap installs one"
LD_PRELOAD=$tmp/slow.so $program --version >"$tmp/out" 2>&1
grep -q '^nvmtop' "$tmp/out" && ! grep -qi preload "$tmp/out" || skip_all "$program cannot be preloaded: build without sanitizers"

whole() {
	[ "$(find "$1" -name '*.part*' | wc -l)" -eq 0 ] && [ "$(find "$1" -name 'nvmtop-*.nvmt' | wc -l)" -eq "$2" ]
}
begun() {
	newest=$(find "$1" -name '*.nvmt' | sort | tail -n 1)
	[ "$newest" ] && [ "$(wc -c <"$newest")" -gt 15000 ]
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
show() {
	run "cd $dir; clear; SLOWDISK=$tmp/slow SLOWFOLDER=$tmp/folder LD_PRELOAD=$tmp/slow.so $program --demo"
	wait_for "q quit"
}

# ---- it begins
touch "$tmp/folder"
show
keys r
check "a folder that does not answer is told" wait_for "does not answer yet"
check "time goes on meanwhile" until_true clock_moves "$(clock)"
keys p
check "so do keys" wait_for "Processes"
keys 1
check "nothing is recorded" off_screen "REC"
rm "$tmp/folder"
check "when it answers the recording begins" wait_for "REC nvmtop-"
check "which is said" wait_for "the recording has started"
until_true begun "$dir"
keys r
check "and is saved" wait_for "saved nvmtop-"
check "whole" until_true whole "$dir" 1
touch "$tmp/folder"
keys r
check "another one waits" wait_for "does not answer yet"
keys r
check "it need not be waited for" wait_for "nothing was recorded"
rm "$tmp/folder"
keys r
check "another one begins" wait_for "REC nvmtop-"
until_true begun "$dir"
keys r
wait_for "saved nvmtop-"
check "and what was made for the other is removed" until_true whole "$dir" 2
touch "$tmp/folder"
keys r
check "the next one waits, too" wait_for "does not answer yet"
keys q
check "the screen ends without it, and with another exit status" wait_prompt 1
check "and says so" on_screen "nothing was recorded"
check "nothing is left of it" whole "$dir" 2
rm -f "$tmp/folder" "$dir"/*

# ---- it cannot begin
mkdir "$tmp/gone"
run "cd $tmp/gone; clear; $program --demo"
wait_for "q quit"
rmdir "$tmp/gone"
keys r
check "where no file can be made it says so" wait_for "cannot record"
keys q
check "the exit status says it, too" wait_prompt 1
check "with the sentence" on_screen "cannot record"

# ---- it ends
show
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
check "the end of the screen waits and says for what" wait_for "waiting for it, Ctrl-C ends without it"
rm "$tmp/slow"
check "and ends" wait_prompt 0
check "with a summary" wait_for "nvmtop: recorded"
check "and a whole file" whole "$dir" 2

# ---- one fails, the next does not
show
keys r
wait_for "REC"
until_true begun "$dir"
rm "$dir"/*.nvmt
check "the first goes on in another file" wait_for ".2.nvmt"
keys r
check "and is told to have ended early" wait_for "ended early"
keys r
wait_for "REC"
wait_gone "ended early"
until_true begun "$dir"
keys q
check "the exit status is that of the first" wait_prompt 1
check "and the sentence, too" on_screen "ended early"
pty_end
