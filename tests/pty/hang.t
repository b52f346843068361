#!/bin/sh
# Sensors that hang in the kernel: keys still work, recordings are completed and the terminal is
# restored. No timing is involved: reads continue only after the test has seen the screen, so code that
# waited for one would wait for ever.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"
src=$(cd "${NVMTOP_SRC:-.}" && pwd)
NVMTOP_BOARDS=${NVMTOP_BOARDS:-$src/boards}
export NVMTOP_BOARDS
case $program in /*) ;; *) program=$(pwd)/$program ;; esac
patience=180 # each of thousands of requests goes to a program
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
	[ -f "$1" ] && $program check "$1" >/dev/null
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
check "the hanging driver is reported" wait_for "its driver hangs"
keys 2
check "a key opens a view meanwhile" wait_for "Clock  "
keys 6
check "the view with the hanging zone opens" wait_for "soc0"
keys 5
check "the view with the hanging rail opens" wait_for "VDD2_1V8AO"
keys 9
check "the Board view opens" wait_for "Orin"
keys 8
check "the Processes view opens" wait_for "Reading the processes"
keys '?'
check "the list of keys opens" wait_for "set a sync mark now"
keys Escape
wait_gone "set a sync mark now"
keys 1
wait_for "CPU cores"
keys g
check "a prompt opens" wait_for "go to:"
keys Escape
wait_gone "go to:"
keys r
check "a recording starts" wait_for "REC nvmtop-"
keys s
check "a mark is set" wait_for "1 mark"
keys q
check "q restores the terminal" until_true left
check "q completes the recording while both still hang" until_true recorded
check "the reason for not exiting is shown" wait_for "does not answer"
go_on
check "it exits when they respond" wait_prompt 0
check "the terminal is usable" usable_terminal

show
hang
wait_for "its driver hangs"
pkill -TERM -P "$(T display-message -p '#{pane_pid}')" -f -- "--sysroot root"
check "SIGTERM restores the terminal too" until_true left
go_on
check "and exits" wait_prompt

# ---- from the start
hang
run "clear; $program once --json --sysroot root >once.json; echo \$? >status"
check "once exits while they hang" until_true status_is 0
why() {
	tr -d '\n' <once.json | grep -q "\"name\": \"$1\"[^}]*\"value\": null[^}]*did not answer"
}
check "once: a rail did not respond" why VDD_GPU_SOC.voltage
check "once: a zone did not respond" why temp.soc0
check "once: others did" sh -c "! tr -d '\n' <once.json | grep -q '\"name\": \"temp.tj\"[^}]*\"value\": null'"
rm -f status
run "clear; $program boards --sysroot root >boards; echo \$? >status"
check "boards exits" until_true status_is 0
check "boards reports it" grep -q 'temp.soc0 .*did not answer' boards
rm -f status
run "clear; $program --print 80x24 --sysroot root >print; echo \$? >status"
check "--print exits" until_true status_is 0
go_on
wait_prompt
hang
show
check "the screen opens" wait_for "q quit"
keys q
check "the screen closes" until_true left
go_on
wait_prompt
hang
run "clear; $program --record -o headless.nvmt --duration 1 --sysroot root 2>err; echo \$? >status"
check "--record completes its file" until_true complete headless.nvmt
go_on
wait_prompt
slow_release
check "nothing is left mounted" sh -c "! grep -q '$dir' /proc/mounts"
pty_end
