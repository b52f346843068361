#!/bin/sh
# A recorder that is killed at any moment leaves what --recover makes whole; kill.t
# does it a hundred times.
. "$NVMTOP_SRC/tests/cli/lib.sh"

now() { date +%s%N; }
replays() { nvmtop --print 80x24 --replay "$1" >/dev/null; }
# 3 where the kill tore what was just being written
whole_or_torn() { test "$status" -eq 0 -o "$status" -eq 3 || is "$status" 0; }
recovers() {
    run nvmtop --recover "$1"
    ok "$1: recovered" whole_or_torn
    ok "$1: a sound file" judge "$1" "t['fast']['increasing'] and t['medium']['increasing']"
    ok "$1: nothing else is left" test ! -e "$1.part" -a ! -e "$1.part.side"
    ok "$1: it replays" replays "$1"
    ok "$1: it says so" says err 'recovered'
}
# begin NAME OPTION...: a recorder that has written its first rows
begin() {
    name=$1
    shift
    $EMU "$NVMTOP" --demo --record "$@" "$name" 2>rec.err &
    pid=$!
    for try in $(seq 500); do
        test "$(wc -c <"$name.part" 2>/dev/null || echo 0)" -gt 900 && break
        sleep 0.01
    done
}
end() {
    kill -"$1" $pid
    wait $pid 2>/dev/null
}
random() { "$python" -c "import random; print(random.randint($1, $2) / 1000)"; }

# Rows are asked for by time: a busy machine is late, and says so in its gaps.
i=0
while test $i -lt 6; do
    i=$((i + 1))
    f=kill$i.bin
    hz=1000
    test $((i % 4)) -eq 0 && hz=5000
    begin "$f" --fast-hz $hz
    sleep "$(random 0 1400)"
    kill -USR1 $pid
    sleep 0.4
    from=$(now)
    end KILL
    recovers "$f"
    ok "$f: the mark is there" judge "$f" "len(t['sync']) == 1"
    ok "$f: what is missing is short" "$python" - "$f" "$from" <<'END'
import re, struct, sys
raw = open(sys.argv[1], "rb").read()
at = raw.index(b"ANCH") + 20
start = struct.unpack_from("<qqq", raw, at)[1]
n = struct.unpack_from("<Q", raw, 56)[0]
last = struct.unpack_from("<d", raw, 728 + 98 * (n - 1))[0]
missing = (int(sys.argv[2]) - start) / 1e9 - last
# Rows reach the kernel every 200 ms; the shell that kills may itself wait.
sys.exit(0 if missing < 1 else f"{missing} s are missing")
END
done

# While it begins, and while it ends.
i=0
while test $i -lt 4; do
    i=$((i + 1))
    f=end$i.bin
    begin "$f" --fast-hz 5000
    sleep "$(random 300 600)"
    kill -TERM $pid
    sleep "$(random 0 20)"
    end KILL
    if test -e "$f"; then
        ok "$f: complete by itself" judge "$f" "t['counts']['fast'] > 0"
        test -e "$f.part.side" && run nvmtop --recover "$f"
        ok "$f: nothing is left" test ! -e "$f.part" -a ! -e "$f.part.side"
    else
        run nvmtop --recover "$f"
        ok "$f: recovered" whole_or_torn
        ok "$f: a sound file" judge "$f" "t['counts']['fast'] > 50 and t['counts']['medium'] > 0"
    fi
done
run nvmtop --recover kill1.bin
ok 'a second time: nothing to recover' is "$status" 1
ok 'says so' says err 'nothing to recover'
ok 'in one sentence' one_line err
# Of several files the first is complete, and another one is not.
begin parts.bin --split 1
for try in $(seq 500); do
    test -e parts.bin && test "$(wc -c <parts.2.bin.part 2>/dev/null || echo 0)" -gt 900 && break
    sleep 0.02
done
end KILL
run nvmtop --recover parts.bin
ok 'of several files: says which one was interrupted' says err 'parts.bin is complete, but parts.2.bin .*--recover parts.2.bin'
recovers parts.2.bin
run nvmtop --recover never.bin
ok 'never recorded: nothing to recover' is "$status" 1

