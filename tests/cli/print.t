#!/bin/sh
# Frames of the screen, compared with the ones that were looked at.
# UPDATE=1 writes them anew.
. "$NVMTOP_SRC/tests/cli/lib.sh"

screens=$NVMTOP_SRC/tests/screens
golden() {
    name=$1
    shift
    nvmtop "$@" >got 2>err
    test -z "${UPDATE:-}" || cp got "$screens/$name.txt"
    ok "$name" diff -u "$screens/$name.txt" got
}
trace=$NVMTOP_SRC/tests/traces/demo.bin
foreign=$NVMTOP_SRC/tests/traces/version-1.bin
for size in 20x5 60x16 80x24 120x40 200x60; do
    golden "replay-$size" --print $size --replay "$trace"
    golden "replay-$size-ascii" --print $size --ascii --replay "$trace"
done
golden replay-at-80x24 --print 80x24 --replay "$trace" --at 3
golden replay-tiny --print 9x1 --replay "$trace"
golden version1-120x40 --print 120x40 --replay "$foreign"
for size in 60x16 80x24 120x40 200x60; do
    golden "setup-$size" --print $size --replay "$trace" --view setup
    golden "help-$size" --print $size --replay "$trace" --view help
done
golden setup-80x24-ascii --print 80x24 --ascii --replay "$trace" --view setup
golden tabs-66x24 --print 66x24 --replay "$trace" --view thermal

run env LC_ALL=C $EMU "$NVMTOP" --print 80x24 --replay "$trace"
ok 'only ASCII in the C locale' sh -c '! LC_ALL=C grep -q "[^ -~]" out'
run nvmtop --print 80x24 --demo
ok 'live, too' says out 'GPU'
ok 'and says that it is a demo' grep -qi demo out
run nvmtop --print 200x60 --demo
ok 'the demo begins with a past, and its marks' says out '1 infer .*2 idle .*3 load'
ok 'with limits that were passed' says out 'gpu.freq_max: 1300.5 MHz -> 1122 MHz'
ok 'and the mode that was chosen' says out 'MAXN'
run nvmtop --print 120x40 --demo --view phases
ok 'its energy is that of all of it' sh -c '! grep -q "!" out'
{ sed 's/^demo .*/demo 5s/' "$NVMTOP_SRC/boards/demo.board" && echo 'slow value up path=/proc/uptime'; } >past.board
run nvmtop --print 80x24 --board ./past.board
ok 'a signal that is read has no past' says err 'has only computed signals'
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
