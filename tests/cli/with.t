#!/bin/sh
# Two traces, one under the other: frames compared with what was looked at
# (UPDATE=1 writes them anew), where they meet, and what is refused.
. "$NVMTOP_SRC/tests/cli/lib.sh"

traces=$NVMTOP_SRC/tests/traces
cp "$traces/views.nvmt" a.nvmt
cp "$traces/demo.nvmt" b.nvmt
cp "$traces/version-1.bin" other.nvmt
with() {
    name=$1
    shift
    for size in 20x5 60x16 80x24 120x40 200x60; do
        echo "--- $size"
        nvmtop --print $size --replay a.nvmt --with b.nvmt --at 10 "$@"
    done >got 2>err
    golden "$name"
}
with with
with with-ascii --ascii
with with-power --view power

both() { run nvmtop --print 160x50 --replay a.nvmt --with "$@"; }
both b.nvmt
ok 'both files are named' sh -c 'grep -q "A a.nvmt" out && grep -q "^ B  b.nvmt" out'
ok 'they meet at their first common mark' says out 'aligned at mark 1 '
both b.nvmt --align start
ok 'or at the start' says out 'aligned at the start '
both b.nvmt --align m2
ok 'or at a mark by its number' says out 'aligned at mark 2 '
both a.nvmt --align batch
ok 'or at a label' says out 'aligned at the mark "batch"'
ok 'a trace under itself differs nowhere' sh -c 'grep "^ *B  *mean" out >b && test "$(wc -l <b)" -ge 5 && ! grep -v "mean +0.0 %" b'
both other.nvmt --view board
ok 'of another board: what only one has' says out 'Only in A *cpu4.util, cpu5.util'
run nvmtop --print 20x6 --replay a.nvmt --with b.nvmt
ok 'where there is no room' is "$status" 0
run nvmtop --print 60x8 --replay a.nvmt --with b.nvmt
ok 'the header names both' says out 'A a.nvmt  B b.nvmt'

both b.nvmt --align nonsense
ok 'a mark that neither has: status 1' is "$status" 1
ok 'one sentence' one_line err
ok 'that says what can be given' says err 'label, m3'
both b.nvmt --align batch
ok 'a mark that only one has: status 1' is "$status" 1
both none.nvmt
ok 'no such file: status 1' is "$status" 1
ok 'is named' says err none.nvmt
cp b.nvmt cut.nvmt
printf '%064d' 0 | dd of=cut.nvmt bs=1 seek=90000 conv=notrunc 2>/dev/null
both cut.nvmt
ok 'a damaged one is shown: status 3' is "$status" 3
ok 'and said' says err cut.nvmt
ok 'with what can be read' says out '^ B  cut.nvmt'

wrong() {
    title=$1
    shift
    run nvmtop "$@"
    ok "$title: status 2" is "$status" 2
    ok "$title: says it" says err '--align\|--with'
}
wrong '--with alone' --with b.nvmt
wrong '--with a recording' --record --with b.nvmt x.nvmt
wrong '--with --follow' --replay a.nvmt --with b.nvmt --follow
wrong '--with a stream' --replay a.nvmt --with -
wrong '--align alone' --replay a.nvmt --align start
wrong '--with a report' report a.nvmt --with b.nvmt
done_testing
