#!/bin/sh
# Samples for other programs: every value, time, mark and gap, exactly.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$NVMTOP_SRC/tests/tools
export PYTHONDONTWRITEBYTECODE PYTHONPATH
tool() {
    name=$1
    shift
    "$python" "$NVMTOP_SRC/tests/tools/$name.py" "$@"
}
py() { "$python" -c "$1"; }
tool nvmt_write waves.nvmt

run nvmtop export csv waves.nvmt
ok 'csv' is "$status" 0
ok 'csv: as it was written' tool export_truth csv out
run nvmtop export jsonl waves.nvmt
ok 'jsonl' is "$status" 0
ok 'jsonl: as it was written' tool export_truth jsonl out
run nvmtop export perfetto -o waves.pftrace waves.nvmt
ok 'perfetto' is "$status" 0
ok 'perfetto: nothing on standard output' test ! -s out
ok 'perfetto: whole packets, as it was written' tool export_truth perfetto waves.pftrace

tool nvmt_write plain.bin
run nvmtop export perfetto --to 1 -o plain.pftrace plain.bin
ok 'perfetto without clocks: times count from the start' py 'import perfetto
d = perfetto.decode(open("plain.pftrace", "rb").read())
assert d["clocks"] is None and d["counters"]["cpu0.util"][1][:2] == (1000000, None)'

table='import csv; r = list(csv.DictReader(open("out")))'
run nvmtop export csv --tier medium --select 'ramp.*,gpu.util' waves.nvmt
ok 'a tier and some signals' py "$table
assert list(r[0]) == ['time_s', 'row', 'phase', 'event', 'ramp.voltage [mV]', 'ramp.current [mA]', 'ramp.power [mW]'], r[0]
assert sum(x['row'] == 'medium' for x in r) == 1991 and sum(x['row'] == 'gap' for x in r) == 1, len(r)"
run nvmtop export csv --phase work --select gpu.util waves.nvmt
ok 'the phases of a label' py "$table
assert {x['phase'] for x in r} == {'1', '3', '5', '7', '9'} and sum(x['row'] == 'mark' for x in r) == 5"
run nvmtop export csv --phase 2 --select gpu.util waves.nvmt
ok 'a phase by number' py "$table
assert {x['phase'] for x in r} == {'2'} and len(r) == 2002 and r[2]['time_s'] == '4.000000000', r[:3]"
run nvmtop export csv --from 1.5 --to 2.5 --select gpu.util waves.nvmt
ok 'a stretch' py "$table
t = [float(x['time_s']) for x in r if x['row'] == 'fast']
assert (t[0], t[-1], len(t)) == (1.5, 2.499, 1000) and sum(x['row'] == 'mark' for x in r) == 1"

run nvmtop export csv --resample 5 --select count.f,ramp.power,temp.cpu,gpu.util waves.nvmt
ok 'one time base: means' py "$table
r = [x for x in r if x['row'] == 'mean']
assert [x['time_s'] for x in r] == [f'{i / 5:.9f}' for i in range(101)], len(r)"
ok 'one time base: the mean of what lies between' py "$table
r = [x for x in r if x['row'] == 'mean']
x = r[1]
assert x['time_s'] == '0.200000000', x
assert abs(float(x['count.f']) - sum(i * 0.1 for i in range(200, 400)) / 200) < 1e-9
assert abs(float(x['ramp.power [mW]']) - sum(range(200, 400, 10)) / 20) < 1e-9
assert abs(float(x['temp.cpu [C]']) - 40.25) < 1e-5"
run nvmtop export csv --resample 1 --select count.f --from 1.5 --to 3.25 waves.nvmt
ok 'one time base: no sample of a stretch between two rows is left out' py "$table
r = [x for x in r if x['row'] == 'mean']
assert [x['time_s'] for x in r] == ['1.000000000', '2.000000000', '3.000000000'], r
for x, a, b in zip(r, (1500, 2000, 3000), (2000, 3000, 3250)):
    i = [k for k in range(a, b) if not 3100 <= k < 3150]
    assert abs(float(x['count.f']) - sum(k * 0.1 for k in i) / len(i)) < 1e-9, x"
run nvmtop export csv --resample 1 --select gpu.util "$NVMTOP_SRC/tests/traces/demo.nvmt"
mv out means
run nvmtop export csv --select gpu.util --to 1 "$NVMTOP_SRC/tests/traces/demo.nvmt"
ok 'one time base: nor those before the first whole period' py "$table
m = next(x for x in csv.DictReader(open('means')) if x['row'] == 'mean')
v = [float(x['gpu.util [%]']) for x in r if x['row'] == 'fast']
assert m['time_s'] == '0.000000000' and abs(float(m['gpu.util [%]']) - sum(v) / len(v)) < 1e-9, (m, len(v))"
run nvmtop export csv --resample 1000 --tier slow --select temp.cpu --from 1 --to 1.3 waves.nvmt
ok 'one time base: held between samples' py "$table
r = [x for x in r if x['row'] == 'mean']
assert len(r) == 300 and r[99]['temp.cpu [C]'] == r[0]['temp.cpu [C]'] == '41', (len(r), r[99])"
run nvmtop export csv --resample 1000 --tier medium --select ramp.power --from 12 --to 12.2 waves.nvmt
ok 'one time base: not held over a gap' py "$table
r = [x for x in r if x['row'] == 'mean']
assert r[60]['ramp.power [mW]'] == '12040' and r[120]['ramp.power [mW]'] == '' and r[160]['ramp.power [mW]'] == '12160', r[120]"

