#!/bin/sh
# A recorder that is killed at any moment leaves a log that opens as it is; --recover gives it
# its INDEX and END, and a .bin its form.  kill.t does it a hundred times.
. "$NVMTOP_SRC/tests/cli/lib.sh"

replays() { nvmtop --print 80x24 --replay "$1" >/dev/null; }
# begin NAME OPTION...: a recorder that has written its first rows
begin() {
    name=$1 log=$1
    shift
    case $name in *.bin) log=$name.nvmt ;; esac
    $EMU "$NVMTOP" --demo --record "$@" "$name" 2>rec.err &
    pid=$!
    for try in $(seq 500); do
        test "$(wc -c <"$log" 2>/dev/null || echo 0)" -gt 9000 && break
        sleep 0.01
    done
}
end() {
    kill -"$1" $pid
    wait $pid 2>/dev/null
}

for i in 1 2 3; do
    f=kill$i.nvmt
    begin $f
    kill -USR1 $pid
    sleep 0.$((i * 2 + 2))
    run nvmtop --recover $f
    ok "$f: a running recorder is left alone" is "$status" 1
    ok "$f: and said to be running" says err 'still being recorded'
    end KILL
    ok "$f: it replays as it is" replays $f
    truncate -s -$((i * 7)) $f
    run nvmtop --check $f
    ok "$f: it has no END" says out 'it has no END'
    run nvmtop --recover $f
    ok "$f: recovered" is "$status" 0
    ok "$f: it says so" says err 'recovered'
    run nvmtop --check $f
    ok "$f: sound" is "$status" 0
    ok "$f: it says so" says out '^valid'
    ok "$f: an independent reader agrees" judge $f "t['fast']['increasing'] and t['counts']['fast'] > 10"
    cp $f before
    run nvmtop --recover $f
    ok "$f: a second time: status 0" is "$status" 0
    ok "$f: a second time: it is complete" says err 'is complete'
    ok "$f: a second time: nothing changes" cmp before $f
done

begin a.bin
kill -USR1 $pid
soon has_marks a.bin.nvmt 1
soon has_rows a.bin.nvmt 500 # of several chunks
end KILL
for verb in '--report --summary' '--export csv' '--print 80x24 --replay'; do
    run nvmtop $verb a.bin
    ok "$verb of a .bin whose log is there: status 0" is "$status" 0
    ok "$verb of a .bin whose log is there: said" says err 'a.bin is not complete: a.bin.nvmt is read; nvmtop recover a.bin completes it'
done
run nvmtop --check a.bin
ok '--check of a .bin whose log is there: its problem' says out 'it has no END'
run nvmtop --recover a.bin
ok 'of a .bin only the log is there: status 0' is "$status" 0
ok 'it is a .bin now' judge a.bin "t['fast']['increasing'] and t['counts']['fast'] > 10 and len(t['sync']) == 1"
ok 'and nothing else is left' test ! -e a.bin.nvmt -a ! -e a.bin.tmp
run nvmtop --check a.bin
ok 'which is sound' is "$status" 0
run nvmtop --recover a.bin
ok 'and complete' says err 'is complete'

# Beside a .bin that is there already.
nvmtop --demo --record --duration 0.3 b.bin 2>err
nvmtop --demo --record --duration 1 b.bin.nvmt 2>err
rows=$(brief b.bin.nvmt | sed -n 's/^{"end":.*"rows": {"0": \([0-9]*\).*/\1/p')
cp b.bin before
run nvmtop recover b.bin
ok 'a .bin that exists: status 3' is "$status" 3
ok 'it is not replaced' cmp before b.bin
ok 'the command that does is named' says err 'nvmtop recover --force b.bin completes it'
run nvmtop recover --force b.bin
ok 'which does' is "$status" 0
ok 'by the log beside it' judge b.bin "t['counts']['fast'] == $rows"
ok 'and nothing else is left' is "$(echo b.bin*)" b.bin

nvmtop --cut a.bin --from 0 -o whole.nvmt 2>err
"$python" "$NVMTOP_SRC/tests/tools/nvmt-log-edit.py" lost whole.nvmt lost.nvmt
cp lost.nvmt before
run nvmtop --recover lost.nvmt
ok 'complete, but damaged: status 3' is "$status" 3
ok 'complete, but damaged: both are said' says err 'lost.nvmt is complete'
ok 'complete, but damaged: how' says err '1 of its chunks cannot be used'
ok 'complete, but damaged: nothing changes' cmp before lost.nvmt

run nvmtop --recover never.nvmt
ok 'never recorded: status 1' is "$status" 1
echo 'this is no recording' >text
run nvmtop --recover text
ok 'something else: status 1' is "$status" 1
ok 'something else: untouched' is "$(cat text)" 'this is no recording'
ok 'in one sentence' one_line err
mkdir folder.nvmt
run nvmtop --recover folder.nvmt
ok 'a folder: status 1' is "$status" 1
run nvmtop --recover
ok '--recover needs a FILE' is "$status" 2
done_testing
