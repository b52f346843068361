#!/bin/sh
# Sensors that hang in the kernel, on a real terminal: keys are answered, recordings
# completed and the terminal given back while they do.  Nothing here has a time: the
# reads go on only after the test has seen its answers, so that what waited for one
# would wait for ever.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"
src=$(cd "${NVMTOP_SRC:-.}" && pwd)
NVMTOP_BOARDS=${NVMTOP_BOARDS:-$src/boards}
export NVMTOP_BOARDS
case $program in /*) ;; *) program=$(pwd)/$program ;; esac
need_slowfs

pty_begin 110x34
dir=$tmp/work
mkdir -p "$dir/root/sys"
cd "$dir" || exit 99
cp -a "$roots/agx_orin-36" base && chmod -R u+w base || exit 99
mv base/proc base/etc root/
rm -rf base/sys/kernel/debug base/sys/devices/platform/gpu.0/counters
chip=/devices/platform/bus@0/c240000.i2c/i2c-1/1-0040/hwmon/hwmon4
zone=/devices/virtual/thermal/thermal_zone5
: >none
slow_mount base/sys none root/sys
hang() {
	rule "$chip/in1_input hang"
	rule "$zone/temp hang"
}
go_on() {
	rule "$chip/in1_input clear"
	rule "$zone/temp clear"
}
show() {
	run "cd $dir; clear; $program --sysroot root $*"
	wait_for "q quit"
}
complete() {
	[ -f "$1" ] && $program --check "$1" >/dev/null
}
recorded() {
	for f in nvmtop-*.nvmt; do
		complete "$f" && return
	done
	return 1
}
left() {
	[ "$(T display-message -p '#{alternate_on}')" = 0 ]
}
status_is() {
	[ "$(cat status 2>/dev/null)" = "$1" ]
}

# ---- while it runs
show
wait_for "VDD_GPU_SOC"
hang
check "what hangs is told" wait_for "its driver hangs"
keys 2
check "a key is answered meanwhile: a view" wait_for "Clock  "
keys 6
check "the view of what hangs" wait_for "soc0"
keys 5
check "the view of the other that hangs" wait_for "VDD2_1V8AO"
keys 9
check "the board" wait_for "Orin"
keys 8
check "processes" wait_for "Reading the processes"
keys '?'
check "help" wait_for "set a sync mark now"
keys Escape
wait_gone "set a sync mark now"
keys 1
wait_for "CPU cores"
keys g
check "a question" wait_for "go to:"
keys Escape
wait_gone "go to:"
keys r
check "a recording begins" wait_for "REC nvmtop-"
keys s
check "a mark" wait_for "1 mark"
keys q
check "q gives the terminal back" until_true left
check "and completes the recording, while both still hang" until_true recorded
check "why there is no end yet is said" wait_for "does not answer"
go_on
check "the end comes when they have answered" wait_prompt 0
check "the terminal is as it was" usable_terminal

show
hang
wait_for "its driver hangs"
pkill -TERM -P "$(T display-message -p '#{pane_pid}')" -f -- "--sysroot root"
check "SIGTERM gives it back, too" until_true left
go_on
check "and ends" wait_prompt

# ---- from the start
hang
run "clear; $program --once --json --sysroot root >once.json; echo \$? >status"
check "--once ends while they hang" until_true status_is 0
why() {
	tr -d '\n' <once.json | grep -q "\"name\": \"$1\"[^}]*\"value\": null[^}]*did not answer"
}
check "a rail did not answer" why VDD_GPU_SOC.voltage
check "nor did a zone" why temp.soc0
check "others did" sh -c "! tr -d '\n' <once.json | grep -q '\"name\": \"temp.tj\"[^}]*\"value\": null'"
rm -f status
run "clear; $program --boards --sysroot root >boards; echo \$? >status"
check "--boards ends" until_true status_is 0
check "and says it" grep -q 'temp.soc0 .*did not answer' boards
rm -f status
run "clear; $program --print 80x24 --sysroot root >print; echo \$? >status"
check "--print ends" until_true status_is 0
go_on
wait_prompt
hang
show
check "the screen opens" wait_for "q quit"
keys q
check "and closes" until_true left
go_on
wait_prompt
hang
run "clear; $program --record -o headless.bin --duration 1 --sysroot root 2>err; echo \$? >status"
check "--record completes its file" until_true complete headless.bin
go_on
wait_prompt
slow_release
check "nothing stays mounted" sh -c "! grep -q '$dir' /proc/mounts"
pty_end
