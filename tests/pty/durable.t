#!/bin/sh
# On a terminal: a replay of what a killed recorder left, and a live screen whose
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
# One file, with its end.
whole() {
	[ "$(find "$1" -name 'nvmtop-*.nvmt' | wc -l)" -eq 1 ] &&
		python3 "${NVMTOP_SRC:-.}/tests/tools/nvmt-log.py" --brief "$1"/nvmtop-*.nvmt | tail -n 1 | grep -q '"end": {.*"problems": \[\]'
}

pty_begin 190x40
XDG_RUNTIME_DIR=$tmp
export XDG_RUNTIME_DIR
dir=$tmp/work
mkdir "$dir"

(cd "$dir" && exec $program --demo --record x.nvmt 2>/dev/null) &
pid=$!
check "a recorder begins" until_true grown "$dir/x.nvmt" 30000
kill -KILL $pid
{ wait $pid; } 2>/dev/null

run "cd $dir; clear; $program --replay x.nvmt"
check "what a killed recorder left is shown as it is" wait_for "q quit"
check "by its name" wait_for "x.nvmt"
keys q
check "and that is no error" wait_prompt 0

# A recorder that dies of a fault leaves neither a terminal without echo nor nothing to keep.
run "ulimit -c 0 2>/dev/null; clear; $program --demo --record y.nvmt"
wait_for "q stop"
until_true grown "$dir/y.nvmt" 30000
kill -SEGV "$(find "$tmp/nvmtop" -name '*.sock' | sed 's|.*/||; s|\.sock$||')"
check "a recorder with a fault ends as one does" wait_prompt 139
check "a recorder with a fault: the shell has its terminal" usable_terminal
check "a recorder with a fault: what it had is there" sh -c "cd $dir && $program --report y.nvmt >/dev/null"

disk=$tmp/disk
mkdir "$disk"
if mount -t tmpfs -o size=14m none "$disk" 2>/dev/null; then
	trap 'pty_stop; umount -l "$disk"; rm -rf "$tmp"' EXIT
	run "cd $disk; clear; $program --demo --fast-hz 4000"
	wait_for "q quit"
	keys r
	check "recording" wait_for "REC"
	until_true any_grown "$disk/nvmtop-*.nvmt" 20000
	head -c 20000000 /dev/zero >"$disk/ballast" 2>/dev/null
	check "a full disk is said while it is" wait_for "No space left on device"
	check "sampling goes on" wait_for "q quit"
	rm "$disk/ballast"
	check "the recording goes on" wait_for "the recording continues in nvmtop-"
	check "and is no trouble any more" wait_gone "No space left"
	keys r
	check "the end" wait_for "saved nvmtop-"
	check "one file, and it is whole" whole "$disk"
	rm -f "$disk"/nvmtop-*
	keys r
	wait_for "REC"
	until_true any_grown "$disk/nvmtop-*.nvmt" 20000
	head -c 20000000 /dev/zero >"$disk/ballast" 2>/dev/null
	wait_for "No space left on device"
	keys q
	check "it ends on a full disk, and the exit status says that something is missing" wait_prompt 1
	check "and tells it when the screen has gone" wait_for "ended early: No space left on device"
	run "cd /"
	wait_prompt 0
else
	echo "# no small file system can be mounted here"
fi
pty_end
