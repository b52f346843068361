#!/bin/sh
# The list of processes, of a made-up /proc whose names are not nice.
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
# The user is whoever runs the tests.
shown() {
    nvmtop --sysroot root --view processes "$@" 2>err | sed -E "s/^( *[0-9]+) $(id -u) +/\1 USER /; 1d"
}
for size in 60x16 80x24 120x40 200x60; do
    for ascii in '' --ascii; do
        shown --print $size $ascii >got
        golden processes-$size$(test -z "$ascii" || echo -ascii)
        ok "$size$ascii: who uses the GPU comes first" is "$(awk '$NF == "gpu_burn" { print NR }' got)" 2
    done
done
shown --print 120x40 >got
ok 'GPU memory of a name with a blank' says got '5\.7 M *gnome-shell'
ok 'two lines of one process are added' says got '18 M *Xorg'
ok 'escapes in a name are harmless' says got 'a) S 1 (evil?\[31m)'
ok 'a name with a line feed is one line' says got 'line?feed'
ok 'what cannot be parsed is left out' says got '7 processes'
rm -r root/sys/kernel/debug/nvmap
shown --print 120x40 >got
ok 'without the table: not known, and why' says got 'GPU use is not known: there is no /sys/kernel/debug/nvmap'
ok 'and nobody has 0' sh -c '! grep -q " 0 K *gpu_burn" got && grep -q -- "-- *gpu_burn" got'
run nvmtop --replay "$NVMTOP_SRC/tests/traces/demo.bin" --view processes --print 80x24
ok 'a trace has none, and says so' says out 'Traces have no list of processes'
run nvmtop --view processes --print 120x900
ok 'the real ones' says out '(this)'
run nvmtop --demo --view processes --print 120x40
ok 'the demo has its own' says out 'detect.py --camera 0'
ok 'and not those of this machine' sh -c '! grep -q "(this)" out'
done_testing