slow='export csv --tier slow --select temp.cpu --resample 10000'
run nvmtop $slow waves.nvmt
ok 'one time base: far too many rows are refused' is "$status" 1
ok 'one time base: which and why' says err 'would write 200000 rows from 201: choose a lower rate'
ok 'one time base: nothing is written' test ! -s out
run nvmtop $slow --force waves.nvmt
ok 'one time base: but with --force' is "$status:$(grep -c mean out)" 0:200001

# Clocks, as often as the file tells them.
py 'import nvmt_write as w
second = w.START_MONO + 9 * 10**9, w.START_REAL + 9 * 10**9 + 5, w.START_BOOT + 9 * 10**9
open("anchors.nvmt", "wb").write(w.waves(20).log([second]))'
ok 'two clocks: sound' sh -c '$EMU "$NVMTOP" check anchors.nvmt'
nvmtop export perfetto --tier medium -o anchors.pftrace anchors.nvmt
ok 'perfetto: each one is a snapshot' py 'import perfetto; d = perfetto.decode(open("anchors.pftrace", "rb").read())["snapshots"]
assert len(d) == 2 and d[1][1] - d[0][1] == 9 * 10**9 + 5 and d[1][3] - d[0][3] == 9 * 10**9, d'

# Times that are no whole nanoseconds.
py 'import struct, nvmt_write as w
raw = bytearray(w.waves(1).version1())
for i in range(1001):
    struct.pack_into("<d", raw, 728 + 98 * i, i / 1000 + 1e-10 / 3)
open("odd.nvmt", "wb").write(raw)'
for form in csv jsonl; do
    nvmtop export $form --select gpu.util odd.nvmt >out
    ok "$form: times of another writer, to 1 ns" py 'import re
t = [float(x) for x in re.findall(r"^(?:.\"time_s\":)?([0-9][0-9.e-]*),(?:\"row\":\")?fast", open("out").read(), re.M)]
assert max(abs(a - (i / 1000 + 1e-10 / 3)) for i, a in enumerate(t)) <= 5e-10 and len(t) == 1001, t[:5]'
done

# Numbers are the shortest that read back, everywhere.
run env LC_ALL=de_DE.UTF-8 $EMU "$NVMTOP" export csv --select count.f waves.nvmt
ok 'no comma in any locale' sh -c '! grep -q "[0-9],[0-9]*,[0-9]*,[0-9]*$" out && grep -q "fast,0,,0.30000000000000004$" out'

nvmtop export csv waves.nvmt | head -n 1 >out 2>err
nvmtop export csv waves.nvmt 2>err | :
{ nvmtop export csv waves.nvmt 2>err; echo $? >code; } | head -c 10 >/dev/null
ok 'a closed pipe is no error' is "$(cat code)" 0
ok 'and nothing is said' test ! -s err
run nvmtop export csv -o waves.csv waves.nvmt
ok 'into a file' cmp waves.csv "$(nvmtop export csv waves.nvmt >whole; echo whole)"
run nvmtop export csv -o waves.csv waves.nvmt
ok 'never over a file' is "$status" 1
run nvmtop export csv --force -o waves.csv waves.nvmt
ok 'but with --force' is "$status" 0
cp waves.csv before.csv
(
    ulimit -f 100
    run nvmtop export jsonl --force -o waves.csv waves.nvmt
    echo $status >short.status
)
ok 'no room for all of it: status 1' is "$(cat short.status)" 1
ok 'no room for all of it: said' says err 'File too large'
ok 'no room for all of it: what was there stays' cmp waves.csv before.csv
ok 'no room for all of it: nothing is left over' is "$(echo waves.csv*)" waves.csv
ln -s waves.csv link.csv
chown 1 waves.csv 2>/dev/null || :
chmod 640 waves.csv
owner=$(stat -c %u waves.csv)
run nvmtop export csv --force --to 1 -o link.csv waves.nvmt
ok 'through a link: done' is "$status" 0
ok 'through a link: that stays one' test -L link.csv
ok 'through a link: the file is the new one' test "$(wc -c <waves.csv)" -lt "$(wc -c <before.csv)"
ok 'through a link: it keeps whose it is, and who may read it' is "$(stat -c '%u %a' waves.csv)" "$owner 640"
run nvmtop export csv --force -o waves.nvmt waves.nvmt
ok 'never over the trace itself' is "$status" 1
ok 'which is whole' sh -c '$EMU "$0" check waves.nvmt' "$NVMTOP"
if test -e /dev/full; then
    run sh -c '$EMU "$0" export csv  waves.nvmt >/dev/full' "$NVMTOP"
    ok 'a full disk: status 1' is "$status" 1
    ok 'a full disk: said in one line' one_line err
else
    skip 'a full disk' 'there is no /dev/full: mknod /dev/full c 1 7'
fi
mkfifo pipe
nvmtop export csv -o pipe waves.nvmt 2>err &
writer=$!
cat pipe >through
wait $writer
ok 'into a FIFO' is $? 0
ok 'into a FIFO: all of it' cmp through whole
run nvmtop export yaml waves.nvmt
ok 'no such form: status 2' is "$status" 2
run nvmtop export csv
ok 'no file: status 2' is "$status" 2
run nvmtop export csv waves.nvmt plain.bin
ok 'two recordings: status 1' is "$status" 1
run nvmtop export csv --tier slow --select gpu.util waves.nvmt
ok 'nothing is left: status 1' is "$status" 1
run nvmtop report --resample 5 waves.nvmt
ok 'not of report: status 2' is "$status" 2
run nvmtop cut waves.nvmt --from 9 --to 3 -o x.nvmt
ok 'a stretch that ends before it begins: status 2' is "$status" 2
done_testing
