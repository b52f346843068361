#!/bin/sh
# Frames of the screen, compared with the ones that were looked at.
# UPDATE=1 writes them anew.
. "$NVMTOP_SRC/tests/cli/lib.sh"

trace=$NVMTOP_SRC/tests/traces/demo.nvmt
# print NAME "SIZE..." OPTIONS...: of all sizes, in one file
print() {
    name=$1 sizes=$2
    shift 2
    for size in $sizes; do
        echo "--- $size"
        nvmtop --print $size "$@"
    done >got 2>err
    golden "$name"
}
print replay '20x5 60x16 80x24 120x40 200x60 9x1' --replay "$trace"
print replay-ascii '20x5 60x16 80x24 120x40 200x60' --ascii --replay "$trace"
print replay-at 80x24 --replay "$trace" --at 3
# A locale that is not installed: the terminal is in UTF-8 all the same, if the name does not say otherwise.
nvmtop --print 80x24 --replay "$trace" --at 3 >utf8
nvmtop --print 80x24 --ascii --replay "$trace" --at 3 >ascii
for name in xx_YY.UTF-8:utf8 xx_YY.utf8:utf8 xx_YY:utf8 xx_YY.ISO-8859-1:ascii C:ascii; do
    for variable in LC_ALL LC_CTYPE LANG; do
        run env -u LC_ALL -u LC_CTYPE -u LANG $variable=${name%:*} $EMU "$NVMTOP" --print 80x24 --replay "$trace" --at 3
        ok "$variable=${name%:*} is ${name#*:}" cmp "${name#*:}" out
    done
done
print version1 120x40 --replay "$NVMTOP_SRC/tests/traces/version-1.bin"
print setup '60x16 80x24 120x40 200x60' --replay "$trace" --view settings
print setup-ascii 80x24 --ascii --replay "$trace" --view settings
print help '60x16 80x24 120x40 200x60' --replay "$trace" --view help
"${NVMTOP%/src/nvmtop}/tests/tools/ranges" ranges.nvmt 2000
print ranges-ascii '80x24 120x40' --ascii --replay ranges.nvmt --at 1.5
print ranges '120x40' --replay ranges.nvmt --at 1.5
print view-ranges '60x16 120x40' --ascii --replay ranges.nvmt --view ranges
run nvmtop --print 76x24 --replay "$trace" --view thermal
ok 'names on tabs are abbreviated, but that of the view' says out '^ 1 Ove .* 6 Thermal '

run env LC_ALL=C $EMU "$NVMTOP" --print 80x24 --replay "$trace"
ok 'only ASCII in the C locale' sh -c '! LC_ALL=C grep -q "[^ -~]" out'
run nvmtop --print 80x24 --demo
ok 'live, too' says out 'GPU'
ok 'and says that it is a demo' grep -qi demo out
run nvmtop --print 200x60 --demo
ok 'the demo begins with a past, and its marks' says out '2 idle .*3 load'
ok 'and changes of its mode' says out 'mode: MAXN -> MODE_30W\|◆ MODE_30W'
ok 'and the mode that was chosen' says out 'MAXN'
run nvmtop --print 120x40 --demo --view phases
ok 'its energy is that of all of it' sh -c 'grep "^ *2 idle " out >past && ! grep "!" past'
{ sed 's/^demo .*/demo 5s/' "$NVMTOP_SRC/boards/demo.board" && echo 'slow value up path=/proc/uptime'; } >past.board
run nvmtop --print 80x24 --board ./past.board
ok 'a signal that is read has no past' says err 'with "demo TIME" all signals must be computed ones'
for w in 1 2 7 19 33; do
    for h in 1 2 4 11; do
        nvmtop --print ${w}x$h --replay "$trace" >out 2>err || echo "$w $h" >>bad
        "$python" -c 'import sys
w=int(sys.argv[1])
sys.exit(any(len(l.rstrip("\n")) > w for l in open("out", encoding="utf-8")))' $w || echo "$w $h wide" >>bad
    done
done
ok 'any size' test ! -e bad
done_testing
