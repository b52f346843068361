#!/bin/sh
# Every view at four sizes, with and without UTF-8, compared with what was looked
# at; UPDATE=1 writes them anew.  And what the views say of other machines.
. "$NVMTOP_SRC/tests/cli/lib.sh"

trace=$NVMTOP_SRC/tests/traces/views.nvmt
# Those of which no other test has pictures.
run nvmtop --view nonsense
views=$(sed -n 's/.*known: //p' err | tr -d , | tr ' ' '\n' | grep -vxE 'overview|ranges|processes|help|settings')
for view in $views; do
    for size in 60x16 80x24 120x40 200x60; do
        for charset in '' --ascii; do
            echo "--- $size $charset"
            nvmtop --print $size --replay "$trace" --at 33 --view $view $charset
        done
    done >got 2>err
    golden "view-$view"
done
run env LC_ALL=C $EMU "$NVMTOP" --print 120x40 --replay "$trace" --view thermal
ok 'only ASCII in the C locale' sh -c '! LC_ALL=C grep -q "[^ -~]" out'

# Before the first sample of the slow signals.
for view in overview $views; do
    nvmtop --print 120x50 --replay "$trace" --at 0 --view $view
done >got 2>err
ok 'a rail that was not yet read has no number' says got 'GPU -- CPU -- '
ok 'nor has anything else' sh -c '! grep -qiw nan got'

# A trace of version 1 without anything of our own.
for view in $views; do
    run nvmtop --print 80x24 --replay "$NVMTOP_SRC/tests/traces/version-1.bin" --view $view
    ok "a bare trace has the view $view" is "$status" 0
done
run nvmtop --print 80x24 --replay "$NVMTOP_SRC/tests/traces/version-1.bin" --view board
ok 'of which it says what it knows' says out 'Board  *agx_orin'
ok 'and nothing that it does not' sh -c '! grep -q 1970 out'

on() { run nvmtop --print 120x40 --sysroot "$roots/$1" --view "$2"; }
on pc gpu
ok 'a PC: why there is no GPU' says out 'none that nvmtop can read'
on pc memory
ok 'and no memory controller' says out 'only Jetsons report'
run nvmtop --print 160x60 --sysroot "$roots/orin_nano-36-super" --view board
ok 'what is missing, and why' says out 'Missing, and why'
ok 'with what was tried' says out 'tried /sys/kernel/debug/tegra-host1x/actmon'
ok 'the mode' says out 'MAXN_SUPER'
on tx2_nx-32 power
ok 'a board without a power monitor' sh -c 'grep -q "nothing here measures it\|tried" out'
on agx_xavier-35 thermal
ok 'trip points and what is left' says out 'cpu  *33.5 °C .* 86.0  *96.0  *52.5'
ok 'a constant is not the hottest' says out 'Hottest Tdiode'
run nvmtop --print 120x60 --sysroot "$roots/orin_nx-36-offline" --view cpu
ok 'groups of cores with their governor' says out 'schedutil'
on agx_thor-38 gpu
ok 'a Thor that sleeps' says out 'powered down'
run nvmtop --print 80x24 --demo --view nonsense
ok 'a view that does not exist: exit 2' is "$status" 2
ok 'of phases: the name of its tab' says err 'thermal, phases, processes'
done_testing
