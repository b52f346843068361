#!/bin/sh
# The list of processes, of a made-up /proc whose names and command lines are not nice.
. "$NVMTOP_SRC/tests/cli/lib.sh"
cp -R "$roots/agx_orin-36" root
# process PID PARENT STATE THREADS RSS_PAGES NAME...
process() {
    mkdir -p "root/proc/$1"
    pid=$1 parent=$2 state=$3 threads=$4 rss=$5
    shift 5
    printf '%d (%b) %s %d 1 1 0 -1 4194560 9 0 0 0 120 30 0 0 20 0 %d 0 5000 123456789 %d 18446744073709551615 1 1 0\n' \
        "$pid" "$*" "$state" "$parent" "$threads" "$rss" >"root/proc/$pid/stat"
}
process 1 0 S 1 3000 systemd
process 700 1 S 4 9000 'gnome-shell'
process 2651 1 S 12 30000 Xorg
process 7979 700 R 3 250000 'gpu_burn'
process 8000 7979 S 1 400 'a) S 1 (evil\033[31m)'
process 8001 7979 Z 1 0 'line\nfeed'
process 8002 1 D 1 1200 '漢字 name'
process 8003 1 S 1 20 '[kworker/0:1]'
sed -i 's/4194560/2097216/' root/proc/8003/stat
echo '6000.25 1.00' >root/proc/uptime
printf '/usr/bin/python3\0/opt/models/a folder/detect.py\0--camera\0000\0' >root/proc/7979/cmdline
printf '/usr/lib/xorg/Xorg vt1' >root/proc/2651/cmdline
printf 'a\033[2J\0\377\376\0\302\2331m\0\342\200\256txt\0漢字\0' >root/proc/8000/cmdline
{ printf '/bin/java\0' && head -c 131072 /dev/zero | tr '\0' x; } >root/proc/700/cmdline
: >root/proc/8001/cmdline
mkdir -p root/proc/9000 root/proc/9001 root/proc/12ab root/sys/kernel/debug/nvmap/iovmm
echo '9000 (cut off' >root/proc/9000/stat
: >root/proc/9001/stat
cat >root/sys/kernel/debug/nvmap/iovmm/clients <<'END'
CLIENT                        PROCESS      PID        SIZE
user                         gpu_burn     7979   23525644K
user                      gnome shell      700       5800K
user                             Xorg     2651      17876K
user                             gone    65000         12K
kernel                         kernel        0        100K
user                             Xorg     2651       1000K
total                                            23549320K
END
# The user is the one that runs the tests.
shown() {
    nvmtop --sysroot root --view processes "$@" 2>err | sed -E "s/^( *[0-9]+) $(id -u) +/\1 USER /; 1d"
}
shown --print 120x40 >got
golden processes
for size in 20x6 36x8 60x16 80x24 200x60 300x100; do
    for ascii in '' --ascii; do
        shown --print $size $ascii >got
        ok "$size$ascii: the one that uses the GPU most comes first" sh -c 'grep -A1 Total got | grep -q 7979'
    done
done
shown --print 200x60 >got
ok 'the arguments of a model' says got 'python3 /opt/models/a folder/detect.py --camera 0'
ok 'its age' says got ' R  *3  *1 h .*detect.py'
ok 'GPU memory of a name with a blank' says got '5\.7 M .* java xx'
ok 'two lines of one process are added' says got '18 M .*Xorg vt1'
ok 'escapes and broken characters are harmless' says got 'a?\[2J ?? ??1m ???txt'
ok 'one without a command line has its name, in one line' says got 'line?feed'
ok 'a command line of 128 kB is cut' says got 'xxx…$'
ok 'kernel threads are counted, not listed' sh -c '! grep -q kworker got && grep -q "+1 kernel thread" got'
ok 'what cannot be parsed is left out' says got '7 processes, 1 running'
LC_ALL=C shown --print 200x60 >got
ok 'only ASCII in the C locale' sh -c '! LC_ALL=C grep -q "[^ -~]" got'
rm -r root/sys/kernel/debug/nvmap
shown --print 120x40 >got
ok 'without the table: not known, and why' says got 'GPU use is not known: there is no /sys/kernel/debug/nvmap'
ok 'and nobody has 0' sh -c '! grep -q " 0 K .*detect" got && grep -q -- " -- .*python3" got'
run nvmtop --replay "$NVMTOP_SRC/tests/traces/demo.nvmt" --view processes --print 80x24
ok 'a trace has none, and says so' says out 'Traces have no list of processes'
run nvmtop --view processes --print 120x900
ok 'the real ones' says out '(this)'
run nvmtop --demo --view processes --print 120x40
ok 'the demo has its own' says out 'yolo/detect.py --camera'
ok 'and not those of this machine' sh -c '! grep -q "(this)" out'
run nvmtop --demo --print 120x50
ok 'the overview of a high screen has the busiest' says out 'python3 /opt/models/yolo/detect.py'
run nvmtop --demo --print 120x49
ok 'one of a lower screen has not' sh -c '! grep -q detect.py out'
done_testing
