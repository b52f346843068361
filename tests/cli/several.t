#!/bin/sh
# The files of one recording: given together, in any order, and one behind the other in one file.
. "$NVMTOP_SRC/tests/cli/lib.sh"
find_python_module

run nvmtop record --demo --duration 4.5 --split 1 r.nvmt
ok 'a recording in five files' is "$(echo r.*)" 'r.2.nvmt r.3.nvmt r.4.nvmt r.5.nvmt r.nvmt'
cp err recorded
# said WHAT: a number of the recorder's summary
said() { sed -n "s/.* \([0-9]*\) $1.*/\1/p" recorded | head -1; }
mixed='r.3.nvmt r.nvmt r.5.nvmt r.4.nvmt r.2.nvmt'
cat r.nvmt r.2.nvmt r.3.nvmt r.4.nvmt r.5.nvmt >c.nvmt

# What the recorder counted, and what is in each file by itself, is the truth.
fast() { nvmtop export jsonl "$@" 2>err | grep '"row":"fast"' | sed 's/.*"gpu.util"/"gpu.util"/'; }
for f in r.nvmt r.2.nvmt r.3.nvmt r.4.nvmt r.5.nvmt; do fast $f; done >each
# shellcheck disable=SC2086
fast $mixed >together
fast c.nvmt >behind
ok 'as many rows as were recorded' is "$(wc -l <together)" "$(said fast)"
ok 'the rows of each file, in their order' cmp each together
ok 'the same in one file' cmp each behind
rises() {
    nvmtop export csv "$@" | "$python" -c 'import csv, sys
t = [float(r["time_s"]) for r in csv.DictReader(l for l in sys.stdin if l[0] != "#")]
assert len(t) > 4000 and max(b - a for a, b in zip(sorted(set(t)), sorted(set(t))[1:])) < 0.5 and 4.3 < t[-1] - t[0] < 5, (len(t), t[-1])'
}
# shellcheck disable=SC2086
ok 'one clock, without holes' rises $mixed

# Both forms are the same to every verb, but for their name.
same() {
    name=$1
    shift
    # shellcheck disable=SC2086
    run nvmtop "$@" $mixed
    ok "$name: status 0" is "$status" 0
    ok "$name: nothing is said" test ! -s err
    sed 's/r\.nvmt and 4 other files/c.nvmt/; s/r\.nvmt/c.nvmt/' out >one
    run nvmtop "$@" c.nvmt
    ok "$name: as of one file" cmp one out
}
same 'report' report
same 'report of all, as JSON' report --all --format json
same 'report of a part' report --from 0.7 --to 3.3
for form in csv jsonl perfetto; do same "export $form" export $form; done
same 'export of a part' export csv --from 0.9 --to 2.1
same 'resampled' export csv --resample 13
run nvmtop report $mixed
ok 'the report names the first file, and how many there are' says out '^r.nvmt and 4 other files: '
for size in 80x24 200x60; do
    nvmtop --print $size --at 2.5 $mixed | sed 1d >one
    nvmtop --print $size --at 2.5 c.nvmt | sed 1d >two
    ok "the screen at $size" cmp one two
done
run nvmtop --print 160x40 $mixed
ok 'its title names the first file, and how many there are' says out 'r.nvmt and 4 other files'
run nvmtop replay --print 80x24 $mixed
ok 'also with its verb' is "$status" 0
run nvmtop export nvmt1 -o v1.bin $mixed
ok 'as version 1' judge v1.bin "t['counts']['fast'] == $(said fast)"
if test -z "$EMU" && "$python" -c 'import nvmtop' 2>err; then
    ok 'Python reads the one file' "$python" -c 'import nvmtop, sys
assert len(nvmtop.Trace("c.nvmt").fast) == int(sys.argv[1])' "$(said fast)"
fi
run nvmtop check c.nvmt
ok 'and it is sound' is "$status" 0

# A missing file is a gap with its reason.
rows3=$(fast r.3.nvmt | wc -l)
cat r.nvmt r.2.nvmt r.4.nvmt r.5.nvmt >c2.nvmt
for files in 'r.5.nvmt r.nvmt r.4.nvmt r.2.nvmt' c2.nvmt; do
    run nvmtop export jsonl $files
    ok "$files: status 0" is "$status" 0
    grep '"row":"gap".*"tier":"fast","cause":"absent"' out >gap
    missed=$(sed 's/.*"missed":\([0-9]*\).*/\1/' gap)
    ok "$files: a gap" is "$(wc -l <gap)" 1
    # Late ticks at its edges are gaps of their own, and a row at an edge may be late by almost a tick.
    ok "$files: as long as what was in it" test "$missed" -ge $((rows3 - 1)) -a "$missed" -lt $((rows3 * 3 / 2))
    ok "$files: the other rows" is "$(grep -c '"row":"fast"' out)" $(($(said fast) - rows3))
    ok "$files: said" says err '1 of the files of this recording is missing'
    run nvmtop report $files
    ok "$files: the report counts it" says out "fast: .* $missed lost"
    run nvmtop --print 160x40 $files
    ok "$files: on the screen" says out 'missing file'
