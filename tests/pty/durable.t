#!/bin/sh
# Replay of a killed recorder's file, and a live screen whose recording hits a full disk and continues
# when there is space again.
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
# A single file that is complete.
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
check "a recorder starts" until_true grown "$dir/x.nvmt" 30000
kill -KILL $pid
{ wait $pid; } 2>/dev/null

run "cd $dir; clear; $program --replay x.nvmt"
check "the file of a killed recorder is shown" wait_for "q quit"
check "with its name" wait_for "x.nvmt"
keys q
check "exit status 0" wait_prompt 0

# A recorder that crashes restores the terminal and leaves a usable file.
run "ulimit -c 0 2>/dev/null; clear; $program --demo --record y.nvmt"
wait_for "q stop"
until_true grown "$dir/y.nvmt" 30000
kill -SEGV "$(find "$tmp/nvmtop" -name '*.sock' | sed 's|.*/||; s|\.sock$||')"
check "a crashing recorder dies of the signal" wait_prompt 139
check "a crashing recorder restores the terminal" usable_terminal
check "a crashing recorder leaves a usable file" sh -c "cd $dir && $program report y.nvmt >/dev/null"

# With --kill a recorded command has a process group of its own: it has the terminal all the same.
run "clear; $program record --demo --duration 1000 --kill TERM k.nvmt -- sh -c 'read line; echo got-\$line; exec sleep 1000'"
keys hello Enter
check "a command with --kill reads the terminal" wait_for "got-hello"
keys C-z
check "Ctrl-Z stops it and the recorder" usable_terminal
run fg
wait_for "sleep 1000"
keys C-c
check "Ctrl-C ends it" wait_prompt 130
check "and the terminal is usable" usable_terminal
check "and the recording is complete" sh -c "cd $dir && $program check k.nvmt >/dev/null"

disk=$tmp/disk
mkdir "$disk"
if mount -t tmpfs -o size=14m none "$disk" 2>/dev/null; then
	trap 'pty_stop; umount -l "$disk"; rm -rf "$tmp"' EXIT
	run "cd $disk; clear; $program --demo --fast-hz 4000"
	wait_for "q quit"
	keys r
	check "recording starts" wait_for "REC"
	until_true any_grown "$disk/nvmtop-*.nvmt" 20000
	head -c 20000000 /dev/zero >"$disk/ballast" 2>/dev/null
	check "a full disk is reported" wait_for "No space left on device"
	check "sampling continues" wait_for "q quit"
	rm "$disk/ballast"
	check "the recording continues when there is space" wait_for "the recording continues in nvmtop-"
	check "the report disappears" wait_gone "No space left"
	keys r
	check "the recording is saved" wait_for "saved nvmtop-"
	check "there is one file, and it is complete" whole "$disk"
	rm -f "$disk"/nvmtop-*
	keys r
	wait_for "REC"
	until_true any_grown "$disk/nvmtop-*.nvmt" 20000
	head -c 20000000 /dev/zero >"$disk/ballast" 2>/dev/null
	wait_for "No space left on device"
	keys q
	check "exit status 1 when it ends on a full disk" wait_prompt 1
	check "the error is printed after the screen" wait_for "ended early: No space left on device"
	run "cd /"
	wait_prompt 0
else
	echo "# no small file system can be mounted here"
fi
pty_end
