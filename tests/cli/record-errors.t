#!/bin/sh
# What can go wrong with the file: found before the first sample, in one
# sentence that names it.
. "$NVMTOP_SRC/tests/cli/lib.sh"

refused() {
    name=$1
    shift
    test "$1" = -o || set -- -o "$@"
    file=$2
    run nvmtop --demo --record --duration 0.2 "$@"
    ok "$name: status 1" is "$status" 1
    ok "$name: one sentence" one_line err
    ok "$name: names the file" says err "${file%.bin}"
}
something_to_replay() {
    nvmtop --print 80x24 --replay "$1" >/dev/null 2>err
    case $? in 0 | 3) return 0 ;; esac
    cat err
    return 1
}
run nvmtop --demo --record -o ''
ok 'an empty name: wrong use' is "$status" 2
ok 'an empty name: said' says err 'the name .* is empty'
mkdir folder
echo precious >exists.bin
mkfifo pipe
ln -s nowhere/at/all dangling
refused 'no such folder' no/such/folder/x.bin
refused 'a folder as FILE' folder
refused 'an existing file' exists.bin
ok 'an existing file is untouched' is "$(cat exists.bin)" precious
refused 'a pipe' pipe --force
refused 'a device' /dev/null --force
refused 'below a file' exists.bin/x.bin
refused 'a link to nowhere' dangling
# Only what was a recording, or nothing, is replaced by one.
foreign='is not a recording of nvmtop, so it is not replaced: choose another name$'
ok 'an existing file: --force is no help' says err "$foreign"
printf '#!/bin/sh\n' >prog
chmod +x prog
echo 'int main;' >code.c
for file in exists.bin prog code.c; do
    cp "$file" before
    refused "--force over $file" -o "$file" --force
    ok "--force over $file: why" says err "$foreign"
    ok "--force over $file: untouched" cmp before "$file"
done
cp prog other.nvmt
refused '--force over another file where the log would be' other.bin --force
ok '--force over another file where the log would be: untouched' cmp prog other.nvmt
: >empty.bin
refused 'an empty file without --force' empty.bin
ok 'an empty file: --force would replace it' says err 'choose another name, or use --force$'
run nvmtop --demo --record --duration 0.2 --force empty.bin
ok '--force replaces an empty file' judge empty.bin "t['counts']['fast'] > 0"
run nvmtop --demo --record --duration 0.6 --force empty.bin
ok '--force replaces a file of version 1' judge empty.bin "t['fast']['last_s'] > 0.4"
run nvmtop --demo --record --duration 0.2 log.nvmt
run nvmtop --demo --record --duration 0.6 --force log.nvmt
ok '--force replaces a log' judge log.nvmt "t['fast']['last_s'] > 0.4"
run nvmtop record --demo made.bin -- sh -c 'echo precious >made.bin'
ok 'a file that was made meanwhile is untouched' is "$(cat made.bin)" precious
ok 'a file that was made meanwhile: what completes the recording' says err 'the recording is in made.nvmt: nvmtop export nvmt1 --force made.nvmt -o made.bin makes'

# Root may write everywhere: then somebody else tries.
mkdir readonly
chmod 755 . readonly
if test "$(id -u)" -ne 0; then
    chmod a-w readonly
    refused 'a read-only folder' readonly/x.bin
elif cp "$NVMTOP" as-other && # which may be in a folder of root's alone
    "$python" -c 'import os; os.setuid(65534); os.execv("./as-other", ["nvmtop", "--version"])' >/dev/null 2>&1; then
    run "$python" -c 'import os, sys; os.setuid(65534); os.execv("./as-other", ["nvmtop"] + sys.argv[1:])' \
        --demo --record --duration 0.2 readonly/x.bin
    ok 'a read-only folder: status 1' is "$status" 1
    ok 'a read-only folder: names the file' says err 'readonly/x.nvmt: Permission denied'
else
    skip 'a read-only folder' 'root may write everywhere, and nobody else can be tried: run it as another user'
fi

