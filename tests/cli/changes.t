#!/bin/sh
# How a machine is set, changed while it is watched.
. "$NVMTOP_SRC/tests/cli/lib.sh"
cp -R "$roots/agx_orin-36" tree && chmod -R u+w tree
cpu=tree/sys/devices/system/cpu
gpu=tree/sys/class/devfreq/17000000.gpu
# Links of the tree that lead to its root do not lead there from here.
zone=$(grep -lx 'tj-thermal' tree/sys/class/thermal/thermal_zone*/type | head -n 1)
zone=${zone%/type}
gov=$cpu/cpufreq/policy4/scaling_governor
# A fan that a service regulates, swap, and the switch of older releases.
fan=$(echo tree/sys/devices/platform/pwm-fan/hwmon/hwmon*/pwm1)
service=tree/sys/fs/cgroup/system.slice/nvfancontrol.service
mkdir -p $service tree/sys/devices/gpu.0
printf 'Filename\tType\tSize\tUsed\tPriority\n/dev/zram0\tpartition\t3906252\t0\t5\n' >tree/proc/swaps
echo 1 >tree/sys/devices/gpu.0/enable_3d_scaling
echo 102 >"$fan"

# The file's recorder looks at moments of its own: what is put back before it has looked
# was not there for it. Its second file names what it has seen.
in_file() { test "$("$python" "$NVMTOP_SRC/tests/tools/nvmt-log.py" --brief file.nvmt | grep -ao -- "$1" | wc -l)" -ge "$2"; }
told() { nvmtop export jsonl live.nvms 2>/dev/null | grep '"row":"change"' | grep -- "$1"; }
# set FILE TEXT WHAT: and wait until it is told
put() {
    echo "$2" >"$1"
    ok "$3" soon told "\"what\":\"$3\"$4"
}

$EMU "$NVMTOP" --sysroot tree --fast-hz 10 --medium-hz 10 --record - >live.nvms 2>err &
stream=$!
$EMU "$NVMTOP" --sysroot tree --fast-hz 100 --record file.nvmt 2>file.err &
file=$!
ok 'it samples' soon test -s live.nvms
# Two looks, so that the first one has been.
sleep 1
put $gov performance cpu4.governor ',"from":"schedutil","to":"performance"'
# Alone on the screen, so not at the same look as others.
soon in_file performance 1
put tree/var/lib/nvpmodel/status pmode:0003 mode ',"from":"MODE_30W","to":"MODE_50W"'
ok 'the file has the mode, too' soon in_file MODE_50W 1
echo 816000000 >"$gpu/max_freq"
ok 'the highest clock of the GPU' soon told '"what":"gpu.freq_max","from":"612 MHz","to":"816 MHz"'
put $cpu/online 0-7 cpu.online ',"from":"0-11","to":"0-7"'
put tree/sys/kernel/nvpmodel_clk_cap/emc 665600000 emc.cap ',"from":"2133 MHz","to":"665.6 MHz"'
put $cpu/cpufreq/policy0/scaling_max_freq 1190400 cpu0.freq_max ',"from":"1728 MHz","to":"1190.4 MHz"'
echo 110 >"$fan" # by the service: no change of a setting
rmdir $service
ok 'a fan that is set by hand' soon told '"what":"fan","from":"auto","to":"43%"'
soon in_file 43% 1
put "$fan" 204 fan ',"from":"43%","to":"80%"'
soon in_file 80% 1
put "${fan}_enable" 2 fan ',"from":"80%","to":"auto"'
put tree/sys/devices/gpu.0/enable_3d_scaling 0 3d-scaling ',"from":"on","to":"off"'
printf '/swapfile.nvmtop file 4194300 0 -2\n' >>tree/proc/swaps
ok 'swap' soon told '"what":"swap","from":"4.0 GB in 1, last /dev/zram0","to":"8.3 GB in 2, last /swapfile.nvmtop"'
ok 'the file has that, too' soon in_file swapfile.nvmtop 1
put tree/var/lib/nvpmodel/status pmode:0001 mode ',"from":"MODE_50W","to":"MODE_15W"'
# A file that is empty for a moment, as while it is written, or gone, changes nothing.
: >$gov
mv tree/var/lib/nvpmodel/status status
temp=$(cat "$zone/temp")
: >"$zone/temp"
ok 'a sensor dies' soon told '"what":"temp.tj","from":"[0-9.]* C","to":null'
ok 'in the file, too' soon in_file temp.tj 2
mv status tree/var/lib/nvpmodel/status
echo performance >$gov
put "$zone/temp" "$temp" temp.tj ',"from":null,"to":"[0-9.]* C"'
ok 'and it is back in the file' soon in_file temp.tj 3

kill -TERM $stream $file
wait $stream
wait $file
# made ERRORS: the changes that were made, of lines. On a busy machine another sensor may have no reading for 3 s, which
# is told, too.
made() {
    if grep -q 'late readings' "$1"; then of='/"what":"temp.tj"/ || !/null/'; else of=1; fi
    awk "/\"row\":\"change\"/ && ($of)"
}
nvmtop export jsonl live.nvms | made err >changes
only_these() { test "$(wc -l <changes)" -eq "$1" || { cat changes; return 1; }; }
ok 'nothing else is told' only_these 14
nvmtop export jsonl file.nvmt >file.jsonl
ok 'a file has the same' is "$(made file.err <file.jsonl | grep -o '"what":.*' | head -n 14 | sort)" \
    "$(grep -o '"what":.*' changes | sort)"
