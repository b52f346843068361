#!/bin/sh
# What can go wrong with the file: found before the first sample, in one
# sentence that names it.
. "$NVMTOP_SRC/tests/cli/lib.sh"

refused() {
    name=$1 file=$2
    shift 2
    run nvmtop --demo --record --duration 0.2 "$@" "$file"
    ok "$name: status 1" is "$status" 1
    ok "$name: one sentence" one_line err
    ok "$name: names the file" says err "$file"
}
# The trace, or the part that was written before it could be completed.
something_to_replay() {
    for f in "$1" "$1.part"; do
        test -s "$f" || continue
        nvmtop --print 80x24 --replay "$f" >/dev/null 2>err
        case $? in 0 | 3) return 0 ;; esac
    done
    cat err
    return 1
}
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
run nvmtop --demo --record --duration 0.2 --force exists.bin
ok '--force overwrites' judge exists.bin "t['counts']['fast'] > 0"
if test "$(id -u)" -ne 0; then
    mkdir readonly
    chmod a-w readonly
    refused 'a read-only folder' readonly/x.bin
else
    skip 'a read-only folder' 'root may write everywhere'
fi

# A file that may not grow: what was recorded stays readable.
(
    ulimit -f 100
    run nvmtop --demo --record --duration 3 limited.bin
    echo $status >limited.status
)
ok 'a file size limit: status 1' is "$(cat limited.status)" 1
ok 'a file size limit: said' says err 'limited.bin'
ok 'a file size limit: what is there can be read' something_to_replay limited.bin

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
ok 'no byte at all: nothing is left' sh -c '! ls nothing.bin*'

if mkdir tmpfs && mount -t tmpfs -o size=6m none tmpfs 2>/dev/null; then
    run nvmtop --demo --record --duration 9 --fast-hz 10000 tmpfs/full.bin
    ok 'a full disk: status 1' is "$status" 1
    ok 'a full disk: said' says err 'No space left'
    ok 'a full disk: what is there can be read' something_to_replay tmpfs/full.bin
    umount tmpfs
else
    skip 'a full disk' 'cannot mount a small file system here'
fi

$EMU "$NVMTOP" --demo --record --duration 30 twice.bin 2>/dev/null &
pid=$!
# Until its first rows are on the disk.
for i in $(seq 200); do test "$(wc -c <twice.bin.part 2>/dev/null || echo 0)" -gt 900 && break; sleep 0.05; done
refused 'a second recorder to one name' twice.bin
kill -TERM $pid
wait $pid
ok 'does the first no harm' judge twice.bin "t['counts']['fast'] > 0"
done_testing
