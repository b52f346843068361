#!/bin/sh
# make screenshots gives reproducible pictures.
. "$NVMTOP_SRC/tests/cli/lib.sh"

shots=$(dirname "$NVMTOP")/../tests/tools/shots
cp "$NVMTOP_SRC/boards/demo.board" slow.board
mkdir a b
for to in a b; do
    run $EMU "$shots" $to <"$NVMTOP_SRC/docs/screenshots/script.txt"
    ok "the script is drawn into $to" is "$status" 0
    "$python" "$NVMTOP_SRC/tests/tools/animate.py" "$NVMTOP_SRC/docs/screenshots/script.txt" $to >$to/animation.svg
    ok 'pictures, frames and the animation' test -s $to/overview.svg -a -s $to/frame-20.svg -a -s $to/animation.svg
    rm -f $to/*.nvmt
done
ok 'both runs give the same' diff -r a b
ok 'all are XML' "$python" -c '
import glob, xml.etree.ElementTree
for f in glob.glob("a/*.svg"):
    xml.etree.ElementTree.parse(f)'
done_testing
