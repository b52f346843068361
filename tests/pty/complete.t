#!/bin/sh
# A recording whose directory is slow to respond at its start, and whose disk is slow at its end. The
# screen continues meanwhile.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
python=/usr/bin/python3
[ -x "$python" ] || python=python3
patience=40
tmp=$(mktemp -d "${TMPDIR:-/tmp}/nvmtop-pty.XXXXXX") || exit 99
trap 'pty_stop; rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP

# fsync() waits while $SLOWDISK exists; fstatvfs(), called before a file is created, waits while
# $SLOWFOLDER exists.
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
# Whether the newest file has fast rows that are older than that.
began_before() {
	newest=$(find "$dir" -name '*.nvmt' | sort | tail -n 1)
	"$python" - "$newest" "$1" "${NVMTOP_SRC:-.}/tests/tools/nvmt-log.py" <<'END'
import importlib.util, sys
spec = importlib.util.spec_from_file_location("log", sys.argv[3])
log = importlib.util.module_from_spec(spec)
spec.loader.exec_module(log)
r = log.Recording(open(sys.argv[1], "rb").read())
first = min(times[0] for _, times, _, _ in r.rows[0])
print("# %.3f s" % ((int(sys.argv[2]) - first) / 1e9))
sys.exit(first >= int(sys.argv[2]))
END
}
# The clock on the screen, from the first line that has one.
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

# ---- slow start
touch "$tmp/folder"
show
keys r
check "a directory that does not respond is reported" wait_for "does not answer yet"
check "the clock runs meanwhile" until_true clock_moves "$(clock)"
keys p
check "keys work meanwhile" wait_for "Processes"
keys 1
check "nothing is recorded" off_screen "REC"
answered=$("$python" -c 'import time; print(time.monotonic_ns())')
rm "$tmp/folder"
check "the recording starts when it responds" wait_for "REC nvmtop-"
check "a message says so" wait_for "the recording has started"
until_true begun "$dir"
keys r
check "it is saved" wait_for "saved nvmtop-"
check "the file is complete" until_true whole "$dir" 1
check "it begins at the key, not with the answer" began_before "$answered"
touch "$tmp/folder"
keys r
check "a second recording waits" wait_for "does not answer yet"
keys r
check "r cancels the wait" wait_for "nothing was recorded"
rm "$tmp/folder"
keys r
check "a third one starts" wait_for "REC nvmtop-"
until_true begun "$dir"
keys r
wait_for "saved nvmtop-"
check "the file of the cancelled one is removed" until_true whole "$dir" 2
touch "$tmp/folder"
keys r
check "the next one waits too" wait_for "does not answer yet"
keys q
check "q quits without it, with exit status 1" wait_prompt 1
check "a message says that nothing was recorded" wait_for "nothing was recorded"
check "no file of it is left" whole "$dir" 2
rm -f "$tmp/folder" "$dir"/*

# ---- cannot start
mkdir "$tmp/gone"
run "cd $tmp/gone; clear; $program --demo"
wait_for "q quit"
rmdir "$tmp/gone"
keys r
check "a file that cannot be created is reported" wait_for "cannot record"
keys q
check "exit status 1" wait_prompt 1
check "the error is printed" wait_for "cannot record"

# ---- slow end
show
keys r
check "recording starts" wait_for "REC"
until_true begun "$dir"
touch "$tmp/slow"
keys r
check "completion is shown" wait_for "completing nvmtop-"
check "REC disappears" wait_gone "REC"
check "the file is not complete yet" begun "$dir"
check "the clock runs" until_true clock_moves "$(clock)"
keys p
check "keys work" wait_for "Processes"
keys 1
keys r
check "a second one must wait, as a message says" wait_for "still being completed"
rm "$tmp/slow"
check "it is complete afterwards" until_true whole "$dir" 1
check "a message says so" wait_for "saved nvmtop-"
check "completion is over" wait_gone "completing nvmtop-"
keys r
check "another one can start" wait_for "REC"
until_true begun "$dir"
touch "$tmp/slow"
keys q
check "q waits and says for what" wait_for "waiting for it, Ctrl-C ends without it"
rm "$tmp/slow"
check "then it exits" wait_prompt 0
check "a summary is printed" wait_for "nvmtop: recorded"
check "the file is complete" whole "$dir" 2

# ---- one fails, the next does not
show
keys r
wait_for "REC"
until_true begun "$dir"
rm "$dir"/*.nvmt
check "the first continues in another file" wait_for ".2.nvmt"
keys r
check "it is reported to have ended early" wait_for "ended early"
keys r
wait_for "REC"
wait_gone "ended early"
until_true begun "$dir"
keys q
check "the exit status is that of the first" wait_prompt 1
check "and so is the message" wait_for "ended early"
pty_end
