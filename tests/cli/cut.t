#!/bin/sh
# Parts of traces: judged by the reader of version 1, by --check, and by comparing what is exported.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
write() { "$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" "$@"; }
sound() { nvmtop --check "$1"; }
same() {
    for form in csv jsonl; do
        nvmtop --export $form "$1" >one || return
        nvmtop --export $form "$2" >two || return
        cmp one two || return
    done
}
write waves.bin
write plain.bin --plain
demo=$NVMTOP_SRC/tests/traces/demo.bin

run nvmtop --cut waves.bin --from 3 --to 13 -o middle.bin
ok 'a stretch' is "$status" 0
ok 'nothing is said' test ! -s err
ok 'the format is kept' sound middle.bin
ok 'so is version 1' judge middle.bin "t['counts'] == {'fast': 9950, 'medium': 990, 'slow': 100, 'sync': 5}"
ok 'marks are numbered anew' judge middle.bin "[s['id'] for s in t['sync']] == [1, 2, 3, 4, 5]"
ok 'and keep their places' judge middle.bin "[round(s['time_s'], 6) for s in t['sync']] == [1, 3, 5, 7, 9]"
run nvmtop --export jsonl middle.bin
ok 'the clocks are those of its start' says out '"monotonic_ns":5003000000123,"realtime_ns":1700000003000000000,"boottime_ns":6003000000123'
ok 'labels are kept' says out '"row":"mark","phase":1,"label":"rest"'
ok 'so are gaps' says out '"row":"gap".*"missed":50'
ok 'and what version 1 has no room for' says out '"throttle.x":1'
run nvmtop --cut waves.bin --from 3.12 --to 3.13 -o gap.bin
ok 'within a gap: only what was sampled there' judge gap.bin "t['counts'] == {'fast': 0, 'medium': 1, 'slow': 0, 'sync': 0}"
run nvmtop --cut waves.bin --to 3.12 -o begin.bin
ok 'a gap that is cut' is "$(nvmtop --export jsonl begin.bin | grep -c '"missed":21')" 1

run nvmtop --cut waves.bin --to 3 -o first.bin
run nvmtop --cut waves.bin --from 13 -o last.bin
rows() {
    nvmtop --export jsonl "$1" | grep -c '"row":"fast"'
}
ok 'three parts: every sample once' is $(($(rows first.bin) + $(rows middle.bin) + $(rows last.bin))) "$(rows waves.bin)"
id() {
    "$python" -c 'import sys; print(open(sys.argv[1], "rb").read()[8:12].hex())' "$1"
}
nvmtop --cut "$demo" --from 0 -o d1.nvmt
nvmtop --cut d1.nvmt --from 0 -o d2.nvmt
ok 'all of it: every sample and mark' same "$demo" d2.nvmt
ok 'a part is a recording of its own' test "$(id d1.nvmt)" != "$(id d2.nvmt)"
(
    cp first.bin old.bin
    ulimit -f 400
    run nvmtop --cut waves.bin --to 13 --force -o old.bin
    echo $status >old.status
)
ok 'no room for all of it: status 1' is "$(cat old.status)" 1
ok 'no room for all of it: said' says err 'File too large'
ok 'no room for all of it: what was there stays' cmp first.bin old.bin
ok 'no room for all of it: nothing is left over' is "$(echo old.bin*)" old.bin
run nvmtop --cut plain.bin --from 5 --to 6 -o p.bin
ok 'of version 1 alone' is "$status" 0
ok 'of version 1 alone: the format' sound p.bin
ok 'of version 1 alone: samples' judge p.bin "t['counts']['fast'] == 1000 and t['rail_names'] == ['ramp', 'wave']"
echo precious >there.bin
run nvmtop --cut waves.bin --from 3 -o there.bin
ok 'never over a file: status 1' is "$status" 1
ok 'never over a file: untouched' is "$(cat there.bin)" precious
run nvmtop --cut waves.bin --from 3 -o there.bin --force
ok 'with --force neither, if it is no recording' test "$status:$(cat there.bin)" = 1:precious
cp waves.bin there.bin
run nvmtop --cut waves.bin --from 3 -o there.bin --force
ok 'but with --force' sound there.bin
run nvmtop --cut waves.bin --from 30 -o x.bin
ok 'behind its end: status 1' is "$status" 1
ok 'behind its end: no file' test ! -e x.bin
run nvmtop --cut waves.bin --from 3
ok 'without -o: status 2' is "$status" 2
run nvmtop --cut waves.bin -o x.bin
ok 'without a stretch: status 2' is "$status" 2
run nvmtop --cut nowhere.bin --from 1 -o x.bin
ok 'no such file: status 1' is "$status" 1
run sh -c 'ulimit -f 300; exec $EMU "$0" --cut waves.bin --from 1 -o small.bin' "$NVMTOP"
ok 'a file that may not grow: status 1' is "$status" 1
ok 'a file that may not grow: nothing is left' is "$(ls | grep -c small)" 0
done_testing