done
# What was set while a missing file was recorded is known from the next one.
cp -R "$roots/agx_orin-36" tree && chmod -R u+w tree
$EMU "$NVMTOP" record --sysroot tree --split 1 m.nvmt 2>m.err &
recorder=$!
soon test -s m.2.nvmt
echo pmode:0003 >tree/var/lib/nvpmodel/status
has_change() {
    for part in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        test -s "m.$((part + 1)).nvmt" || return 1
        nvmtop export jsonl m.$part.nvmt 2>/dev/null | grep -q '"what":"mode","from":"MODE_30W","to":"MODE_50W"' && return
    done
}
ok 'a file has the change' soon has_change
has_change && without=$part
kill $recorder
wait $recorder
run nvmtop report --all m.nvmt m.*.nvmt
ok 'together they tell it once' is "$(grep -c 'mode: MODE_30W -> MODE_50W' out)" 1
mv m.$without.nvmt lost
run nvmtop report --all m.nvmt m.*.nvmt
ok 'without the file in which it was, it is told once, too' is "$(grep -c 'mode: MODE_30W -> MODE_50W' out)" 1
between() {
    nvmtop export jsonl m.nvmt m.*.nvmt 2>err | "$python" -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin if "\"row\":\"change\"" in line or "\"absent\"" in line]
at, = [r["time_s"] for r in rows if r.get("what") == "mode"]
gap, = [r for r in rows if r.get("tier") == "slow"]
assert gap["time_s"] < at <= gap["to_s"], (at, gap)'
}
ok 'and that it was in the time that is missing' between
# A file that ends early, as after a full disk, is none that is missing.
cp r.2.nvmt keep.2
head -c $(($(wc -c <keep.2) - 30)) keep.2 >r.2.nvmt
run nvmtop export jsonl $mixed
ok 'a file without its end: status 0' is "$status" 0
ok 'a file without its end: every row' is "$(grep -c '"row":"fast"' out)" "$(said fast)"
ok 'a file without its end: no gap' sh -c '! grep -q absent out'
mv keep.2 r.2.nvmt
# Damage within a file is damage.
"$python" -c 'import struct
raw, at = bytearray(open("r.3.nvmt", "rb").read()), 0
while raw[at + 4] != 2:
    at += 48 + struct.unpack_from("<I", raw, at + 24)[0]
raw[at + 48 + 20] ^= 255
open("bad.nvmt", "wb").write(raw)'
run nvmtop export jsonl r.nvmt r.2.nvmt bad.nvmt r.4.nvmt r.5.nvmt
ok 'damage: status 3' is "$status" 3
ok 'damage: said once' one_line err

# Two recordings.
nvmtop record --demo --duration 1.5 --split 1 s.nvmt 2>err
run nvmtop report r.nvmt s.nvmt r.2.nvmt r.3.nvmt s.2.nvmt r.4.nvmt r.5.nvmt
ok 'report of two: status 0' is "$status" 0
cp out two
run nvmtop report c.nvmt s.nvmt s.2.nvmt
sed 's/r\.nvmt and 4 other files/c.nvmt/' two >one
ok 'report of two: compared' cmp one out
run nvmtop report s.nvmt s.nvmt s.2.nvmt s.2.nvmt
ok 'report of one that is given twice: compared with itself' says out '^B: s.nvmt and 1 other file$'
run nvmtop report r.nvmt r.2.nvmt r.3.nvmt r.4.nvmt r.5.nvmt --against c.nvmt
ok 'the sides of --against are told apart' is "$status" 0
for verb in 'replay --print 80x24' 'export csv'; do
    run nvmtop $verb r.nvmt s.nvmt
    ok "$verb of two: status 1" is "$status" 1
    ok "$verb of two: said" says err '^nvmtop: r.nvmt and s.nvmt are of two recordings: nvmtop r.nvmt --with s.nvmt compares them$'
    run nvmtop $verb r.nvmt r.2.nvmt r.nvmt
    ok "$verb of one file twice: status 1" is "$status" 1
    ok "$verb of one file twice: said" says err 'are the same file of a recording'
    run nvmtop $verb r.nvmt "$NVMTOP_SRC/tests/traces/version-1.bin"
    ok "$verb with version 1: status 1" is "$status" 1
    ok "$verb with version 1: said" says err 'is of NVMT version 1'
    run nvmtop $verb r.nvmt nowhere.nvmt
    ok "$verb without one of them: status 1" is "$status" 1
    ok "$verb without one of them: said" says err 'cannot read nowhere.nvmt'
done
run nvmtop replay --print 80x24 r.nvmt -
ok 'a stream beside a file: status 2' is "$status" 2
run nvmtop replay --follow r.nvmt r.2.nvmt
ok 'following two files: status 2' is "$status" 2
run nvmtop export csv r.nvmt r.2.nvmt -o r.2.nvmt --force
ok 'no file of it is overwritten: status 1' is "$status" 1
ok 'no file of it is overwritten: said' says err 'is the trace itself'
done_testing