# A symbolic link of that name is replaced; what it leads to is left alone.
cp log.nvmt target
ln -s target link.bin
refused 'a link to a file' link.bin
run nvmtop --demo --record --duration 0.2 --force link.bin
ok '--force replaces a link' test -f link.bin -a ! -L link.bin
ok 'and not what it leads to' cmp log.nvmt target
ln -s prog tool.bin
refused '--force over a link to a program' -o tool.bin --force
ok 'it stays a link' test -L tool.bin
ln -s folder linked
refused 'a link to a folder' linked --force
ln -s /dev/null nulled
refused 'a link to a device' nulled --force
ln -s target way.nvmt
refused 'a link where the log would be' way.bin
ok 'it is not followed' cmp log.nvmt target
refused '/dev/full' /dev/full --force
long=$(printf '%0255d' 0)
run nvmtop --demo --record --duration 0.2 "$long"
ok 'a name as long as it can be' test -s "$long"
refused 'a longer one' "0$long"
run nvmtop --demo --record --duration 0.2 "$(printf '%04096d' 0)"
ok 'a path that is too long: status 1' is "$status" 1
ok 'a path that is too long: one sentence' one_line err
blank="$(printf ' bl anks\tand \303\274ml\303\244ute \033[31m')"
run nvmtop --demo --record --duration 0.2 "$blank"
ok 'blanks, a tab, UTF-8 and an escape in the name' test -s "$blank"
ok 'the escape is not shown' sh -c '! grep -q "$(printf "\033")" err'

# Who closes standard input, output or errors: nothing else takes their numbers.
(
    $EMU "$NVMTOP" --demo --record --duration 0.3 closed.bin <&- >&- 2>&-
    echo $? >closed.status
)
ok 'nothing is open: status 0' is "$(cat closed.status)" 0
ok 'nothing is open: the trace is sound' judge closed.bin "t['counts']['fast'] > 10"
run timeout 60 $EMU "$NVMTOP" --demo --record --stop-on-eof eof.bin <&-
ok 'a closed standard input is at its end' is "$status" 0
run timeout 60 $EMU "$NVMTOP" --replay - <&-
ok 'no stream comes out of it: status 3' is "$status" 3
ok 'no stream comes out of it: a sentence' says err 'cannot read standard input'
(
    $EMU "$NVMTOP" --demo --record --duration 0.3 - >&- 2>err
    echo $? >closed.status
)
ok 'no stream goes into a closed output: status 1' is "$(cat closed.status)" 1
ok 'no stream goes into a closed output: a sentence' says err 'standard output ended early: Bad file'

# Many at the same moment: one records, the others are told that it does.
for i in 1 2 3 4 5 6; do
    (
        $EMU "$NVMTOP" --demo --record --duration 1.5 same.bin 2>same.$i.err
        echo $? >same.$i.status
    ) &
done
wait
ok 'six recorders to one name: one wins' is "$(cat same.*.status | sort | tr -d '\n')" 011111
ok 'six recorders to one name: its file is sound' judge same.bin "t['counts']['fast'] > 50"
ok 'six recorders to one name: five are told who does' is "$(cat same.*.err | grep -c 'same.nvmt is being recorded by another process\|same.* already exists')" 5

# A file that may not grow: what was recorded stays readable.
(
    ulimit -f 40
    run nvmtop --demo --record --duration 3 limited.nvmt
    echo $status >limited.status
)
ok 'a file size limit: status 1' is "$(cat limited.status)" 1
ok 'a file size limit: said' says err 'limited.nvmt'
ok 'a file size limit: what is there can be read' something_to_replay limited.nvmt

# Not one byte may be written: nothing is left that would block the name.
mkfifo told
cat told >err &
(
    ulimit -f 0
    $EMU "$NVMTOP" --demo --record --duration 1 nothing.bin >/dev/null 2>told
    test $? -eq 1
)
status=$?
wait $!
ok 'no byte at all: status 1' is "$status" 0
ok 'no byte at all: nothing is left' sh -c '! ls nothing.*'

