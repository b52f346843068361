#!/bin/sh
# Times that cannot be right, in files of many times what is read at once: the first of them
# is said, the rows before it are used, and nothing goes on for ever.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
XDG_CACHE_HOME=$scratch/cache
export XDG_CACHE_HOME
disorder() { "$python" "$NVMTOP_SRC/tests/tools/disorder.py" "$@"; }
bounded() { timeout 60 "$@"; }
nvmtop() { bounded $EMU "$NVMTOP" "$@"; }
# rows PHASE...: fast rows of the phases in the report in `out`
rows() {
    "$python" -c 'import json,sys
n = {p["phase"]: p["ticks"]["fast"]["samples"] for p in json.load(open("out"))["traces"][0]["phases"]}
print(*[n[int(k)] for k in sys.argv[1:]], sep=":")' "$@"
}
# as_it_should: what every way of reading does with a trace of which a time is wrong
all_say() {
    for what in report 'report --format json' 'export csv --tier slow' '--print 80x24 --replay'; do
        run nvmtop $what "$2"
        ok "$1: $what: status 3" is "$status" 3
        ok "$1: $what: said" says err "$3"
        ok "$1: $what: in one sentence" one_line err
    done
    run nvmtop cut "$2" --from 10 --to 20 -o cut.bin
    ok "$1: cut ends" test "$status" = 3 -o "$status" = 1
    ok "$1: cut: said" says err "$3"
    rm -f cut.bin
}

disorder make long.bin 560000
ok 'a long trace is sound' sh -c '$EMU "$NVMTOP" check long.bin'
run nvmtop report --format json long.bin
ok 'of which all is used' is "$status:$(rows 0 27)" 0:20000:20000
disorder make good.bin 56000

cp good.bin bad.bin
disorder shuffle bad.bin 1 between
run nvmtop report --phase 2 bad.bin
ok 'disorder between what is looked at first: report --phase: status 3' is "$status" 3
ok 'disorder between what is looked at first: report --phase: said' says err 'row [0-9]* of the medium section'
run nvmtop export csv --tier medium bad.bin
ok 'disorder between what is looked at first: no row twice' test "$(wc -l <out)" -lt 1000
for how in random backwards blocks; do
    cp good.bin bad.bin
    disorder shuffle bad.bin 0 $how
    all_say "$how times" bad.bin 'row [0-9]* of the fast section'
done
cp good.bin bad.bin
disorder shuffle bad.bin 0 repeated
run nvmtop cut bad.bin --from 10 --to 50 -o cut.bin
ok 'the same time again and again: cut ends' is "$status" 0
rm -f cut.bin
for bit in 62 54; do # 0.000.. s, 3.5 s
    cp good.bin bad.bin
    disorder time bad.bin 0 -1 +$bit
    run nvmtop report --format json bad.bin
    ok "bit $bit of the last time: status 3" is "$status" 3
    ok "bit $bit of the last time: said" says err 'the time of row 55999 of the fast section'
    ok "bit $bit of the last time: the rows before it are used" is "$(rows 0 1 2)" 20000:20000:15999
    run nvmtop --print 120x30 --replay bad.bin
    ok "bit $bit of the last time: the screen ends where the rows end" says out '55.9 / 55.9 s'
done
cp good.bin bad.bin
disorder time bad.bin 0 -1 4056.999 # in order, and yet
all_say 'a last time much too late' bad.bin 'row 55999 of the fast section comes 4001.001 s after the one before it'
disorder make year.bin 1000
disorder time year.bin 0 -1 3e7
run nvmtop check year.bin
ok 'version 1, a last time of a year: status 3' is "$status" 3
ok 'version 1, a last time of a year: said' says out 'row 999 of the fast section comes 29999999.002 s after the one before it'
run nvmtop report year.bin
ok 'version 1, a last time of a year: report: status 3' is "$status" 3
run nvmtop export csv --resample 10 -o year.csv year.bin
ok 'version 1, a last time of a year: no flood of rows' is "$status" 1
ok 'version 1, a last time of a year: why' says err 'would write 300000000 rows from 1110: choose a lower rate'
ok 'version 1, a last time of a year: no file' test ! -e year.csv
# interrupted COMMAND...: how long it goes on after SIGINT, in ms; it may have ended before that
interrupted() {
    "$python" -c 'import signal, subprocess, sys, time
for delay in 0.4, 0.2, 0.1, 0.05, 0.02:
    p = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(delay)
    p.send_signal(signal.SIGINT)
    began = time.monotonic()
    p.wait(60)
    if p.returncode != 0:
        break
    subprocess.run(["rm", "-f", "big.out"])
print(int((time.monotonic() - began) * 1000))' "$@"
}
for what in 'export csv --resample 10000 --force -o big.out year.bin' 'export perfetto -o big.out long.bin' \
    'cut long.bin --from 0 -o big.out' 'report long.bin' 'check long.bin'; do
    # Within a second on an idle machine; not only when all is written, which takes minutes.
    ok "$what: ends at once when it is interrupted" test "$(interrupted $EMU "$NVMTOP" $what)" -lt 30000
    ok "$what: interrupted: nothing is left" test ! -e big.out
    rm -f big.out
done

for what in nan inf -1; do
    cp good.bin bad.bin
    disorder time bad.bin 0 30000 $what
    all_say "a time of $what" bad.bin 'row 30000 of the fast section'
done
disorder time bad.bin 0 0 nan
all_say 'a first time of nan' bad.bin 'row 0 of the fast section'
done_testing