ok 'facts are those of the beginning' says file.jsonl '"mode":"MODE_30W"'
ok 'the summary tells them' says file.err 'changes: *cpu4.governor: schedutil -> performance; '
run nvmtop check file.nvmt
ok 'the file is sound' is $status 0
nvmtop report --all file.nvmt >report
ok 'the report lists them' says report '^ *[0-9.]* s  mode: MODE_30W -> MODE_50W$'
ok 'and a fan that was set' says report '^ *[0-9.]* s  fan: 43% -> 80%$'
ok 'and a sensor that died' says report 'temp.tj: [0-9.]* C -> --$'
nvmtop report --format json file.nvmt >report.json
ok 'as JSON' says report.json '"what":"cpu.online","from":"0-11","to":"0-7"'
nvmtop export csv file.nvmt >file.csv
ok 'as CSV' says file.csv ',change,0,mode: MODE_30W -> MODE_50W,'
nvmtop export perfetto file.nvmt >file.pftrace
ok 'for Perfetto' says file.pftrace 'cpu.online: 0-11 -> 0-7'
ok 'readers of version 1 see a file like any other' judge file.nvmt 't["counts"]["sync"] == 0'

# screen SECONDS VIEW: as it was then
screen() { run nvmtop --print 120x40 --replay file.nvmt --at $1 --view $2; }
# when CHANGE: how many seconds after the start, never before it by rounding
when() { sed -n "s/^ *\([0-9.]*\) s  $1.*/\1/p" report | awk 'NR == 1 { printf "%.3f", $1 + 0.001 }'; }
screen 0 board
ok 'a replay begins with the mode of the beginning' says out 'AGX Orin.* MODE_30W'
ok 'the board has it' says out 'Power mode  *MODE_30W'
ok 'and one governor' says out 'CPU governor  *schedutil'
screen $(when mode:.*50W) board
ok 'and goes on with that at the playhead' says out 'AGX Orin.* MODE_50W'
ok 'on the board, too' says out 'Power mode  *MODE_50W'
ok 'and its governors' says out 'CPU governor  *cpu0 schedutil, cpu4 performance'

screen $(when mode:.*50W) overview
ok 'the change is an event' says out 'mode: MODE_30W -> MODE_50W'
screen $(when 'temp.tj: .*-> --') board
ok 'a sensor that died is missing' says out 'tj .*stopped answering at '
run nvmtop --print 120x40 --replay file.nvmt --view board
ok 'and when it is back, no more' sh -c '! grep -q "stopped answering" out'

# mode TEXT NAME: what the configuration TEXT calls mode 1; "" if it does not; of a tree without sensors
mkdir small
cp -R tree/etc tree/proc tree/var small
mode() {
    printf "$1" >small/etc/nvpmodel/nvpmodel_p3701_0000.conf
    run nvmtop once --sysroot small --json
    ok "a configuration: $2" is "$status:$(sed -n 's/^ *"mode": "\(.*\)",*$/\1/p' out)" "0:$3"
}
real='< POWER_MODEL ID=1 NAME=REAL >\nCPU_ONLINE CORE_0 1\n'
mode "# < POWER_MODEL ID=1 NAME=OLD >\n$real" 'a mode in a comment' REAL
mode "< POWER_MODEL ID=0 NAME=X > # < POWER_MODEL ID=1 NAME=OLD >\n$real" 'a mode in a comment behind another' REAL
mode "  \t#< POWER_MODEL ID=1 NAME=OLD >\n\n$real" 'a comment behind blanks' REAL
mode '# < POWER_MODEL ID=1 NAME=OLD >\n' 'only in a comment' ''
mode '< POWER_MODEL ID=1 # NAME=OLD >\n' 'a name in a comment' ''
mode '< POWER_MODEL ID=1 NAME=REAL ># 15 W\r\nGPU MAX_FREQ 816000000 # MHz\r\n' 'CRLF and comments at the end' REAL
mode '<POWER_MODEL  ID=1\tNAME=REAL>' 'no blanks at the brackets, no end of line' REAL
mode '< POWER_MODEL NAME="REAL 15 # W" ID=1 >\n' 'a name in quotes, before the number' 'REAL 15 # W'
mode "< POWER_MODEL ID=11 NAME=X >\n< POWER_MODEL ID=01x NAME=X >\n< POWER_MODELS ID=1 NAME=X >\n$real" 'others that are like it' REAL
mode "< PARAM TYPE=FILE NAME=POWER_MODEL >\nPOWER_MODEL ID=1 NAME=X\n$real" 'words of its kind elsewhere' REAL
mode "$(printf '%%0300d' 0)\n< $(printf '%%0400d' 0) >\n$real" 'long lines' REAL
done_testing
