#!/bin/sh
# The text format of the fake boards and its tools.
. "$NVMTOP_SRC/tests/cli/lib.sh"
tool="$python $NVMTOP_SRC/tests/tools/board.py"
texts=$NVMTOP_SRC/tests/boards

for r in "$roots"/*/; do
    name=${r%/}
    grep -v '^#' "$texts/${name##*/}.txt"
done >text
$tool pack "$roots"/*/ >packed
ok 'each board packs to its text' diff -u text packed

mkdir -p odd/a/empty odd/unreadable
printf 'one\n' >odd/a/line
printf ' two \n\n\tthree\n' >odd/a/lines
printf '\n' >odd/a/newline
printf 'a\\b\tc\0d\n\n\303\244' >odd/a/bytes
printf 'x: y = z -> #\n' >odd/a/a:b
: >odd/a/none
ln -s /absolute/../way odd/a/absolute
ln -s ../odd/nowhere odd/a/relative
$tool pack odd >odd.txt
$tool unpack made odd.txt
ok 'each kind of file survives' diff -r --no-dereference odd made/odd
ok 'empty directories survive' test -d made/odd/a/empty
ok 'link targets are unchanged' is "$(readlink made/odd/a/absolute) $(readlink made/odd/a/relative)" '/absolute/../way ../odd/nowhere'
echo stale >made/odd/a/line
touch -d '1 hour ago' odd.txt
$tool unpack made odd.txt
ok 'a tree newer than its text is kept' is "$(cat made/odd/a/line)" stale
touch -d '1 hour' odd.txt
$tool unpack made odd.txt
ok 'an older one is replaced' is "$(cat made/odd/a/line)" one
for bad in 'relative: x' '/a' '/a/../../b: x' 'text'; do
    echo "$bad" >bad.txt
    run $tool unpack made bad.txt
    ok "$bad: refused" says err 'bad.txt:1: neither a file, a folder nor a link'
done

# mkroot.sh copies everything nvmtop reads on a board.
for name in agx_orin-36 agx_thor-38 container-36-model nano-32 pc; do
    nvmtop boards --sysroot "$roots/$name" | sed "s|$roots/||g" >want
    mkdir -p of
    rm -rf "of/$name"
    sh "$NVMTOP_SRC/tests/tools/mkroot.sh" --from "$roots/$name" "of/$name" >said
    nvmtop boards --sysroot "of/$name" | sed 's|of/||g' >got
    ok "$name: mkroot.sh copies everything" diff -u want got
done
done_testing
