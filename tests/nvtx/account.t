#!/bin/sh
# made = recorded + lost, by cause and exactly: a program counts the ranges that it makes, an independent reader those in
# the recording, and the changes ranges.lost are what is missing.
. "$NVMTOP_SRC/tests/cli/lib.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
unset NVTX_INJECTION64_PATH NVMTOP_NVTX NVMTOP_NVTX_DIR
counted="$EMU $(dirname "$NVMTOP")/../tests/tools/counted"
folder=$XDG_RUNTIME_DIR/nvmtop

# account FILE CAUSES: they are equal, and what is lost is lost by these causes only; prints both
account() {
    "$python" - "$@" <<END
import importlib.util, struct, sys
spec = importlib.util.spec_from_file_location("nvmt_log", "$NVMTOP_SRC/tests/tools/nvmt-log.py")
log = importlib.util.module_from_spec(spec)
spec.loader.exec_module(log)
file, allowed = sys.argv[1], set(sys.argv[2].split(",")) - {""}
made = struct.unpack("<Q", open("made", "rb").read())[0]
r = log.Recording(open(file, "rb").read())
lost = {}
for c in r.changes.values():
    if c["what"] == "ranges.lost":
        n, _, cause = c["to"].partition(" ")
        lost[cause] = lost.get(cause, 0) + int(n)
recorded, still = len(r.ranges) + len(r.again), sum(x["flags"] & 1 for x in r.again.values())
print(f"made {made} = recorded {recorded} (open {still}) + lost {lost}")
said = open("err", encoding="utf-8").read()
missing = f"{sum(lost.values())} NVTX range"
sys.exit(0 if made == recorded + sum(lost.values()) and set(lost) <= allowed and (not lost or missing in said)
         and (not allowed or "only" not in sys.argv[3:] or set(lost) == allowed) else said)
END
}

# counts NAME CAUSES OPTIONS WHAT...: records it, and the account is right
counts() {
    name=$1 causes=$2 options=$3
    shift 3
    rm -f made
    # shellcheck disable=SC2086
    run nvmtop record --demo --force $options --nvtx -o "x.nvmt" -- $counted made "$@"
    ok "$name" account x.nvmt "$causes"
}
# Threads that make ranges without a rest can be faster than the recorder of a busy machine.
busy=full,late

counts 'a program that ends at once' '' '' one
counts '200 forks' '' '' forks 200
counts '100 processes at a time' '' '' processes 100
ok 'nothing is left in the folder' sh -c "! ls '$folder'/nvtx-[0-9]* 2>/dev/null"
counts '300 threads at a time' "threads,$busy" '' threads 300
ok 'which is said' says err 'were of more than 256 threads of a program at a time'
counts '500 domains' '' '' domains 500
counts '5000 domains' domains '' domains 5000
ok 'which is said' says err '907 were of more than 4093 domains'
counts '1000 deep' '' '' deep 1000
counts '30000 deep' "depth,$busy" '' deep 30000
for hz in 1 10 1000; do
    counts "$hz Hz" "$busy,open" "--fast-hz $hz --medium-hz 1 --slow-hz 1" many 20000
done
counts 'a flood' "rate,$busy,open" '' many 300000
counts 'one that is killed' '' '' killed 500
ok 'what was open is there' sh -c "$python '$NVMTOP_SRC/tests/tools/nvmt-log.py' --brief x.nvmt | grep -q '\"open\": 1'"
counts 'a signal handler' "busy,$busy,open" '' signals 20000
counts 'files of no size' 'file size' '' fsize 20
ok 'which is said' says err "2020 were lost to the program's limit of file size"
if grep -q '^SAN_CFLAGS = .' "$(dirname "$NVMTOP")/../Makefile"; then
    for what in 'no more memory' 'which is said'; do skip "$what" 'a sanitizer needs memory'; done
else
    counts 'no more memory' memory '' as 20
    ok 'which is said' says err "2020 were lost to the program's limit of memory"
fi
counts 'no descriptors' 'open files' '' nofile 20
ok 'which is said' says err "2020 were lost to the program's limit of open files"

# More programs than the recorder has descriptors for.
rm -f made
run sh -c "ulimit -n 128 && exec $EMU $NVMTOP record --demo --force --nvtx -o few.nvmt -- $counted made processes 100"
ok 'with 128 descriptors' account few.nvmt ''

# A folder that is full; the file system is that of a namespace.
mkdir full
if unshare -rm mount -t tmpfs none full 2>/dev/null; then
    for size in 100k 600k 3m; do
        rm -f made
        run unshare -rm sh -c "mount -t tmpfs -o size=$size none full && export NVMTOP_NVTX_DIR=$scratch/full &&
            exec $EMU $NVMTOP record --demo --force --nvtx -o full.nvmt -- $counted made processes 20"
        ok "a folder of $size" account full.nvmt space only
        ok 'which is said' says err 'because the directory of the ranges was full'
    done
    run unshare -rm sh -c "mount -t tmpfs -o size=4k none full && echo >full/file && export NVMTOP_NVTX_DIR=$scratch/full &&
        exec $EMU $NVMTOP record --demo --nvtx -o none.nvmt -- $counted made one"
    ok 'a folder without place for anything: said' says err 'cannot record NVTX ranges: .*full: No space left on device'
else
    for size in 1 2 3 4; do skip 'a full folder' 'no file system can be mounted here'; done
fi

# Programs from before the command, and what dead ones left.
mkdir -m 700 -p "$folder"
(
    eval "$(nvmtop env)"
    $counted before many 100 # has gone, and its file with it
    exec $counted before killed 10
) 2>/dev/null
ok 'a dead program left a file' sh -c "ls '$folder'/nvtx-[0-9]*"
(
    eval "$(nvmtop env)"
    exec $counted before steady
) &
steady=$!
soon() { for _ in $(seq 600); do "$@" && return; sleep 0.1; done; false; }
soon sh -c "ls '$folder/nvtx-$steady-'*" 2>/dev/null >&2
sleep 0.02 # a clock tick: the command starts later
counts 'a program that started before the command' '' '' many 100
ok 'is left out' says err 'the NVTX ranges of 1 program that started before the command are left out'
ok 'and what a dead one left is removed' sh -c "test \"\$(ls '$folder' | grep -c 'nvtx-[0-9]')\" = 1"
run nvmtop record --demo --force --nvtx --nvtx-from all -o all.nvmt -- sleep 0.3
ok '--nvtx-from=all: it is recorded' sh -c "$python '$NVMTOP_SRC/tests/tools/nvmt-log.py' --brief all.nvmt | grep -q '\"ranges\": [1-9]'"
run nvmtop record --demo --force --nvtx --duration 0.3 -o all.nvmt
ok 'and without a command' sh -c "$python '$NVMTOP_SRC/tests/tools/nvmt-log.py' --brief all.nvmt | grep -q '\"ranges\": [1-9]'"
kill $steady
run nvmtop record --demo --nvtx-from=all -o all.nvmt -- true
ok 'only with --nvtx' says err '--nvtx-from needs --nvtx'
done_testing
