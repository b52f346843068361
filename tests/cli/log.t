#!/bin/sh
# A recording whose name ends in .nvmt is a log: every command reads it, and what is left of
# one after a crash, too.
. "$NVMTOP_SRC/tests/cli/lib.sh"
reader="$python $NVMTOP_SRC/tests/tools/nvmt-log.py"

run nvmtop --demo --record a.nvmt --duration 2 -- sh -c "sleep 0.5; $NVMTOP mark one; sleep 0.5; $NVMTOP mark two; sleep 0.7"
ok 'it is recorded' is "$status" 0
ok 'as a log' is "$(head -c 4 a.nvmt | tail -c 3 | tr -d '\n')" NV
ok 'and nothing else is left' is "$(echo a.nvmt*)" a.nvmt
# shellcheck disable=SC2086
$reader a.nvmt >a.json
ok 'an independent reader finds the rows' test "$(wc -l <a.json)" -gt 1000
nvmtop export jsonl a.nvmt >a.jsonl
ok 'both marks are there' is "$(grep -c '"row":"mark"' a.jsonl)" 2
ok 'a report has three phases' is "$(nvmtop report --summary a.nvmt | grep -c '^[012] ')" 3
ok 'the screen shows it' sh -c "$EMU $NVMTOP --print 100x30 --replay a.nvmt --view power | grep -q 'VDD_GPU_SOC'"

run nvmtop --demo --record a.nvmt --duration 1
ok 'it is not overwritten' is "$status" 1

run nvmtop --demo --record ./s.nvmt --split 1 --duration 2.5
ok 'in several files' is "$(ls s*.nvmt | tr '\n' ' ')" 's.2.nvmt s.3.nvmt s.nvmt '
previous() { $reader "$1" | grep -o '"previous": "[^"]*"' | cut -d '"' -f 4; }
ok 'each names the one before' is "$(previous s.nvmt) $(previous s.2.nvmt) $(previous s.3.nvmt)" ' s.nvmt s.2.nvmt'
rows() { nvmtop export jsonl "$1" | grep -c '"row":"fast"'; }
sum=$(($(rows s.nvmt) + $(rows s.2.nvmt) + $(rows s.3.nvmt)))
ok 'with each row once' says err "samples: *$sum fast"

for f in s.nvmt s.2.nvmt s.3.nvmt; do
    run nvmtop check $f
    ok "each is valid: $f" is "$status" 0
done

# Logs of one session, one behind the other, are one log.
cat s.nvmt s.2.nvmt s.3.nvmt >cat.nvmt
run nvmtop check cat.nvmt
ok 'logs behind each other: valid' is "$status" 0
for f in a s s.2; do
    run "$python" "$NVMTOP_SRC/tests/tools/nvmt-log-check.py" $f.nvmt
    ok "bins, statistics and lists are those of the rows: $f.nvmt" says out '^0 wrong, 0 problems'
done

# Of another session: said, and not lost.
cat s.nvmt a.nvmt >two.nvmt
run nvmtop report --summary two.nvmt
ok 'another recording behind it: reported' is "$status" 3
ok 'in a sentence' says err "another recording follows, the last $(wc -c <a.nvmt) bytes"

# A crash loses the last cell and nothing else.
$EMU "$NVMTOP" --demo --record k.nvmt 2>err &
killed=$!
large() { test "$(wc -c <k.nvmt)" -gt 60000; }
ok 'it grows' soon large
kill -KILL $killed
wait $killed 2>/dev/null
run nvmtop report --summary k.nvmt
ok 'what a killed recorder leaves is read' is "$status" 0
ok 'and has a phase' says out '^0  '

# Damage costs the chunk that it is in: here rows. Bins can be made again, and an INDEX repeats marks and gaps.
known() { nvmtop export jsonl "$1" 2>/dev/null | grep '"row":"fast"' | grep -vc '"gpu.util":null'; }
all=$(known a.nvmt)
cp a.nvmt d.nvmt
at=$($python -c '
import struct
log, at = open("a.nvmt", "rb").read(), 0
while log[at + 4] != 2: at += 48 + struct.unpack_from("<I", log, at + 24)[0]
print(at + 52)')
printf 'XXXX' | dd of=d.nvmt bs=1 seek="$at" conv=notrunc 2>/dev/null
run nvmtop export jsonl d.nvmt
ok 'damage is reported' is "$status" 3
left=$(known d.nvmt)
ok 'and costs a cell at most' test "$left" -le "$all" -a "$left" -gt $((all - 400))
done_testing
