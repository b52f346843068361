#!/bin/sh
# Files that are no trace, or no longer a whole one.
. "$NVMTOP_SRC/tests/cli/lib.sh"

refused() {
    run nvmtop --print 80x24 --replay "$2"
    ok "$1: status 1" is "$status" 1
    ok "$1: one sentence" one_line err
    ok "$1: names it" says err "$2"
    ok "$1: nothing on standard output" test ! -s out
}
: >empty.nvmt
printf 'hello, world\n' >text.nvmt
head -c 5000 /dev/zero >zeros.nvmt
mkdir folder
mkfifo pipe
refused 'no such file' none.nvmt
refused 'an empty file' empty.nvmt
refused 'another kind of file' text.nvmt
refused 'zeros' zeros.nvmt
refused 'a folder' folder
refused 'a pipe' pipe
ok 'a pipe: what to do' grep -q -- '- as FILE' err

nvmtop --demo --record --duration 0.4 --fast-hz 100 good.nvmt 2>/dev/null
nvmtop export nvmt1 -o good.bin good.nvmt
run nvmtop --print 80x24 --replay good.bin
ok 'a good file: status 0' is "$status" 0
size=$(wc -c <good.bin)
head -c 700 good.bin >short.bin
refused 'cut within the header' short.bin
for cut in 728 800 2000 $((size - 1)) $((size / 2)); do
    head -c "$cut" good.bin >cut.bin
    run nvmtop --print 80x24 --replay cut.bin
    ok "cut at $cut of $size: status 3" is "$status" 3
    ok "cut at $cut: one sentence" one_line err
    ok "cut at $cut: a screen" test -s out
done
printf '\377\377\377\377\377\377\377\377' | dd of=good.bin bs=1 seek=56 conv=notrunc 2>/dev/null
run nvmtop --print 80x24 --replay good.bin
ok 'a count that overflows: status 3' is "$status" 3
done_testing
