#!/bin/sh
# Settings: what holds, where it comes from, and what is told of a file that cannot be read.
. "$NVMTOP_SRC/tests/cli/lib.sh"
trace=$NVMTOP_SRC/tests/traces/demo.nvmt
conf=$XDG_CONFIG_HOME/nvmtop/nvmtop.conf

run nvmtop --print 80x24 --replay "$trace"
ok 'without a file: as they come' is "$status" 0
ok 'and nothing is told' test ! -s err
ok 'nothing is written for it' test ! -e "$conf"
cp out plain

mkdir -p "$(dirname "$conf")"
printf '# mine\ntheme = mono\nwild = 1\nhide.overview = gpu.util, power.total\nmouse = perhaps\n' >"$conf"
run nvmtop --print 80x24 --replay "$trace"
ok 'a file is read' sh -c '! cmp -s out plain'
ok 'what is not known is told with its line' says err 'nvmtop.conf:3: unknown setting "wild"'
ok 'and all that is wrong' says err 'nvmtop.conf:5: "perhaps" is not a valid value for mouse'
ok 'each once' is "$(wc -l <err)" 2
ok 'it is no failure' is "$status" 0
fills() {
    nvmtop --print 80x24 --format svg --replay "$trace" "$@" 2>/dev/null | grep -o 'fill="[^"]*"' | sort -u | wc -l
}
ok 'the theme of the file, but the command line comes first' test "$(fills)" -lt "$(fills --theme dark)"
run nvmtop --print 80x24 --no-config --replay "$trace"
ok 'without the file' cmp -s out plain
ok 'without the file: nothing is told' test ! -s err
printf 'charts = braille\n' >other.conf
run nvmtop --print 80x24 --replay "$trace" --config other.conf
ok 'charts of dots are an option' says out '⣿⣿'
ok 'without blocks' sh -c '! head -n 18 out | grep -q "██"'
run nvmtop --print 80x24 --replay "$trace" --config other.conf --ascii
ok 'but not in ASCII' sh -c '! LC_ALL=C grep -q "[^ -~]" out'
printf 'view = sensors\nmove.powr = a first\n' >other.conf
run nvmtop --print 80x24 --replay "$trace" --config other.conf
ok 'a view that there is not is told, with those that there are' \
    says err 'other.conf:1: unknown view "sensors"; known: overview, gpu, cpu, '
ok 'also where its rows are chosen' says err 'other.conf:2: unknown view "powr"; known: overview'
ok 'each once' is "$(wc -l <err)" 2
printf 'hide.\000x = gpu.util\nmove.\000 = gpu.util first\nlines.gpu\000 = gpu.util 3\n' >other.conf
run nvmtop --print 80x24 --replay "$trace" --config other.conf
ok 'a key with a zero byte is no setting' says err 'other.conf:1: unknown setting "hide.?x"'
printf 'view = phases\nhide.phases = gpu.util\nhistory = 1h\n' >other.conf
run nvmtop --print 80x24 --config other.conf "$trace"
ok 'the view of phases: it is the first' says out '^ *phase .* length'
ok 'the view of phases: without a complaint' test ! -s err
printf 'view = power\n' >other.conf
run nvmtop --print 80x24 --replay "$trace" --config nowhere.conf
ok 'one that is asked for must be there' is "$status" 1
ok 'and is named' says err 'nowhere.conf'

nvmtop --print 80x24 --replay "$trace" >out
ok 'a hidden row is not drawn' sh -c '! grep -q "^ GPU  " out'
ok 'the others are' grep -q '^ EMC  ' out
nvmtop --print 80x24 --no-config --replay "$trace" >out
ok 'unless the settings are left out' grep -q '^ GPU  ' out
nvmtop --print 80x24 --config other.conf --replay "$trace" >out
ok 'the first view' grep -q '^ rails ' out
nvmtop --print 80x24 --config other.conf --view gpu --replay "$trace" >out2
ok 'unless the command line says which' sh -c '! cmp -s out out2'

rm -rf "$XDG_CONFIG_HOME"
mkdir -p "$conf"
run nvmtop --print 80x24 --replay "$trace"
ok 'a folder where the file should be stops nobody' is "$status" 0
ok 'a folder where the file should be: said' says err 'cannot read the settings: .*nvmtop.conf'
for wrong in '--theme blue' '--theme' '--config a --no-config' 'once --theme dark' '--record --no-mouse' \
    'boards --config x' '--record --history 1h'; do
    # shellcheck disable=SC2086
    run nvmtop $wrong
    ok "$wrong: status 2" is "$status" 2
done
for theme in dark light high-contrast colour-blind terminal mono; do
    run nvmtop --print 80x24 --no-config --format svg --theme $theme --replay "$trace"
    ok "a picture: $theme" "$python" - "$theme" <<'END'
import sys, xml.etree.ElementTree as e
top = e.parse("out").getroot()
ns = "{http://www.w3.org/2000/svg}"
texts = [t.text for t in top.iter(ns + "text")]
assert "nvmtop" in texts[0], texts[0]
assert any("Heat" in t for t in texts)
assert len(list(top.iter(ns + "path"))) > 10
fills = {x.get("fill") for x in top.iter() if x.get("fill")}
assert (len(fills) > 8) == (sys.argv[1] != "mono"), fills
ground = top.find(ns + "rect").get("fill")
assert (ground in ("#ffffff",)) == (sys.argv[1] == "light"), ground
for t in top.iter(ns + "text"):
    assert int(t.get("textLength")) == 9 * len(t.text), t.text
END
done
nvmtop --print 80x24 --no-config --format svg --theme light --replay "$trace" >light.svg
nvmtop --print 80x24 --no-config --format svg --theme dark --replay "$trace" >dark.svg
ok 'another theme is another picture' sh -c '! cmp -s light.svg dark.svg'
nvmtop --print 80x24 --no-config --format text --replay "$trace" >text
nvmtop --print 80x24 --no-config --replay "$trace" >plain
ok 'as text' cmp -s text plain
run nvmtop report --format svg "$trace"
ok 'a report is no picture: status 2' is "$status" 2
done_testing
