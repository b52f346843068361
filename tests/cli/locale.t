#!/bin/sh
# A locale that writes 0,5 for 0.5 changes no number: neither what is read nor what is
# written, on the command line, in files or on the screen.
. "$NVMTOP_SRC/tests/cli/lib.sh"
trace=$NVMTOP_SRC/tests/traces/demo.nvmt

LOCPATH=$scratch/locales
mkdir "$LOCPATH"
export LOCPATH
localedef -i de_DE -f UTF-8 "$LOCPATH/de_DE.UTF-8" >made 2>&1
comma() { test "$(env LC_ALL=de_DE.UTF-8 "$python" -c 'import locale; locale.setlocale(locale.LC_ALL, ""); print(locale.localeconv()["decimal_point"])' 2>/dev/null)" = ,; }
comma || {
    echo "1..0 # SKIP the locale de_DE.UTF-8 cannot be made here, ./bootstrap --tests installs what it is made of: $(tail -n 1 made)"
    exit 0
}
# Texts stay English, so that all that could differ is numbers.
german() { env LC_ALL=de_DE.UTF-8 LANGUAGE=C "$@"; }
plain() { env LC_ALL=C.UTF-8 "$@"; }
# same NAME ARGUMENT...: the same bytes and the same status in both
same() {
    name=$1
    shift
    plain $EMU "$NVMTOP" "$@" >c.out 2>c.err
    c=$?
    german $EMU "$NVMTOP" "$@" >de.out 2>de.err
    de=$?
    differ() {
        diff c.out de.out && diff c.err de.err && test $c = $de
    }
    ok "$name" differ
}

same 'a report' report "$trace"
for format in json csv markdown; do
    same "a report as $format" report --format $format "$trace"
done
same 'times with a point' report --from 1.5 --to 4.25 "$trace"
same 'a time with a comma is none' report --from 1,5 "$trace"
for form in csv jsonl perfetto; do
    same "an export: $form" export $form "$trace"
done
same 'resampled' export csv --resample 2.5 "$trace"
same 'a check' check "$trace"
for size in 80x24 200x60; do
    same "the screen at $size" --print $size --at 3.5 --replay "$trace" --no-config
done
same 'a picture' --print 80x24 --format svg --replay "$trace" --no-config
for view in gpu cpu memory power thermal phases board; do
    same "the view $view" --print 120x40 --view $view --replay "$trace" --no-config
done
printf 'frames = 2.5\nhistory = 10.5s\n' >point.conf
printf 'frames = 2,5\n' >comma.conf
same 'settings' --print 80x24 --config point.conf --replay "$trace"
ok 'with a point: nothing is said' test ! -s de.err
same 'a setting with a comma is none' --print 80x24 --config comma.conf --replay "$trace"
ok 'which is said' grep -q 'comma.conf:1: ' de.err
same 'the board and its limits' boards --sysroot "$roots/agx_orin-36"
same 'a board file' boards --sysroot "$roots/custom-orin-36"

# What is read from a standing tree is the same, but for the time and the CPU's own load.
once() {
    "$@" $EMU "$NVMTOP" once --json --sysroot "$roots/agx_orin-36"
}
once plain >c.json
once german >de.json
readings() {
    "$python" - <<'END'
import json
a, b = (json.load(open(f)) for f in ("c.json", "de.json"))
assert b["time"] > 1.6e9
a, b = ({c["name"]: c["value"] for c in j["channels"] if c["kind"] != "own"} for j in (a, b))
assert set(a) == set(b)
some = [n for n in a if a[n] is not None and a[n] == b[n] and a[n] != int(a[n])]
assert len(some) > 10, some
END
}
ok 'readings, as JSON that others read' readings
german $EMU "$NVMTOP" --record --demo --fast-hz 50.5 --duration 0.5 --delay 0.2 -o de.nvmt >out 2>err
ok 'a recording of half a second' says err 'recorded'
ok 'at 50.5 times a second' judge de.nvmt "t['counts']['fast'] > 0 and t['counts']['fast'] < 100"
german $EMU "$NVMTOP" report --format json de.nvmt >de.json
ok 'its report is JSON' "$python" -c 'import json; json.load(open("de.json"))'
done_testing
