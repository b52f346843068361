#!/bin/sh
# Common tasks, each with few keys from the overview; the keys are counted.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

NVMTOP_BOARDS=${NVMTOP_BOARDS:-${NVMTOP_SRC:-.}/boards}
export NVMTOP_BOARDS
boards=$NVMTOP_BOARDS
traces=$(cd "${NVMTOP_SRC:-.}/tests/traces" && pwd)

pressed=0
press() {
	pressed=$((pressed + $#))
	keys "$@"
}

# A task starts on the overview.
task() {
	pressed=0
	wait_for "engines, cooling"
}

# Done with at most this many keys.
within() {
	echo "# $pressed of $1 keys"
	[ "$pressed" -le "$1" ]
}

matches() {
	screen | grep -q -e "$1"
}

# The limit line has the limit, its value and the view that explains it.
limit_is() {
	screen | sed -n 2p | grep -q -e "^ *limit: $1"
}

# One file, with the content of the charts.
exported() {
	set -- "$tmp"/runs/nvmtop-*.csv
	[ $# -eq 1 ] && [ "$(grep -c '' "$1")" -gt 20 ] && head -n 3 "$1" | grep -q -F gpu.util
}

pty_begin 120x40 xterm-256color
plain_demo
# A GPU that is always busy, and a disk that never is.
sed '/^fast wave gpu.util = /,/[^\\]$/d; /^slow wave io.pressure /d; /^slow wave cpu.iowait /d' "$tmp/demo.board" >"$tmp/busy.board"
echo 'fast wave gpu.util = 97' >>"$tmp/busy.board"
mv "$tmp/busy.board" "$tmp/demo.board"

run "cd $tmp; clear; $program --demo --no-config"
task
check "why it is slow is in the first frame" until_true limit_is "GPU  97 % busy .* 2 GPU ›"
check "without a key" within 0

# Enter after a recording
task
press r
wait_for "REC nvmtop-"
press r
wait_for "Enter opens it"
press Enter
check "Enter opens a recording that has stopped" wait_for "Esc live"
check "it is that recording" until_true on_screen "$(basename "$tmp"/nvmtop-*.nvmt)"
check "with three keys at most" within 3
keys q
wait_prompt 0

mkdir "$tmp/runs"
run "cd $tmp/runs; NVMTOP_BOARDS=$boards; clear"
$program cut --from 0 --to 46 -o "$tmp/runs/a.nvmt" "$traces/views.nvmt"
$program cut --from 0 --to 46 -o "$tmp/runs/b.nvmt" "$traces/demo.nvmt"
touch -t 202611020000 "$tmp/runs/a.nvmt" # the newest is first in the list
touch -t 202611010000 "$tmp/runs/b.nvmt"

run "$program --no-config a.nvmt"
task
press 7
check "energy of a phase" until_true matches "2 batch .* 12.0 s *449.9 "
check "with three keys at most" within 3
keys 1

task
press m
check "highest spike of the GPU" wait_for "maximum of GPU: 99.6 % at 34.6 s"
check "with two keys at most" within 2
check "the reason for being slow then is shown" until_true limit_is "heat  ▲ GPU throttled .* 6 Thermal ›"
task
press 5 m
check "highest spike of power" wait_for "maximum of Power: 40.2 W at"
check "with two keys at most" within 2
keys 1 Home

task
press p c
check "export of what is in view" wait_for "saved nvmtop-"
check "the file exists" exported
check "with two keys at most" within 2

task
press o
wait_for "> a.nvmt"
wait_for "b.nvmt"
press Down
check "the other run is in the list" wait_for "> b.nvmt"
press b
check "compare two runs" until_true matches "B  mean [+-]"
check "the comparison is on the overview" wait_for "engines, cooling"
check "with five keys at most" within 5
keys q
wait_prompt 0
pty_end
