#!/bin/sh
# Kernels and ranges of an export of Nsight Systems, with the joules of a recording of the same run.
. "$NVMTOP_SRC/tests/cli/lib.sh"
if ! "$python" -c 'import sqlite3' 2>/dev/null; then
    echo '1..0 # SKIP this Python has no sqlite3: apt install libpython3-stdlib'
    exit 0
fi
if ! grep -q '^#define HAVE_SQLITE 1' "$(dirname "$NVMTOP")/../config.h"; then
    echo '1..0 # SKIP built without SQLite: ./bootstrap installs libsqlite3-dev'
    exit 0
fi
ranges() { $EMU "$(dirname "$NVMTOP")/../tests/tools/ranges" "$@"; }
nsys() { "$python" "$NVMTOP_SRC/tests/tools/nsys_export.py" "$@"; }
py() { "$python" -c "import csv, json
$1"; }
# What is in out: name -> count, total, and whether the joules are those of readings, 15 W in a step and 5 W else.
check='
g = {x["name"]: x for x in json.load(open("out"))["traces"][0]["groups"]}
def has(name, domain, count, total, joules):
    x = g[name]
    assert (x["domain"], x["count"]) == (domain, count) and abs(x["total_s"] - total) < 1e-9, x
    assert abs(x["energy_j"] - joules) <= x["energy_within_j"] < 0.1 * joules + 1, x'
all="$check"'
has("sgemm", "CUDA kernel", 9, 1.8, 27)
has("relu", "CUDA kernel", 9, 0.9, 13.5)
has("step", "", 9, 2.7, 40.5)
has("forward", "", 9, 0.9, 13.5)
has("epoch", "", 1, 3.8, 46)
has("load", "DALI", 7, 0.7, 9)
has("memcpy Host-to-Device", "CUDA memory", 9, 0.18, 0.9)
assert g["request"]["count"] == 2 and g["server"]["count"] == 1
assert abs(g["server"]["total_s"] - 0.9) < 1e-9        # to the last event of the export
assert abs(g["forward"]["own_s"] - 0.9) < 1e-9 and abs(g["step"]["own_s"] - 1.8) < 1e-9'

ranges run.nvmt
nsys wall.sqlite
run nvmtop report --nsys wall.sqlite --format json run.nvmt
ok 'by the wall clock' is "$status" 0
ok 'by the wall clock: joules of kernels, copies and ranges' py "$all"
ok 'by the wall clock: said' says err 'wall.sqlite is aligned by the wall clock'
run nvmtop report --nsys wall.sqlite --by thread --format csv run.nvmt
ok 'by thread and stream' py '
g = {x["name"]: x for x in csv.DictReader(open("out"))}
assert g["python3 GPU 0 stream 7 100/0"]["count"] == "27" and g["python3 loader 100/101"]["count"] == "7", g'
run nvmtop report --nsys wall.sqlite --by domain run.nvmt
ok 'by domain' sh -c 'grep -q "^CUDA kernel  *18 " out && grep -q "^DALI  *7 " out'

nsys late.sqlite late=0.05 no-text-id no-short-name no-enum
run nvmtop report --nsys late.sqlite --format json run.nvmt
ok 'an older export: names that it has' py "$check"'
assert g["void sgemm<float>(float *)"]["count"] == 9 and g["memcpy"]["count"] == 9 and g["step"]["count"] == 9'
ok 'and at other times: other joules' py "$check"'
assert abs(g["step"]["energy_j"] - 36) < 2, g["step"]'
nsys other.sqlite other-types
run nvmtop report --nsys other.sqlite --format json run.nvmt
ok 'numbers of types are looked up by name' py "$all"

# A mark in both: the wall clock of this export is 3 ms late.
ranges marked.nvmt 0 nsys-1a2b3c
nsys marked.sqlite mark=nsys-1a2b3c
run nvmtop report --nsys marked.sqlite --format json marked.nvmt
ok 'by a mark' py "$all"
ok 'by a mark: said' says err 'marked.sqlite is aligned by the mark "nsys-1a2b3c"'
nsys nowall.sqlite mark=nsys-1a2b3c no-wall
run nvmtop report --nsys nowall.sqlite --format json marked.nvmt
ok 'by a mark alone' py "$all"

run nvmtop report --nsys nowall.sqlite run.nvmt
ok 'neither mark nor clock: status 1' is "$status" 1
ok 'neither mark nor clock: said' says err 'cannot be aligned'
nsys hour.sqlite late=3600
run nvmtop report --nsys hour.sqlite run.nvmt
ok 'another run: status 1' is "$status" 1
ok 'another run: said' says err 'is it of the same run'
nsys before.sqlite late=-3600
run nvmtop report --nsys before.sqlite run.nvmt
ok 'a run before it, with a range that is still open: status 1' is "$status" 1
nsys empty.sqlite no-tables
run nvmtop report --nsys empty.sqlite run.nvmt
ok 'nothing in it: said' says err 'no NVTX ranges and no kernels'
run nvmtop report --nsys run.nvmt run.nvmt
ok 'no database: what to do' says err 'nsys export --type sqlite'
run nvmtop report --nsys missing.sqlite run.nvmt
ok 'no file: status 1' is "$status" 1
ok 'no file: said in one line' one_line err
head -c 9000 wall.sqlite >cut.sqlite
run nvmtop report --nsys cut.sqlite run.nvmt
ok 'a damaged file: status 1' is "$status" 1
ok 'a damaged file: said in one line' one_line err
# --- what SQLite says, and what is in its folder afterwards ---
cat >databases.py <<'P'
import os, shutil, sqlite3, sys
def copy(name):
    shutil.copy("wall.sqlite", name)
    return sqlite3.connect(name, isolation_level=None)
db = copy("closed.sqlite")
db.execute("PRAGMA journal_mode = WAL")
db.close()
shutil.copy("closed.sqlite", "live.sqlite")
live = sqlite3.connect("live.sqlite", isolation_level=None)
live.execute("UPDATE StringIds SET value = 'renamed' WHERE value = 'sgemm'")
for end in "", "-wal":
    shutil.copy("live.sqlite" + end, "dead.sqlite" + end)
live.execute("BEGIN IMMEDIATE")
live.execute("DELETE FROM StringIds")
locked = copy("locked.sqlite")
locked.execute("BEGIN EXCLUSIVE")
for table, column in ("NVTX_EVENTS", "end"), ("CUPTI_ACTIVITY_KIND_KERNEL", "streamId"):
    db = copy("no-%s.sqlite" % column)
    names = ", ".join('"%s"' % c[1] for c in db.execute("PRAGMA table_info(%s)" % table) if c[1] != column)
    db.execute("CREATE TABLE other AS SELECT %s FROM %s" % (names, table))
    db.execute("DROP TABLE " + table)
    db.execute("ALTER TABLE other RENAME TO " + table)
    db.close()
raw = open("wall.sqlite", "rb").read()
for n in 2000, 5000, len(raw) // 2, len(raw) - 5000:
    open("cut-%d.sqlite" % n, "wb").write(raw[:n])
os.mkfifo("fifo.sqlite")
os.symlink("live.sqlite", "link.sqlite")
shutil.copy("wall.sqlite", "a?b %41#.sqlite")
print("ready", flush=True)
sys.stdin.read() # live and locked are open until then
P
mkfifo hold
"$python" databases.py <hold >ready &
exec 9>hold
ok 'databases' soon grep -q ready ready
before=$(ls)
for name in closed live dead link; do
    run nvmtop report --nsys $name.sqlite --format json run.nvmt
    test $name = closed && kernel=sgemm || kernel=renamed
    ok "a database with a log of writes, $name: what is in both is read" py "$check"'
has("'$kernel'", "CUDA kernel", 9, 1.8, 27)'
done
run nvmtop report --nsys 'a?b %41#.sqlite' run.nvmt
ok 'a name with characters of an address' is "$status" 0
for case in 'locked:locked' 'cut-2000:malformed' 'cut-5000:malformed' 'no-end:NVTX_EVENTS has no column end' \
    'no-streamId:CUPTI_ACTIVITY_KIND_KERNEL has no column streamId' 'fifo:not a regular file'; do
    run timeout 60 $EMU "$NVMTOP" report --nsys "${case%%:*}.sqlite" run.nvmt
    ok "${case%%:*}: status 1" is "$status" 1
    ok "${case%%:*}: said" says err "${case#*:}"
    ok "${case%%:*}: in one line" one_line err
done
for name in cut-*.sqlite; do
    run nvmtop report --nsys "$name" run.nvmt
    ok "$name: the reason of SQLite" says err 'malformed\|not a database'
done
ok 'nothing is left beside a database' is "$(ls)" "$before"
exec 9>&-
wait

# --- many threads ---
many() {
    "$python" -c 'import sqlite3, sys
db = sqlite3.connect("many.sqlite")
db.execute("DELETE FROM NVTX_EVENTS")
db.executemany("INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid, domainId) VALUES (?, ?, 59, ?, ?, 0)",
               ((700000000 + 1000 * i, 700000900 + 1000 * i, "work", 100 << 24 | 1000 + i % int(sys.argv[1])) for i in range(2 * int(sys.argv[1]))))
db.commit()' "$1"
}
cp wall.sqlite many.sqlite
many 20000
run nvmtop report --nsys many.sqlite --format json run.nvmt
ok '20 000 threads' py "$check"'
assert g["work"]["count"] == 40000 and abs(g["work"]["total_s"] - 0.036) < 1e-9, g["work"]'
many 70000
run nvmtop report --nsys many.sqlite run.nvmt
ok '70 000 threads: status 1' is "$status" 1
ok '70 000 threads: said' says err 'more than 65536 threads and streams'

# --- SQLite is loaded when it is needed ---
if command -v readelf >/dev/null; then
    top=${NVMTOP%/src/nvmtop}
    for f in "$NVMTOP" "$top/src/nsys/nvmtop-nsys" "$top/libnvmtop.so.1"; do
        readelf -d "$f" >needed
        ok "${f##*/} does not need it" sh -c 'grep -q NEEDED needed && ! grep -q sqlite needed'
    done
else
    skip 'nothing needs it' 'no readelf: apt install binutils'
fi
if test -z "$EMU"; then
    mkdir none
    echo 'no library' >none/libsqlite3.so.0
    run env LD_LIBRARY_PATH="$scratch/none" "$NVMTOP" report --nsys wall.sqlite run.nvmt
    ok 'without SQLite: status 1' is "$status" 1
    ok 'without SQLite: the package' says err 'apt install libsqlite3-0'
    ok 'without SQLite: in one line' one_line err
    run env LD_LIBRARY_PATH="$scratch/none" "$NVMTOP" report run.nvmt
    ok 'without SQLite: another report' is "$status" 0
fi

run nvmtop report --nsys wall.sqlite run.nvmt marked.nvmt
ok 'two recordings: status 2' is "$status" 2
run nvmtop report --nsys wall.sqlite --summary run.nvmt
ok 'not of phases: status 2' is "$status" 2
run nvmtop report --nsys wall.sqlite --by phase run.nvmt
ok 'nor with --by phase: status 2' is "$status" 2
ok 'nor with --by phase: said' says err 'not for phases'
run nvmtop report --by phase --nsys wall.sqlite run.nvmt
ok 'in either order' is "$status" 2
done_testing
