#!/bin/sh
# On a terminal: a replay that offers to recover, and a live screen whose
# recording finds the disk full and goes on when it is not any more.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
patience=40

grown() {
	[ "$(wc -c <"$1" 2>/dev/null || echo 0)" -ge "$2" ]
}
any_grown() {
	for f in $1; do grown "$f" "$2" && return; done
	return 1
}
# No file is left half done, and there are so many whole ones.
whole() {
	[ "$(find "$1" -name '*.part*' | wc -l)" -eq 0 ] && [ "$(find "$1" -name 'nvmtop-*.bin' | wc -l)" -eq "$2" ]
}

pty_begin 190x40
XDG_RUNTIME_DIR=$tmp
export XDG_RUNTIME_DIR
dir=$tmp/work
mkdir "$dir"

(cd "$dir" && exec $program --demo --record x.bin 2>/dev/null) &
pid=$!
check "a recorder begins" until_true grown "$dir/x.bin.part" 30000
kill -KILL $pid
{ wait $pid; } 2>/dev/null

run "cd $dir; clear; $program --replay x.bin"
check "a replay of what is not complete asks" wait_for "Recover it now? [y/n]"
keys n Enter
check "no: it says what can be done" wait_for "nvmtop --recover x.bin"
check "no: it ends" wait_prompt 1
check "no: nothing was changed" test -s "$dir/x.bin.part" -a ! -e "$dir/x.bin"
run "clear; $program --replay x.bin"
wait_for "Recover it now? [y/n]"
keys C-c
check "Ctrl-C ends it there" wait_prompt
run "clear; $program --replay x.bin"
wait_for "Recover it now? [y/n]"
keys y Enter
check "yes: it is shown" wait_for "q quit"
check "yes: by its name" wait_for "x.bin"
keys q
wait_prompt 0
check "yes: what is missing was said" wait_for "missing: at most the last 250 ms"
check "yes: it is complete" test -s "$dir/x.bin" -a ! -e "$dir/x.bin.part" -a ! -e "$dir/x.bin.part.side"
run "clear; $program --replay x.bin"
check "a complete one is shown at once" wait_for "q quit"
keys q
wait_prompt 0

# A recorder that dies of a fault leaves neither a terminal without echo nor nothing to keep.
run "ulimit -c 0 2>/dev/null; clear; $program --demo --record y.bin"
wait_for "q stop"
until_true grown "$dir/y.bin.part" 30000
kill -SEGV "$(find "$tmp/nvmtop" -name '*.sock' | sed 's|.*/||; s|\.sock$||')"
check "a recorder with a fault ends as one does" wait_prompt 139
check "a recorder with a fault: the shell has its terminal" usable_terminal
check "a recorder with a fault: what it had is there" \
	sh -c "cd $dir && $program --recover y.bin >/dev/null 2>&1 && $program --check y.bin >/dev/null"

disk=$tmp/disk
mkdir "$disk"
if mount -t tmpfs -o size=14m none "$disk" 2>/dev/null; then
	trap 'pty_stop; umount -l "$disk"; rm -rf "$tmp"' EXIT
	head -c 7000000 /dev/zero >"$disk/ballast"
	run "cd $disk; clear; $program --demo --fast-hz 10000"
	wait_for "q quit"
	keys r
	check "recording" wait_for "REC"
	check "a full disk is said at once" wait_for "No space left on device; the recording continues in a new file as soon as possible"
	check "sampling goes on" wait_for "q quit"
	until_true whole "$disk" 1
	rm "$disk/ballast"
	check "the recording goes on" wait_for "the recording continues in nvmtop-"
	check "in the next file" until_true any_grown "$disk/*.2.bin.part" 100000
	check "and is no trouble any more" wait_gone "No space left"
	keys r
	check "the end says it" wait_for "ended early: No space left"
	check "both files are whole" until_true whole "$disk" 2
	keys q
	check "it ends, and the exit status says that something is missing" wait_prompt 1
	check "and tells again when the screen has gone" wait_for "No space left on device"
	check "with the names of both files" wait_for ".2.bin ("
	run "cd /"
	wait_prompt 0
else
	echo "# no small file system can be mounted here"
fi
pty_end
