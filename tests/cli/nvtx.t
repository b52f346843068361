#!/bin/sh
# NVTX ranges of an unchanged program, and what is done with a trace that has some.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$NVMTOP_SRC/tests/tools
export PYTHONDONTWRITEBYTECODE PYTHONPATH
unset NVTX_INJECTION64_PATH NVMTOP_NVTX NVMTOP_NVTX_DIR
marked="$EMU $(dirname "$NVMTOP")/../tests/tools/marked"
ranges="$EMU $(dirname "$NVMTOP")/../tests/tools/ranges"

# has FILE EXPRESSION: over r, its ranges, and m, the labels of its marks
has() {
    nvmtop export jsonl --tier slow "$1" >rows || return 1
    "$python" -c 'import json, sys
from ranges import ranges
rows = [json.loads(l) for l in open("rows", encoding="utf-8")]
r = [x for x in rows if x.get("row") == "range"]
m = [x.get("label") for x in rows if x.get("row") == "mark"]
names = sorted(x["name"] for x in r)
sys.exit(0 if eval("(" + sys.argv[1] + ")") else json.dumps(rows, indent=1)[-4000:])' "$2"
}

run nvmtop record --demo --nvtx -o x.nvmt -- $marked
ok "the program's status" is "$status" 0
ok 'each range' has x.nvmt 'names == sorted(["run", "request"] + 3 * ["step", "copy"]) and not any(x["open"] for x in r)'
ok 'depth, domain and payload' has x.nvmt 'sorted((x["depth"], x["domain"], x["payload"]) for x in r if x["name"] == "step") ==
    [(1, "", k) for k in range(3)] and all(x["depth"] == 0 and x["domain"] == "io" for x in r if x["name"] == "copy")'
ok 'process and threads' has x.nvmt 'all(x["process"] == "marked" and (x["tid"] == x["pid"]) == (x["name"] != "request") for x in r)'
ok 'times' has x.nvmt 'all(0.05 <= x["end_s"] - x["time_s"] < 60 for x in r) and all(x["time_s"] >= 0 for x in r)'
ok 'a mark with its domain' judge x.nvmt "len(t['sync']) == 1"
run nvmtop report --format json x.nvmt
ok 'which is a phase' says out '"io: half"'
run nvmtop check x.nvmt
ok 'the file is sound' is "$status" 0
ok 'nothing is left in the folder' sh -c '! ls "$XDG_RUNTIME_DIR"/nvmtop/nvtx-[0-9w]* 2>/dev/null'

run nvmtop record --demo --nvtx=io -o io.nvmt -- $marked
ok 'one domain only' has io.nvmt 'names == ["copy"] * 3'
run nvmtop record --demo --nvtx=nonesuch -o nonesuch.nvmt -- $marked
ok 'a domain that the program has not: the program is not blamed' says err 'marked none, or only in domains that --nvtx leaves out'
run nvmtop record --demo --nvtx -o open.nvmt -- $marked open
ok 'what is open at the end is there' has open.nvmt '[x["open"] for x in r if x["name"] == "run"] == [True] and len(r) == 8'
run nvmtop record --demo --nvtx -o - -- $marked
mv out stream.nvmt
ok 'in a stream' has stream.nvmt 'len(r) == 8'
run nvmtop record --demo --nvtx --stats -o stats.nvmt -- $marked
ok '--stats: by range' says err request
run nvmtop record --demo --nvtx --repeat 3 -o q.nvmt -- $marked
sed -n '/^3 runs/,$p' err >compared
(nvmtop report q-1.nvmt q-2.nvmt q-3.nvmt && nvmtop report --by range q-1.nvmt q-2.nvmt q-3.nvmt) >report
ok '--repeat: mean and spread by phase and by range' cmp compared report
ok '--repeat: ranges of all runs' says compared '^io: copy  *3 +- 0 .* 3$'
run nvmtop record --demo --nvtx -o short.nvmt -- $marked flood 1000 0.001
ok 'a program that ends before the folder is read again' has short.nvmt 'len(r) > 1 and "run" in names'
run nvmtop record --demo --nvtx -o none.nvmt -- true
ok 'a program without NVTX: that is said' says err 'no NVTX ranges were received'

# The look-back buffer.
run nvmtop record --demo --nvtx --keep 60 -o kept.nvmt -- sh -c "$marked && kill -USR2 \$PPID && sleep 0.5"
ok 'kept and written' has kept.nvmt 'len(r) == 8'

# A recorder that has the ranges; a program that was started before it.
mkdir -m 700 -p "$XDG_RUNTIME_DIR/nvmtop"
$EMU "$NVMTOP" record --demo --nvtx -o first.nvmt 2>first.err &
first=$!
soon test -S "$XDG_RUNTIME_DIR/nvmtop/$first.sock"
second() {
    run nvmtop record --demo --nvtx --duration 0.1 -o second.nvmt
    rm -f second.nvmt
    grep -q 'another nvmtop' err
}
ok 'a second recorder says that another one has them' soon second
eval "$(nvmtop env)"
$marked
ok 'a program that was started with nvmtop env' is $? 0
kill -TERM $first
wait $first
ok 'is in the recording' has first.nvmt 'len(r) == 8'
unset NVTX_INJECTION64_PATH NVMTOP_NVTX NVMTOP_NVTX_DIR

# Other verbs.
$ranges all.nvmt
run nvmtop cut --from 1.0 --to 3.5 -o cut.nvmt all.nvmt
ok 'cut: those that touch it, whole' has cut.nvmt '
    names == sorted(x.name for x in ranges() if x.begin_ms < 3500 and x.end_ms > 1000) and
    [(x["time_s"], x["end_s"], x["open"]) for x in r if x["name"] == "epoch"] == [(-0.9, 2.9, False)]'
run nvmtop export nvmt1 -o all.bin all.nvmt
ok 'version 1: marks only' judge all.bin "len(t['sync']) == 1"

# Marks where ranges of a domain begin: the same in the log and in version 1 of it.
run nvmtop record --demo --nvtx --phases-from default -o default.bin -- $marked
ok 'phases from a domain' judge default.nvmt "len(t['sync']) == 3"
ok 'and in version 1' judge default.bin "len(t['sync']) == 3"
run nvmtop record --demo --nvtx --phases-from io -o marked.nvmt -- $marked
ok 'each with the name of its range' is "$(nvmtop export jsonl marked.nvmt | grep -c '"row":"mark".*"label":"copy"')" 3
run nvmtop record --demo --nvtx --phases-from IO -o other.nvmt -- $marked
ok 'no such domain: recorded, and said' says err 'no NVTX range was of the domain "IO": there are no phases of it'
run nvmtop record --demo --phases-from io -o no.nvmt -- $marked
ok 'not without ranges' is "$status" 2
run nvmtop export nvmt1 --phases-from io -o no.bin all.nvmt
ok 'nor when it is exported' is "$status" 2
done_testing