# What is damaged beyond a kill.
begin base.bin
kill -USR1 $pid
sleep 2.2
run nvmtop --recover base.bin
ok 'a running recorder is left alone' is "$status" 1
ok 'and said to be running' says err 'still being recorded'
end KILL
run nvmtop --print 80x24 --replay base.bin
ok 'replay names the way out' says err 'nvmtop --recover base.bin'
ok 'replay fails' is "$status" 1
run nvmtop --demo --record --duration 0.1 base.bin
ok 'so does a recorder to the same name' says err 'nvmtop --recover base.bin'
# copy NAME
copy() { cp base.bin.part "$1.part" && cp base.bin.part.side "$1.part.side"; }
damaged() {
    run nvmtop --recover "$1"
    ok "$2: status 3" is "$status" 3
    ok "$2: sound" judge "$1" "t['fast']['increasing'] and t['counts']['fast'] > 10"
    ok "$2: replays" replays "$1"
}
copy a.bin
rm a.bin.part.side
damaged a.bin 'no side file'
ok 'no side file: only fast rows' judge a.bin "t['counts']['medium'] == 0"
copy b.bin
: >b.bin.part.side
damaged b.bin 'an empty side file'
copy c.bin
truncate -s -50 c.bin.part
damaged c.bin 'cut within a row'
copy d.bin
truncate -s -100 d.bin.part.side
damaged d.bin 'side cut within a record'
ok 'side cut: medium rows' judge d.bin "t['counts']['medium'] > 5"
ok 'side cut: the mark' judge d.bin "len(t['sync']) == 1"
copy e.bin
"$python" - e.bin <<'END'
import sys
p = sys.argv[1] + ".part"
b = bytearray(open(p, "rb").read())
b[728 + 98 * 40 + 7] ^= 0x40                            # a time far ahead
b[728 + 98 * 60 : 728 + 98 * 90] = bytes(98 * 30)       # a block that was never written
b[0:4] = b"oops"                                        # the header
open(p, "wb").write(b)
END
damaged e.bin 'part flipped'
ok 'part flipped: every row has a place' judge e.bin "t['fast']['fields']['cpu_aggregate']['nan'] >= 31"
ok 'part flipped: the header is that of the journal' judge e.bin "t['board'] == 'demo'"
i=0
while test $i -lt 12; do
    i=$((i + 1))
    copy flip$i.bin
    "$python" - flip$i.bin <<'END'
import random, sys
p = sys.argv[1] + ".part.side"
b = bytearray(open(p, "rb").read())
for _ in range(3):
    b[random.randrange(len(b))] ^= 1 << random.randrange(8)
open(p, "wb").write(b)
END
    damaged flip$i.bin "side flipped, $i"
done
copy f.bin
echo precious >f.bin
run nvmtop --recover f.bin
ok 'FILE is there: status 1' is "$status" 1
ok 'FILE is there: untouched' is "$(cat f.bin)" precious
ok 'FILE is there: so is the part' cmp f.bin.part base.bin.part
copy g.bin
run nvmtop --recover g.bin.part
ok 'named by its part' judge g.bin "t['counts']['fast'] > 10"
copy 'h ü.bin'
run nvmtop --recover "$scratch/h ü.bin"
ok 'blanks, umlauts, a whole path' judge 'h ü.bin' "t['counts']['fast'] > 10"
mkdir i.bin.part
run nvmtop --recover i.bin
ok 'a folder of that name' is "$status" 1
: >j.bin.part
run nvmtop --recover j.bin
ok 'nothing was recorded: status 1' is "$status" 1
ok 'nothing was recorded: said' says err 'nothing was recorded'
ok 'nothing was recorded: in one sentence' one_line err
run nvmtop --recover j.bin.part/k.bin
ok 'below what is no folder: status 1' is "$status" 1
ok 'below what is no folder: nobody wanted to record' says err 'cannot recover j.bin.part/k.bin: Not a directory'
run nvmtop --recover
ok '--recover needs a FILE' is "$status" 2
run nvmtop --record --recover k.bin
ok 'one thing at a time' is "$status" 2
done_testing
