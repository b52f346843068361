#!/bin/sh
# Parts of traces: judged by the reader of version 1, by check, and by comparing what is exported.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
write() { "$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" "$@"; }
sound() { nvmtop check "$1"; }
same() {
    for form in csv jsonl; do
        nvmtop export $form "$1" >one || return
        nvmtop export $form "$2" >two || return
        cmp one two || return
    done
}
write waves.nvmt
write plain.bin
demo=$NVMTOP_SRC/tests/traces/demo.nvmt

run nvmtop cut waves.nvmt --from 3 --to 13 -o middle.nvmt
ok 'a stretch' is "$status" 0
ok 'nothing is said' test ! -s err
ok 'the format is kept' sound middle.nvmt
ok 'so is version 1' judge middle.nvmt "t['counts'] == {'fast': 9950, 'medium': 990, 'slow': 100, 'sync': 5}"
ok 'marks keep their numbers' judge middle.nvmt "[s['id'] for s in t['sync']] == [2, 3, 4, 5, 6]"
ok 'and keep their places' judge middle.nvmt "[round(s['time_s'], 6) for s in t['sync']] == [1, 3, 5, 7, 9]"
run nvmtop export jsonl middle.nvmt
ok 'the clocks are those of its start' says out '"monotonic_ns":5003000000123,"realtime_ns":1700000003000000000,"boottime_ns":6003000000123'
ok 'labels are kept' says out '"row":"mark","phase":2,"label":"rest"'
ok 'so are gaps' says out '"row":"gap".*"missed":50'
ok 'and what version 1 has no room for' says out '"throttle.x":1'
run nvmtop cut waves.nvmt --from 3.12 --to 3.13 -o gap.nvmt
ok 'within a gap: only what was sampled there' judge gap.nvmt "t['counts'] == {'fast': 0, 'medium': 1, 'slow': 0, 'sync': 0}"
run nvmtop cut waves.nvmt --to 3.12 -o begin.nvmt
ok 'a gap that is cut' is "$(nvmtop export jsonl begin.nvmt | grep -c '"missed":21')" 1

run nvmtop cut waves.nvmt --to 3 -o first.nvmt
run nvmtop cut waves.nvmt --from 13 -o last.nvmt
rows() {
    nvmtop export jsonl "$1" | grep -c '"row":"fast"'
}
ok 'three parts: every sample once' is $(($(rows first.nvmt) + $(rows middle.nvmt) + $(rows last.nvmt))) "$(rows waves.nvmt)"
id() {
    "$python" -c 'import sys; print(open(sys.argv[1], "rb").read()[8:12].hex())' "$1"
}
nvmtop cut "$demo" --from 0 -o d1.nvmt
nvmtop cut d1.nvmt --from 0 -o d2.nvmt
ok 'all of it: every sample and mark' same "$demo" d2.nvmt
ok 'a part is a recording of its own' test "$(id d1.nvmt)" != "$(id d2.nvmt)"
(
    cp first.nvmt old.nvmt
    ulimit -f 60
    run nvmtop cut waves.nvmt --to 13 --force -o old.nvmt
    echo $status >old.status
)
ok 'no room for all of it: status 1' is "$(cat old.status)" 1
ok 'no room for all of it: said' says err 'File too large'
ok 'no room for all of it: what was there stays' cmp first.nvmt old.nvmt
ok 'no room for all of it: nothing is left over' is "$(echo old.nvmt*)" old.nvmt
run nvmtop cut plain.bin --from 5 --to 6 -o p.bin
ok 'of version 1 alone' is "$status" 0
ok 'of version 1 alone: the format' sound p.bin
ok 'of version 1 alone: samples' judge p.bin "t['counts']['fast'] == 1000 and t['rail_names'] == ['ramp', 'wave']"
echo precious >there.nvmt
run nvmtop cut waves.nvmt --from 3 -o there.nvmt
ok 'never over a file: status 1' is "$status" 1
ok 'never over a file: untouched' is "$(cat there.nvmt)" precious
run nvmtop cut waves.nvmt --from 3 -o there.nvmt --force
ok 'with --force neither, if it is no recording' test "$status:$(cat there.nvmt)" = 1:precious
cp waves.nvmt there.nvmt
run nvmtop cut waves.nvmt --from 3 -o there.nvmt --force
ok 'but with --force' sound there.nvmt
run nvmtop cut waves.nvmt --from 30 -o x.nvmt
ok 'behind its end: status 1' is "$status" 1
ok 'behind its end: no file' test ! -e x.nvmt
run nvmtop cut waves.nvmt --from 3
ok 'without -o: status 2' is "$status" 2
run nvmtop cut waves.nvmt -o x.nvmt
ok 'without a stretch: status 2' is "$status" 2
run nvmtop cut nowhere.nvmt --from 1 -o x.nvmt
ok 'no such file: status 1' is "$status" 1
run sh -c 'ulimit -f 60; exec $EMU "$0" cut waves.nvmt --from 1 -o small.nvmt' "$NVMTOP"
ok 'a file that may not grow: status 1' is "$status" 1
ok 'a file that may not grow: nothing is left' is "$(ls | grep -c small)" 0
done_testing
