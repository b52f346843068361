#!/bin/sh
# Settings: what holds, where it comes from, and what is told of a file that cannot be read.
. "$NVMTOP_SRC/tests/cli/lib.sh"
trace=$NVMTOP_SRC/tests/traces/demo.bin
conf=$XDG_CONFIG_HOME/nvmtop/nvmtop.conf

run nvmtop --print-config
ok 'without a file: as they come' is "$status" 0
ok 'and nothing is told' test ! -s err
ok 'themes follow the terminal' grep -qx 'theme = auto' out
ok 'nothing is written for it' test ! -e "$conf"
cp out first.conf
run nvmtop --print-config --config first.conf
ok 'what is printed can be read' is "$status" 0
ok 'and says the same' cmp -s out first.conf
ok 'without a complaint' test ! -s err

mkdir -p "$(dirname "$conf")"
printf '# mine\ntheme = mono\nwild = 1\nhide.overview = gpu.util, power.total\nmouse = perhaps\n' >"$conf"
run nvmtop --print-config
ok 'a file is read' grep -qx 'theme = mono' out
ok 'what is not known is told with its line' says err 'nvmtop.conf:3: unknown setting "wild"'
ok 'and all that is wrong' says err 'nvmtop.conf:5: "perhaps" is not a valid value for mouse'
ok 'it is no failure' is "$status" 0
run nvmtop --print-config --theme colour-blind-light --no-mouse
ok 'the command line comes first' grep -qx 'theme = colour-blind-light' out
ok 'for the mouse, too' grep -qx 'mouse = no' out
run nvmtop --print-config --no-config
ok 'without the file' grep -qx 'theme = auto' out
printf 'charts = braille\n' >other.conf
run nvmtop --print 80x24 --replay "$trace" --config other.conf
ok 'charts of dots are an option' says out '⣿⣿'
ok 'without blocks' sh -c '! head -n 18 out | grep -q "██"'
run nvmtop --print 80x24 --replay "$trace" --config other.conf --ascii
ok 'but not in ASCII' sh -c '! LC_ALL=C grep -q "[^ -~]" out'
printf 'view = sensors\nmove.powr = a first\n' >other.conf
run nvmtop --print-config --config other.conf
ok 'a view that there is not is told, with those that there are' \
    says err 'other.conf:1: unknown view "sensors"; known: overview, gpu, cpu, '
ok 'also where its rows are chosen' says err 'other.conf:2: unknown view "powr"; known: overview'
ok 'each once' is "$(wc -l <err)" 2
ok 'and stays in the file' grep -qx 'view = sensors' out
printf 'hide.\000x = gpu.util\nmove.\000 = gpu.util first\nlines.gpu\000 = gpu.util 3\n' >other.conf
run nvmtop --print-config --config other.conf
ok 'a key with a zero byte is no setting' says err 'other.conf:1: unknown setting "hide.?x"'
cp out again.conf
run nvmtop --print-config --config again.conf
ok 'and what is printed can be read' test ! -s err
printf 'view = phases\nhide.phases = gpu.util\n' >other.conf
run nvmtop config --config other.conf
ok 'the view of phases' sh -c 'grep -qx "view = phases" out && grep -qx "hide.phases = gpu.util" out'
ok 'the view of phases: without a complaint' test ! -s err
run nvmtop --print 80x24 --config other.conf "$trace"
ok 'the view of phases: it is the first' says out '^ *phase .* length'
printf 'history = 45min\n' >other.conf
run nvmtop --print-config --config other.conf
ok 'the history of the file' grep -qx 'history = 45min' out
run nvmtop --print-config --config other.conf --history 1h
ok 'unless the command line says another' grep -qx 'history = 1h' out
run nvmtop --print-config --config other.conf --history 0
ok 'also the one that comes without' grep -qx 'history = 0' out
printf 'view = power\n' >other.conf
run nvmtop --print-config --config other.conf
ok 'another file' grep -qx 'view = power' out
run nvmtop --print-config --config nowhere.conf
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
for wrong in '--theme blue' '--theme' '--config a --no-config' '--once --theme dark' '--record --no-mouse' \
    '--boards --config x' '--record --history 1h'; do
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
run nvmtop --report --format svg "$trace"
ok 'a report is no picture: status 2' is "$status" 2
done_testing
