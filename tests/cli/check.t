#!/bin/sh
# --check: sound files are sound, and what is wrong is said in the order of the
# file, by section and offset.  And whatever reads traces survives bad ones.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
traces=$NVMTOP_SRC/tests/traces
for name in demo small version-1; do
    run nvmtop --check "$traces/$name.bin"
    ok "$name: sound" is "$status" 0
    ok "$name: says so" says out '^valid'
done
"$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" good.bin --seconds 3
"$python" "$NVMTOP_SRC/tests/tools/nvmt_write.py" plain.bin --seconds 3 --plain
"$python" "$NVMTOP_SRC/tests/tools/nvmt.py" make other.bin --fast 500 --medium 50 --slow 5
for name in good plain other; do
    run nvmtop --check $name.bin
    ok "of another writer, $name: sound" is "$status" 0
done
run nvmtop --demo --record --duration 1 fresh.bin
run nvmtop --check fresh.bin
ok 'a fresh recording: sound' is "$status" 0

# patch FILE OFFSET BYTES(hex): from good.bin
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
    run nvmtop --check bad.bin
    ok "$1: status 3" is "$status" 3
    ok "$1: said" says out "$5"
}
fast=728
medium=$((728 + 98 * 3001))
wrong 'header: cores' plain.bin 40 11 'header, offset 40: 17 cores'
wrong 'header: rate' plain.bin 44 00000000 'header, offset 44: the rate of the fast tier is 0'
wrong 'header: name' plain.bin 88 1b5b32 'header, offset 88: rail name 0 is not printable'
wrong 'header: reserved' plain.bin 700 01 'header, offset 700: a reserved byte'
wrong 'header: count' plain.bin 56 ffffffffffffffff 'fast, offset 728: the header says 18446744073709551615 rows'
wrong 'fast: time' plain.bin $((fast + 98 * 7)) 000000000000f87f "fast, offset $((fast + 98 * 7)), row 7: the time is"
wrong 'fast: order' plain.bin $((fast + 98 * 7)) 0000000000000000 "fast, offset $((fast + 98 * 7)), row 7: the time is 0.000000000 s, before"
wrong 'fast: GPU' plain.bin $((fast + 98 * 9 + 8)) ffff "row 9: the GPU load is 65535"
wrong 'fast: a core above 100' plain.bin $((fast + 98 * 9 + 10)) 0000ca42 "row 9: core 0 has 101 %"
wrong 'fast: an unused slot' plain.bin $((fast + 98 * 9 + 70)) 0000803f 'row 9: the slot of a core that is not there'
wrong 'medium: power' plain.bin $((medium + 104 * 3 + 72)) 00007a44 'medium, offset .*, row 3: rail 0 has 1000 mV, 30 mA and 1000 mW'
wrong 'sync: id' plain.bin 'n - 16' 0000000000000000 'sync points, offset .*, row 0: its id is 0'
wrong 'sync: row' plain.bin 'n - 8' ffffff0000000000 'it begins at fast row 16777215 of'
wrong 'extension: a head' good.bin 'find(b"ANCH")' 414e4349 'extension, offset .*, chunk ANCI: its head has the wrong sum'
wrong 'extension: a payload' good.bin 'find(b"CHAN") + 60' ff 'extension, offset .*, chunk CHAN: its payload has the wrong sum'
wrong 'extension: the header' good.bin 9 78 'chunk ENDX: the header is not as it was written'
wrong 'extension: bytes behind it' good.bin n 00 'bytes follow the closing chunk'
# Who reads values finds that they cannot be when it reads them, and says so in the end.
patch plain.bin $((fast + 98 * 9 + 8)) ffff
for what in '--report bad.bin' '--export csv bad.bin' '--print 80x24 --replay bad.bin'; do
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
run nvmtop --check bad.bin
ok 'several: in the order of the file' sh -c 'sed -n "1p" out | grep -q "^header, offset 41" && grep -n "^fast" out | head -n 1 | grep -q "time"'
ok 'several: the same kind once, and how many' says out 'row 7: the GPU load is 65535 .*; and 1 more like it'
head -c 200000 good.bin >bad.bin
run nvmtop --check bad.bin
ok 'cut: status 3' is "$status" 3
ok 'cut: where' says out 'fast, offset 728: the header says 3001 rows and the file has room for 2033'
head -c 500 good.bin >bad.bin
run nvmtop --check bad.bin
ok 'cut in its header: status 3' is "$status" 3
run nvmtop --check nowhere.bin
ok 'no such file: status 1' is "$status" 1
run nvmtop --check .
ok 'a folder: status 1' is "$status" 1
echo 'this is no trace' >text
run nvmtop --check text
ok 'no trace: status 1' is "$status" 1
patch plain.bin 4 02
run nvmtop --check bad.bin
ok 'another version: status 1' is "$status" 1
mkfifo pipe
run nvmtop --check pipe
ok 'a FIFO: status 1, at once' is "$status" 1

# Bad bytes anywhere: a sentence and a status, never more.
"$python" -c 'import random
base = [open(f, "rb").read() for f in ("good.bin", "plain.bin")]
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
    for what in '--check' '--report --format json' '--report --from 1' '--export csv --resample 3' '--export perfetto'; do
        nvmtop $what "$f" >out 2>err </dev/null
        status=$?
        test $status -le 3 || echo "$f $what: $status" >>died
        case $what in
        *json) test $status -eq 1 || "$python" -m json.tool out >/dev/null 2>&1 || echo "$f: no JSON" >>died ;;
        esac
    done
    nvmtop --cut "$f" --to 2 -o cut-$f >out 2>err
    status=$?
    test $status -le 3 || echo "$f --cut: $status" >>died
    # Values that cannot be are kept as they are, but the file is one.
    test ! -e cut-$f || nvmtop --check cut-$f >out 2>&1
    ! grep -E '^(header|extension|sync)|the time' out >>died || echo "in the cut of $f" >>died
done
ok 'bad bytes anywhere' sh -c 'cat died; test ! -s died'
done_testing
