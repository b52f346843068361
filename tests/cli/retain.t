#!/bin/sh
# record --retain: the oldest recordings of the same name go, and nothing else does.
. "$NVMTOP_SRC/tests/cli/lib.sh"
chmod 711 "$scratch"

nvmtop --demo --record --duration 0.3 sample.nvmt 2>/dev/null
head -c 70000 /dev/zero >>sample.nvmt # more than the least size that can be given
bytes=$(wc -c <sample.nvmt)
# old NAME DAYS: a recording that ended so many days ago
old() { cp sample.nvmt "$1" && touch -d "$2 days ago" "$1"; }
# retain OPTION...: in the folder f
retain() { (cd f && exec $EMU "$NVMTOP" --demo --record --duration 0.3 "$@") >out 2>err; status=$?; }
# left: what is there of before, without the new recordings, which are of this century
left() { (cd f && echo ./*) | tr ' ' '\n' | sed 's,^\./,,' | grep -v 'nvmtop-20' | tr '\n' ' '; }
told() { grep -c 'retain' err; }

# --- by age ---
mkdir f f/nvmtop-19700101-000009.nvmt f/other
old f/nvmtop-19700101-000000.nvmt 9
old f/nvmtop-19700101-000000.2.nvmt 8
old f/nvmtop-19700101-000001.nvmt 6
old f/nvmtop-19700101-00000.nvmt 9
old f/nvmtop-19700101-0000000.nvmt 9
old f/nvmtop-19700101-000000.nvmt.bak 9
old f/nvmtop-19700101-000000.2b.nvmt 9
old f/xnvmtop-19700101-000000.nvmt 9
old f/run.nvmt 9
old f/other/nvmtop-19700101-000000.nvmt 9
old target.nvmt 9
ln -s ../target.nvmt f/nvmtop-19700101-000002.nvmt
echo text >f/nvmtop-19700101-000003.nvmt
: >f/nvmtop-19700101-000004.nvmt
mkfifo f/nvmtop-19700101-000005.nvmt
touch -h -d '9 days ago' f/nvmtop-19700101-00000[2-5].nvmt
stays='nvmtop-19700101-000000.2b.nvmt nvmtop-19700101-000000.nvmt.bak nvmtop-19700101-0000000.nvmt nvmtop-19700101-000001.nvmt nvmtop-19700101-000002.nvmt nvmtop-19700101-000003.nvmt nvmtop-19700101-000004.nvmt nvmtop-19700101-000005.nvmt nvmtop-19700101-000009.nvmt nvmtop-19700101-00000.nvmt other run.nvmt xnvmtop-19700101-000000.nvmt '
retain --retain 7d
ok 'by age: status 0' is "$status" 0
ok 'by age: two are gone, and nothing that is of another name, no recording or no file' is "$(left)" "$(echo $stays | tr ' ' '\n' | sort | tr '\n' ' ')"
ok 'by age: nor what a link leads to, or is in a folder' test -s target.nvmt -a -s f/other/nvmtop-19700101-000000.nvmt
ok 'by age: said in one line' is "$(told)" 1
ok 'by age: how many, how much, and up to which' says err '^nvmtop: --retain removed 2 files, up to nvmtop-19700101-000000.2.nvmt$'
ok 'by age: it records' judge f/nvmtop-20*.nvmt "t['counts']['fast'] > 0"
retain --retain 7d
ok 'nothing to remove: nothing is said' is "$status:$(told)" 0:0
ok 'nothing to remove: both recordings are there' is "$(ls f/nvmtop-20*.nvmt | wc -l)" 2
rm -rf f

# --- by size ---
mkdir f
old f/run.7.nvmt 8
old f/run.3.nvmt 6
old f/run.4.nvmt 5
old f/run.5.nvmt 4
old f/run.2.nvmt 3
old f/run.6.nvmt 1
retain --retain $((bytes * 3))B run.nvmt
ok 'by size: the oldest go, by their ends and not by their numbers' is "$(left)" 'run.2.nvmt run.5.nvmt run.6.nvmt run.nvmt '
ok 'by size: said' says err 'removed 3 files, up to run.4.nvmt$'
rm -f f/run.nvmt
old f/run.5.nvmt 9
retain --retain 100M --retain 8d run.nvmt
ok 'both: what is too old goes' is "$(left)" 'run.2.nvmt run.6.nvmt run.nvmt '
ok 'one is named' says err 'retain removed 1 file: run.5.nvmt$'
rm -f f/run.nvmt
retain --retain 8d --retain ${bytes}B run.nvmt
ok 'both: what is too much goes' is "$(left)" 'run.6.nvmt run.nvmt '
rm -rf f

# --- forms in the name, and another folder ---
mkdir f
for name in x-1.nvmt x-1.3.nvmt x-2.nvmt "$(uname -n)-x.2.nvmt" "$(uname -n)-x.1.nvmt"; do old "f/$name" 9; done
run nvmtop --demo --record --duration 0.1 --retain 7d f/x-9.nvmt
ok 'digits of a name are themselves' is "$status:$(cd f && echo x*)" '0:x-1.3.nvmt x-1.nvmt x-2.nvmt x-9.nvmt'
run env WHAT=x "$NVMTOP" --demo --record --duration 0.1 --retain 7d 'f/%h-%q{WHAT}.nvmt'
ok 'host and environment stand for their values' test "$status" = 0 -a ! -e "f/$(uname -n)-x.2.nvmt" -a -e "f/$(uname -n)-x.1.nvmt"
run nvmtop --demo --record --duration 0.1 --retain 7d f/x-1.3.nvmt
ok 'a name that ends in a number: its own files' is "$status:$(cd f && echo x*)" '0:x-1.3.nvmt x-1.nvmt x-2.nvmt x-9.nvmt'
rm -rf f

# --- of the same run ---
run nvmtop --demo --record --duration 6.5 --split 1 --retain 70k split.nvmt
ok 'while it records: status 0' is "$status" 0
ok 'while it records: the first files are gone' test ! -e split.nvmt -a ! -e split.2.nvmt
# The last two of those that it names: a slow machine makes six, a quick one seven.
last=$(grep 'recorded' err | grep -o 'split\.[0-9]*' | tail -n 1)
last=${last#split.}
ok 'while it records: the last ones are not' test "$last" -ge 5 -a -s "split.$last.nvmt" -a -s "split.$((last - 1)).nvmt"
for f in split.*.nvmt; do ok "$f: sound" judge "$f" "t['counts']['fast'] > 0 and t['end']"; done
ok 'while it records: it says so several times' test "$(told)" -ge 2

# --- what is being recorded ---
mkdir f
record_begin f/b.2.nvmt
soon test -s f/b.2.nvmt
kill -STOP $pid
soon grep -q '^State:.T' /proc/$pid/status
touch -d '9 days ago' f/b.2.nvmt
old f/b.3.nvmt 8
nvmtop --demo --record --retain 1d f/b.nvmt -- true 2>/dev/null
ok 'what another process records to stays, however old' test -e f/b.2.nvmt -a ! -e f/b.3.nvmt
kill -CONT $pid
kill -TERM $pid
wait $pid
ok 'and is sound' judge f/b.2.nvmt "t['end'] and t['counts']['fast'] > 0"
rm -rf f

# As root nothing is refused: as another user.
mkdir f
old f/nvmtop-19700101-000000.nvmt 9
old f/nvmtop-19700101-000001.nvmt 8
chmod 0 f/nvmtop-19700101-000000.nvmt
as=
if test "$(id -u)" -eq 0; then
    chown 65534 f f/nvmtop-19700101-000001.nvmt
    as='setpriv --reuid 65534 --clear-groups'
fi
(cd f && exec $as env XDG_RUNTIME_DIR= $EMU "$NVMTOP" --demo --record --duration 3.2 --split 1 --retain 7d) 2>err
status=$?
ok 'a file that cannot be removed: status 0' is "$status" 0
ok 'a file that cannot be removed: said once' is "$(grep -c 'cannot remove nvmtop-19700101-000000.nvmt: Permission denied' err)" 1
ok 'a file that cannot be removed: the others are' test ! -e f/nvmtop-19700101-000001.nvmt
ok 'a file that cannot be removed: the recording goes on' judge f/nvmtop-20*.3.nvmt "t['counts']['fast'] > 0"
rm -rf f

# --- two on one folder ---
for how in retain service; do
    mkdir f
    options= variable=NOTHING=
    test $how = service && variable=LOGS_DIRECTORY=$scratch/f || options='--retain 7d'
    test -p ready || mkfifo ready
    # shellcheck disable=SC2086
    (cd f && exec env "$variable" $EMU "$NVMTOP" --demo --record $options --ready-fd 9) 2>first 9>ready &
    pid=$!
    read -r _ <ready
    run env "$variable" $EMU "$NVMTOP" --demo --record $options --duration 0.1 f/run.nvmt
    ok "two, $how: the second fails" is "$status" 1
    ok "two, $how: with a sentence" says err '^nvmtop: another service, or nvmtop with --retain, records to the folder of f/run.nvmt: choose another folder$'
    ok "two, $how: in one line" one_line err
    ok "two, $how: without a file" test ! -e f/run.nvmt
    kill -TERM $pid
    wait $pid
    ok "two, $how: the first is not disturbed" judge f/nvmtop-20*.nvmt "t['end'] and t['counts']['fast'] > 0"
    run env "$variable" $EMU "$NVMTOP" --demo --record $options --duration 0.1 f/run.nvmt
    ok "two, $how: then there is room" is "$status" 0
    rm -rf f
done

# --- a full disk ---
if mkdir disk && mount -t tmpfs -o size=8m none disk 2>/dev/null; then
    cp sample.nvmt disk/nvmtop-19700101-000000.nvmt
    head -c 5000000 /dev/zero >>disk/nvmtop-19700101-000000.nvmt
    run sh -c 'cd disk && exec $EMU "$NVMTOP" --demo --record --duration 0.1'
    ok 'a full disk: nothing is removed that was not asked for' is "$status:$(ls disk)" 1:nvmtop-19700101-000000.nvmt
    touch -d '9 days ago' disk/nvmtop-19700101-000000.nvmt
    run sh -c 'cd disk && exec $EMU "$NVMTOP" --demo --record --duration 0.1 --retain 7d'
    ok 'a full disk: what may go makes room for the first file' is "$status" 0
    umount disk
else
    skip 'a full disk' 'a small file system cannot be mounted here: run it as root'
fi

# --- wrong use ---
for wrong in '--retain 0.5' '--retain 10k' '--retain 5x' '--retain -1' '--retain ,'; do
    # shellcheck disable=SC2086
    run nvmtop --demo --record $wrong x.nvmt
    ok "$wrong: wrong use" is "$status" 2
    ok "$wrong: says what it takes" says err 'is not a valid value for .*: it takes'
done
for wrong in '-' '--keep 5' 'x.bin' '--repeat 2 x.nvmt -- true' 'x-%p.nvmt -- true'; do
    # shellcheck disable=SC2086
    run nvmtop --demo --record --retain 7d $wrong
    ok "not with $wrong" is "$status" 2
done
ok 'none of these left a file' test ! -e x.nvmt -a ! -e x.bin.nvmt
done_testing