if mkdir tmpfs && mount -t tmpfs -o size=6m none tmpfs 2>/dev/null; then
    run nvmtop --demo --record --duration 9 --fast-hz 10000 tmpfs/full.bin
    ok 'no room for version 1: status 1' is "$status" 1
    ok 'no room for version 1: said, with what to do' says err 'full.bin: No space left.* recording is in tmpfs/full.nvmt: nvmtop export nvmt1 tmpfs/full.nvmt -o tmpfs/full.bin makes'
    ok 'no room for version 1: the log is whole' judge tmpfs/full.nvmt "t['end'] and t['counts']['fast'] > 1000"
    ok 'no room for version 1: nothing else is left' is "$(ls tmpfs)" full.nvmt
    umount tmpfs
else
    skip 'a full disk' 'a small file system cannot be mounted here: run it as root'
fi

$EMU "$NVMTOP" --demo --record --duration 30 twice.bin 2>/dev/null &
pid=$!
# Until its first rows are on the disk.
for i in $(seq 200); do test "$(wc -c <twice.nvmt 2>/dev/null || echo 0)" -gt 900 && break; sleep 0.05; done
refused 'a second recorder to one name' twice.bin
kill -TERM $pid
wait $pid
ok 'does the first no harm' judge twice.bin "t['counts']['fast'] > 0"
# Eight that begin in the same moment without a name: each has its own.  Where it can be
# had, all of them have seen that the first name is free before one takes it.
cat >late.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int lstat(const char *restrict path, struct stat *restrict st)
{
	static int looked;
	int r = ((int (*)(const char *, struct stat *))dlsym(RTLD_NEXT, "lstat"))(path, st);
	if (!strncmp(path, "nvmtop-", 7) && looked++ < 6)
		usleep(100000);
	return r;
}
END
preload=
if ${CC:-cc} -shared -fPIC -o late.so late.c -ldl 2>/dev/null; then
    preload=$scratch/late.so
    LD_PRELOAD=$preload $EMU "$NVMTOP" --version >out 2>&1
    { grep -q '^nvmtop' out && ! grep -qi preload out; } || preload=
fi
mkdir together
(
    cd together || exit 1
    for i in 1 2 3 4 5 6 7 8; do
        (
            LD_PRELOAD=$preload $EMU "$NVMTOP" --demo --record --duration 0.5 >/dev/null 2>"../together.$i"
            echo $? >"../together.$i.status"
        ) &
    done
    wait
)
ok 'eight in one moment: none fails' is "$(cat together.*.status | sort -u)" 0
ok 'eight in one moment: eight files' is "$(find together -name 'nvmtop-*.nvmt' | wc -l)" 8
ok 'eight in one moment: each says another' is "$(sed -n 's/.*\(nvmtop-[0-9.-]*nvmt\).*/\1/p' together.? | sort -u | wc -l)" 8
ok 'eight in one moment: nothing else' is "$(find together -type f | wc -l)" 8
all_whole() { tell 'len(t)' "$@"; }
ok 'eight in one moment: all whole' all_whole together/nvmtop-*.nvmt

# The same of what is written out of memory, when something happens that all of them see.
mkdir kept
(
    cd kept || exit 1
    pids=
    for i in 1 2 3 4; do
        LD_PRELOAD=$preload $EMU "$NVMTOP" --demo --record --keep 1 >/dev/null 2>"../kept.$i" &
        pids="$pids $!"
    done
    for i in $(seq 600); do test "$(find "$XDG_RUNTIME_DIR" -name '*.sock' | wc -l)" -eq 4 && break; sleep 0.05; done
    kill -USR2 $pids
    for i in $(seq 600); do test "$(find . -name 'nvmtop-*.nvmt' | wc -l)" -eq 4 && break; sleep 0.05; done
    kill -TERM $pids
    wait
)
ok 'four that keep: four files' is "$(find kept -type f -name 'nvmtop-*.nvmt' | wc -l)" 4
ok 'four that keep: nothing else' is "$(find kept -type f | wc -l)" 4
ok 'four that keep: all whole' all_whole kept/nvmtop-*.nvmt
ok 'four that keep: none complains' sh -c '! grep -i "being recorded\|exists" kept.?'

done_testing
