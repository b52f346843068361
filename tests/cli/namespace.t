#!/bin/sh
# A container, made of namespaces: marks and ranges from inside reach a recorder outside.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
unset NVTX_INJECTION64_PATH NVMTOP_NVTX NVMTOP_NVTX_DIR
build=$(cd "$(dirname "$NVMTOP")/.." && pwd)
marked=$build/tests/tools/marked
outside=$XDG_RUNTIME_DIR/nvmtop
mkdir -m 700 "$outside" box box/nvmtop
: >box/library.so
# Folder and library are mounted under other names, as by docker run --volume, and the folder has no other name.
cat >enter.sh <<END
set -e
cd '$scratch'
mount --bind '$outside' box/nvmtop
mount --bind '$build/libnvmtop-nvtx.so' box/library.so
mount -t tmpfs none '$XDG_RUNTIME_DIR'
export XDG_RUNTIME_DIR='$scratch/box' NVTX_INJECTION64_PATH='$scratch/box/library.so'
exec "\$@"
END
# Starts a program and kills it within a range.
cat >kill.sh <<'END'
"$@" >/dev/null &
ring() { test "$(stat -c %s box/nvmtop/nvtx-[0-9]* 2>/dev/null | head -n 1)" -gt 17000000; }
for i in $(seq 600); do ring 2>/dev/null && break; sleep 0.05; done
sleep 0.3
kill -KILL $!
END
# container COMMAND...; with host before it, the processes are those of the host
container() {
    pids='--pid --fork --mount-proc'
    test "$1" != host || { pids=; shift; }
    # shellcheck disable=SC2086
    unshare --user --map-root-user --mount --net --ipc --uts $pids sh enter.sh "$@"
}
if ! container true 2>why; then
    echo "1..0 # SKIP $(head -n 1 why): allow unprivileged user namespaces"
    exit 0
fi

# has FILE EXPRESSION: over r, its ranges, and m, the labels of its marks
has() {
    nvmtop export jsonl --tier slow "$1" >rows || return 1
    "$python" -c 'import json, sys
rows = [json.loads(l) for l in open("rows", encoding="utf-8")]
r = [x for x in rows if x.get("row") == "range"]
m = [x.get("label") for x in rows if x.get("row") == "mark"]
sys.exit(0 if eval("(" + sys.argv[1] + ")") else json.dumps(rows, indent=1)[-4000:])' "$2"
}
# begin FILE: a recorder outside, $pid
begin() {
    $EMU "$NVMTOP" record --demo --nvtx -o "$1" 2>"$1.err" &
    pid=$!
    soon test -S "$outside/$pid.sock"
}
end() {
    kill -TERM "$pid"
    wait "$pid"
}
no_files() { ! ls "$outside" | grep -q '^nvtx-[0-9]'; }

begin alone.nvmt
run container $EMU "$marked"
ok 'a program with processes of its own runs' is "$status" 0
ok 'its file is removed after its end' soon no_files
run container $EMU "$NVMTOP" mark 'from inside'
ok 'a mark by nvmtop' is "$status" 0
sed -n '/^    import glob, os, socket, time$/,/^$/s/^    //p' "$NVMTOP_SRC/docs/recording.md" >sockets.py
run container "$python" sockets.py
ok 'a mark by Python' is "$status" 0
end
ok 'its ranges are in the recording' has alone.nvmt '
    sorted(x["name"] for x in r) == ["copy"] * 3 + ["request", "run"] + ["step"] * 3'
ok 'with their end' has alone.nvmt 'not any(x["open"] for x in r)'
ok 'and the name of their process' has alone.nvmt '{x["process"] for x in r} == {"marked"}'
ok 'at the times of the recorder' has alone.nvmt 'all(0 <= x["time_s"] < x["end_s"] for x in r)'
ok 'so are the marks' has alone.nvmt 'm == ["io: half", "from inside", "my label"]'

begin two.nvmt
container $EMU "$marked" &
first=$!
container $EMU "$marked"
ok 'two containers at a time' is $? 0
wait $first
end
ok 'the ranges of both' has two.nvmt 'len(r) == 16'

begin host.nvmt
container host sh kill.sh $EMU "$marked" flood 1000 600
ok 'with the processes of the host, the end of one that is killed is seen' soon no_files
end
ok 'its open range is there' has host.nvmt '[x["open"] for x in r if x["name"] == "run"] == [True] and len(r) > 100'

begin killed.nvmt
container sh kill.sh $EMU "$marked" flood 1000 600
ok 'with processes of its own, too' soon no_files
end
ok 'and its open range ends there' has killed.nvmt '
    [x["open"] for x in r if x["name"] == "run"] == [True] and len(r) > 100'
done_testing
