#!/bin/sh
# check: sound files are sound, and damage is reported, that of version 1 with section and offset.  And every command survives bad files.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
traces=$NVMTOP_SRC/tests/traces
for name in demo.nvmt small.nvmt version-1.bin; do
    run nvmtop check "$traces/$name"
    ok "$name: sound" is "$status" 0
    ok "$name: says so" says out '^valid'
done
"$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" good.nvmt --seconds 3
"$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" plain.bin --seconds 3
"$python" "$NVMTOP_SRC/tests/tools/nvmt.py" make other.bin --fast 500 --medium 50 --slow 5
for name in good.nvmt plain.bin other.bin; do
    run nvmtop check $name
    ok "of another writer, $name: sound" is "$status" 0
done
run nvmtop --demo --record --duration 1 fresh.bin
run nvmtop check fresh.bin
ok 'a fresh recording: sound' is "$status" 0

# patch FILE OFFSET BYTES(hex): to bad.bin
patch() {
    "$python" -c 'import sys
raw = bytearray(open(sys.argv[1], "rb").read())
at = int(eval(sys.argv[2], {"n": len(raw), "find": raw.find}))
new = bytes.fromhex(sys.argv[3])
raw[at:at + len(new)] = new
open("bad.bin", "wb").write(raw)' "$1" "$2" "$3"
}
# wrong TITLE FILE OFFSET BYTES SAYS: one sentence that says so, status 3
wrong() {
    patch "$2" "$3" "$4"
    run nvmtop check bad.bin
    ok "$1: status 3" is "$status" 3
    ok "$1: said" says out "$5"
}
fast=728
wrong 'header: cores' plain.bin 40 11 'the header, at offset 40, has 17 cores'
wrong 'header: rate' plain.bin 44 00000000 'the header, at offset 44, has a rate of 0 Hz'
wrong 'header: count' plain.bin 56 ffffffffffffffff 'in the fast section, with [0-9]* of 18446744073709551615 rows'
wrong 'fast: time' plain.bin $((fast + 98 * 7)) 000000000000f87f "the time of row 7 of the fast section, at offset $((fast + 98 * 7)), is invalid"
wrong 'fast: order' plain.bin $((fast + 98 * 7)) 0000000000000000 "the time of row 7 of the fast section, at offset $((fast + 98 * 7)), is invalid"
wrong 'fast: GPU' plain.bin $((fast + 98 * 9 + 8)) ffff "gpu.util is 6553.5 in row 9 of the fast section"
wrong 'fast: a core above 100' plain.bin $((fast + 98 * 9 + 10)) 0000ca42 "cpu0.util is 101 in row 9 of the fast section"
wrong 'sync: row' plain.bin 'n - 8' ffffff0000000000 'sync point [0-9]*, at offset [0-9]*, is behind the last fast row'
# Who reads values finds that they cannot be when it reads them, and says so in the end.
patch plain.bin $((fast + 98 * 9 + 8)) ffff
for what in 'report bad.bin' 'export csv bad.bin' '--print 80x24 --replay bad.bin'; do
    run nvmtop $what
    ok "$what: what cannot be, status 3" is "$status" 3
    ok "$what: said" says err '1 out-of-range value is treated as missing: gpu.util is 6553.5 in row 9'
    ok "$what: in one sentence" one_line err
done
patch plain.bin $((fast + 98 * 7)) 0000000000000000
"$python" -c 'raw = bytearray(open("bad.bin", "rb").read())
raw[728 + 98 * 7 + 8] = raw[728 + 98 * 7 + 9] = raw[728 + 98 * 8 + 9] = 255
raw[41] = 99
open("bad.bin", "wb").write(raw)'
run nvmtop check bad.bin
ok 'several: each is reported' sh -c 'grep -q "at offset 40, has .* 99 rails" out && grep -q "time of row 7" out'
head -c 200000 plain.bin >bad.bin
run nvmtop check bad.bin
ok 'cut: status 3' is "$status" 3
ok 'cut: where' says out 'it ends at offset 200000, in the fast section, with 2033 of 3001 rows'
head -c 500 plain.bin >bad.bin
run nvmtop check bad.bin
ok 'cut in its header: status 1' is "$status" 1
run nvmtop check nowhere.bin
ok 'no such file: status 1' is "$status" 1
run nvmtop check .
ok 'a folder: status 1' is "$status" 1
echo 'this is no trace' >text
run nvmtop check text
ok 'no trace: status 1' is "$status" 1
patch plain.bin 4 02
run nvmtop check bad.bin
ok 'another version: status 1' is "$status" 1
mkfifo pipe
run nvmtop check pipe
ok 'a FIFO: status 1, at once' is "$status" 1

