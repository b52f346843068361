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
