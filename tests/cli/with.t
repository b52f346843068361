#!/bin/sh
# Two traces, one under the other: frames compared with what was looked at
# (UPDATE=1 writes them anew), where they meet, and what is refused.
. "$NVMTOP_SRC/tests/cli/lib.sh"

traces=$NVMTOP_SRC/tests/traces
cp "$traces/views.bin" a.bin
cp "$traces/demo.bin" b.bin
cp "$traces/version-1.bin" other.bin
with() {
    name=$1
    shift
    for size in 20x5 60x16 80x24 120x40 200x60; do
        echo "--- $size"
        nvmtop --print $size --replay a.bin --with b.bin --at 10 "$@"
    done >got 2>err
    golden "$name"
}
with with
with with-ascii --ascii
with with-power --view power

both() { run nvmtop --print 160x50 --replay a.bin --with "$@"; }
both b.bin
ok 'both files are named' sh -c 'grep -q "A a.bin" out && grep -q "^ B  b.bin" out'
ok 'they meet at their first common mark' says out 'aligned at mark 1 '
both b.bin --align start
ok 'or at the start' says out 'aligned at the start '
both b.bin --align m2
ok 'or at a mark by its number' says out 'aligned at mark 2 '
both a.bin --align batch
ok 'or at a label' says out 'aligned at the mark "batch"'
ok 'a trace under itself differs nowhere' sh -c 'grep "^ *B  *mean" out >b && test "$(wc -l <b)" -ge 5 && ! grep -v "mean +0.0 %" b'
both other.bin --view board
ok 'of another board: what only one has' says out 'Only in A *cpu4.util, cpu5.util'
run nvmtop --print 20x6 --replay a.bin --with b.bin
ok 'where there is no room' is "$status" 0
run nvmtop --print 60x8 --replay a.bin --with b.bin
ok 'the header names both' says out 'A a.bin  B b.bin'

both b.bin --align nonsense
ok 'a mark that neither has: status 1' is "$status" 1
ok 'one sentence' one_line err
ok 'that says what can be given' says err 'label, m3'
both b.bin --align batch
ok 'a mark that only one has: status 1' is "$status" 1
both none.bin
ok 'no such file: status 1' is "$status" 1
ok 'is named' says err none.bin
head -c 100000 b.bin >cut.bin
both cut.bin
ok 'a damaged one is shown: status 3' is "$status" 3
ok 'and said' says err cut.bin
ok 'with what can be read' says out '^ B  cut.bin'

wrong() {
    title=$1
    shift
    run nvmtop "$@"
    ok "$title: status 2" is "$status" 2
    ok "$title: says it" says err '--align\|--with'
}
wrong '--with alone' --with b.bin
wrong '--with a recording' --record --with b.bin x.bin
wrong '--with --follow' --replay a.bin --with b.bin --follow
wrong '--with a stream' --replay a.bin --with -
wrong '--align alone' --replay a.bin --align start
wrong '--with a report' --report a.bin --with b.bin
done_testing