# A log: each byte counts.
nvmtop cut good.nvmt --from 0 -o cut.nvmt
mv cut.nvmt good.nvmt
run nvmtop check good.nvmt
ok 'a log: sound' is "$status" 0
log_wrong() {
    "$python" -c 'import sys
raw = bytearray(open("good.nvmt", "rb").read())
exec(sys.argv[1])
open("bad.nvmt", "wb").write(raw)' "$2"
    run nvmtop check bad.nvmt
    ok "a log, $1: status 3" is "$status" 3
    ok "a log, $1: said" says out "$3"
}
log_wrong 'a bit in the middle' 'raw[len(raw) // 2] ^= 1' 'cannot be used\|belong to no chunk'
log_wrong 'without its end' 'del raw[-40:]' 'it has no END'
log_wrong 'bytes behind it' 'raw += b"xyz"' 'the last 3 bytes are no chunk'
edited() {
    "$python" "$NVMTOP_SRC/tests/tools/nvmt-log-edit.py" "$1" good.nvmt bad.nvmt
    run nvmtop check bad.nvmt
    ok "a log, another $1: status 3" is "$status" 3
    ok "a log, another $1: said" says out "$2"
}
for what in 'codec:its codec is not known' 'version:its version is not known' 'column:of a form that is not known' \
    'lost:cannot be used, with [0-9]* rows or more; the first, .* it is not there'; do
    edited "${what%%:*}" "${what#*:}"
    run nvmtop report --summary bad.nvmt
    ok "a log, another ${what%%:*}: status 3 of a report" is "$status" 3
    ok "a log, another ${what%%:*}: said by a report" says err "${what#*:}"
done
"$python" "$NVMTOP_SRC/tests/tools/nvmt-log-edit.py" kind good.nvmt newer.nvmt
run nvmtop check newer.nvmt
ok 'a log with a chunk of another kind: status 0' is "$status" 0
ok 'a log with a chunk of another kind: counted once' says out '; 1 of a newer version'
for verb in 'report --summary' 'export csv' 'cut --from 0 -o newer.cut.nvmt'; do
    run nvmtop $verb newer.nvmt
    ok "a log with a chunk of another kind: status 0 of $verb" is "$status" 0
    ok "a log with a chunk of another kind: said by $verb" says err 'does not know: 1 of its chunks were skipped'
done

# Times that cannot be, under right checksums; 2^62 is the first that cannot.
timed() {
    "$python" "$NVMTOP_SRC/tests/tools/nvmt-log-edit.py" "$1" "$traces/ranges.nvmt" bad.nvmt || exit 99
    run nvmtop check bad.nvmt
    ok "$1: status" is "$status" "$2"
    ok "$1: said" says "$3" "$4"
    run nvmtop report bad.nvmt
    ok "$1: no phase is far away" test -z "$(grep -E '[0-9]{8}' out)"
}
edge=4611686018427387904
for ns in -9223372036854775808 9223372036854775807 $edge -$edge; do
    for what in start wall anchor; do
        timed $what=$ns 1 err 'cannot be read: its description has times that are out of range'
    done
done
timed start=4000000000000000000 3 out 'the first, of unknown number, is about 0.0 s after the start: what it holds cannot be'
for ns in -9223372036854775808 9223372036854775807 $edge; do
    timed range=$ns 3 out 'cannot be used; the first, .*: what it holds cannot be'
    timed mark=$ns 3 out 'cannot be used; the first, .*: what it holds cannot be'
done

for ns in -9223372036854775808 9223372036854775807 $edge; do
    for what in first-time last-time; do timed $what=$ns 3 out 'what it holds cannot be'; done
done

# Bins that cannot be are made again from the rows.
"$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" made.nvmt --seconds 60
nvmtop cut --from 0 --to 59 -o long.nvmt made.nvmt
nvmtop --print 80x24 --replay long.nvmt >right 2>err
for ns in -9223372036854775808 9223372036854775807; do
    mkdir -p other
    "$python" "$NVMTOP_SRC/tests/tools/nvmt-log-edit.py" bin=$ns long.nvmt other/long.nvmt
    run nvmtop --print 80x24 --replay other/long.nvmt
    ok "bin=$ns: the picture is right" sh -c 'sed 1d right >a && sed 1d out >b && diff a b'
done

# Bad bytes anywhere: a sentence and a status, never more.
"$python" -c 'import random
base = [open(f, "rb").read() for f in ("good.nvmt", "plain.bin")]
rng = random.Random(7)
for i in range(24):
    raw = bytearray(base[i % 2])
    for _ in range(rng.choice((1, 3, 20))):
        at = rng.randrange(728) if rng.random() < 0.3 else rng.randrange(len(raw) * 9 // 10, len(raw)) if rng.random() < 0.6 else rng.randrange(len(raw))
        raw[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    if i % 3 == 0:
        raw = raw[:rng.randrange(len(raw))]
    open(f"bad{i}.bin", "wb").write(raw)'
: >died
for f in bad[0-9]*.bin; do
    for what in 'check' 'report --format json' 'report --from 1' 'export csv --resample 3' 'export perfetto'; do
        nvmtop $what "$f" >out 2>err </dev/null
        status=$?
        test $status -le 3 || echo "$f $what: $status" >>died
        case $what in
        *json) test $status -eq 1 || "$python" -m json.tool out >/dev/null 2>&1 || echo "$f: no JSON" >>died ;;
        esac
    done
    nvmtop cut "$f" --to 2 -o cut-$f >out 2>err
    status=$?
    test $status -le 3 || echo "$f cut: $status" >>died
    # Values that cannot be are kept as they are, but the file is one.
    test ! -e cut-$f || nvmtop check cut-$f >out 2>&1
    ! grep -E '^(header|sync)|the time' out >>died || echo "in the cut of $f" >>died
done
ok 'bad bytes anywhere' sh -c 'cat died; test ! -s died'
done_testing
