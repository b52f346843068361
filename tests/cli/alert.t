#!/bin/sh
# Alerts: when a command is run, what it is told, and that none can hold up or end a recording.
. "$NVMTOP_SRC/tests/cli/lib.sh"
cp -R "$roots/agx_orin-36" tree && chmod -R u+w tree
zone=$(grep -lx 'tj-thermal' tree/sys/class/thermal/thermal_zone*/type | head -n 1)
zone=${zone%/type}
heat() { echo "$1" >"$zone/temp"; }
# command NAME: a script of this standard input
command() { { echo '#!/bin/sh'; cat; } >"$1" && chmod +x "$1"; }
# begin OPTION... FILE: $pid is a recorder of the tree that has begun, or has failed
begin() {
    test -p ready || mkfifo ready
    heat 40000
    $EMU "$NVMTOP" record --sysroot tree --ready-fd 9 "$@" 2>err 9>ready &
    pid=$!
    read -r _ <ready
}
end() {
    kill -TERM $pid
    wait $pid
    status=$?
}
# Status 0; a busy machine may lose rows, which is another status.
sound() { test "$status" = 0 || { test "$status" = 1 && says err 'rows* w[a-z]* lost'; }; }
lines() { is "$(cat "$1" 2>/dev/null | wc -l)" "$2"; }
# The processes whose numbers are in these files: they may be zombies, where no init reaps them.
ended() { ! cat "$@" | sed 's|.*|/proc/&/status|' | xargs grep -s '^State:[[:space:]]*[RSD]'; }
no_zombie() { ! grep -ls "^PPid:[[:space:]]*$pid\$" /proc/[0-9]*/status | xargs grep -ls '^State:[[:space:]]*Z'; }

for name in hot hotter cold never; do
    command $name <<'END'
env | sed -n 's/^NVMTOP_\([A-Z]*=\)/\1/p' | sort >${0#./}.vars
readlink /proc/self/fd/0 >descriptors
ls -l /proc/self/fd >>descriptors
grep -E '^Sig(Blk|Ign):' /proc/self/status >signals
cut -d ' ' -f 6 </proc/$$/stat >session
echo $$ >>${0#./}.runs
END
done
export NVMTOP_VALUE=of-before
begin --every 1h --on 'temp.tj > 90 or gpu > 200' ./hot --on 'temp.tj < 20' ./cold --on 'gpu >= 0 for 1h or temp.tj > 95' ./hotter \
    --on 'temp.tj > 900' ./never run.nvmt
heat 91500
ok 'a condition becomes true: its command runs' soon test -s hot.runs
heat 10000
ok 'each condition has its own' soon test -s cold.runs
# Commands are started in the order of the options, and this one comes after the first.
heat 96250
ok 'and becomes true' soon test -s hotter.runs
heat 10000
ok 'commands that have ended are reaped' soon no_zombie
end
ok 'the recording is sound' sound
ok 'within --every a condition that becomes true again has no other alert' lines hot.runs 1
ok 'one that never holds has none' test ! -e never.runs
ok 'how many there were' says err '^nvmtop: alert "temp.tj > 90 or gpu > 200": sent 1 time$'
ok 'or none' says err '^nvmtop: alert "temp.tj > 900": sent 0 times$'
ok 'the value' says hot.vars '^VALUE=91.5$'
ok 'once, also if there was one before' is "$(grep -c '^VALUE=' hot.vars)" 1
ok 'the signal' says hot.vars '^SIGNAL=temp.tj$'
ok 'the unit' says hot.vars '^UNIT=C$'
ok 'the condition' says hot.vars '^CONDITION=temp.tj > 90 or gpu > 200$'
ok 'the sentence' says hot.vars '^ALERT=temp.tj is 91.5 C, gpu.util is [0-9.]* % (temp.tj > 90 or gpu > 200)$'
ok 'all of it in JSON' "$python" -c 'import calendar, json, time
v = dict(line.rstrip("\n").split("=", 1) for line in open("hot.vars"))
j = json.loads(v["JSON"])
assert j["alert"] == v["ALERT"] and j["condition"] == v["CONDITION"], j
assert j["values"]["temp.tj"] == 91.5 and set(j["values"]) == {"temp.tj", "gpu.util"}, j
assert int(j["time"]) == calendar.timegm(time.strptime(v["TIME"], "%Y-%m-%dT%H:%M:%SZ")), j
assert 0 <= time.time() - j["time"] < 600, j'
ok 'another command has those of the comparison that is true' says hotter.vars '^VALUE=96.25$'
ok 'standard input is empty' is "$(head -n 1 descriptors)" /dev/null
ok 'no descriptor of nvmtop' sh -c '! grep -E "socket:|anon_inode:|[.]nvmt" descriptors'
ok 'no blocked signal, none ignored but by the C library' is "$(sed 's/.*\(.\{8\}\)$/\1/; s/^8/0/' signals | sort -u)" 00000000
ok 'a session of its own, which no key of the terminal reaches' is "$(cat session)" "$(tail -n 1 hotter.runs)"
run nvmtop export jsonl run.nvmt
ok 'each alert is a mark with its condition' is \
    "$(sed -n 's/.*"row":"mark".*"label":"\([^"]*\)".*/\1/p' out | tr '\n' ';')" 'temp.tj > 90 or gpu > 200;temp.tj < 20;gpu >= 0 for 1h or temp.tj > 95;'
run nvmtop report run.nvmt
ok 'which a report shows' says out '^1 temp.tj > 90 or gpu > 200 '

# Again after --every, and with a trigger.
rm -f hot.runs
begin --keep 1 --trigger 'temp.tj > 90' --every 1 --on 'temp.tj > 90' ./hot both.nvmt
again() {
    heat 40000
    sleep 0.3
    heat 91000
    sleep 0.3
    test "$(wc -l <hot.runs)" -ge 2
}
ok 'after --every there is another alert' soon again
ok 'and the trigger writes its file' soon test -s both.nvmt
end
ok 'with --keep: status 0' sound

# The sensor fails, and there were two seconds without it.
gone() { test "$(nvmtop stream "$1" --select temp.tj 2>&1 | grep -c '"temp.tj":null')" -ge 3; }
begin --on 'temp.tj > 90' ./hot gone.nvmt
: >"$zone/temp"
ok 'a sensor fails' soon gone gone.nvmt
end
ok 'a condition without a value: it is said at the end' says err '^nvmtop: alert "temp.tj > 90": temp.tj had no value'
ok 'and there was no alert' says err '^nvmtop: alert "temp.tj > 90": sent 0 times$'

# What fails, hangs, floods or is no program.
command fails <<'END'
echo "first" ; echo "no such host" >&2; echo; exit 7
END
command dies <<'END'
kill -KILL $$
END
command floods <<'END'
echo $$ >>floods.runs; exec yes
END
command hangs <<'END'
trap "" TERM; echo $$ >>hangs.runs; sleep 10000 & echo $! >hangs.child; wait; sleep 10000
END
printf '#!/no/such/shell\n' >gone && chmod +x gone
printf 'echo >shell-was-here\n' >text && chmod +x text
begin --every 1 --on 'temp.tj > 90' ./fails --on 'temp.tj > 90' ./dies --on 'temp.tj > 90' ./floods --on 'temp.tj > 90' ./gone \
    --on 'temp.tj > 90' ./text --on 'temp.tj > 90' ./hangs bad.nvmt
hangs() { heat 40000; sleep 0.3; heat 91000; sleep 0.3; says err 'still runs'; }
ok 'one that hangs is not started again' soon hangs
flooded() { says err 'printed more than 64 KiB' && ! kill -0 "$(head -n 1 floods.runs)" 2>/dev/null; }
ok 'one that floods does not go on' soon flooded
ok 'the recorder runs' kill -0 $pid
ok 'nothing is left of the others' soon no_zombie
before=$(wc -c <bad.nvmt)
grown() { test "$(wc -c <bad.nvmt)" -gt "$before"; }
ok 'and records' soon grown
end
once() { is "$(grep -c "$1" err)" 1; }
ok 'their status is not that of the recording' sound
ok 'a status: once, with the last line' once '^nvmtop: alert "temp.tj > 90": ./fails failed with status 7: no such host$'
ok 'a signal: once' once '^nvmtop: alert "temp.tj > 90": ./dies was ended by signal 9$'
ok 'a flood: once' once '^nvmtop: alert "temp.tj > 90": ./floods printed more than 64 KiB'
ok 'no interpreter: once' once '^nvmtop: alert "temp.tj > 90": cannot run ./gone: No such file or directory$'
ok 'no program: once' once '^nvmtop: alert "temp.tj > 90": cannot run ./text: Exec format error$'
ok 'no shell ran it instead' test ! -e shell-was-here
ok 'a hang: once' once '^nvmtop: alert "temp.tj > 90": its command still runs after'
ok 'at the end it was stopped' once '^nvmtop: alert "temp.tj > 90": ./hangs still ran at the end and was stopped$'
ok 'there was one of it' lines hangs.runs 1
ok 'it is gone, with its children' soon ended hangs.runs hangs.child
ok 'the recording is complete' judge bad.nvmt "t['end'] and not t['errors']"

# A file system that does not answer when the command is started.
slowfs=$(dirname "$NVMTOP")/../tests/tools/slowfs
mkdir -p disk/from disk/to
cp hot disk/from/hot
: >rules
mounted() { test -e disk/to/.rules || ! kill -0 $server 2>/dev/null; }
if test -x "$slowfs" && test -z "$EMU"; then
    "$slowfs" disk/from rules disk/to 2>/dev/null &
    server=$!
    soon mounted
fi
if test -e disk/to/.rules; then
    echo '/* whole' >disk/to/.rules
    rm -f hot.runs
    begin --on 'temp.tj > 90' disk/to/hot --on 'temp.tj > 90' ./hot slow.nvmt
    echo '/hot open:hang' >disk/to/.rules
    heat 91500
    ok 'a file system that hangs: another alert is sent' soon test -s hot.runs
    end
    ok 'a file system that hangs: the end comes' sound
    ok 'a file system that hangs: it is said' says err '^nvmtop: alert "temp.tj > 90": the file system of its command does not answer$'
    ok 'a file system that hangs: the recording is complete' judge slow.nvmt "t['end'] and not t['errors']"
    echo '/hot clear' >disk/to/.rules
    kill $server
    wait $server
else
    skip 'a file system that hangs' 'built without libfuse 3, or it cannot be mounted here: root can'
fi

# The same of a server; one that hangs does not keep it from answering.
rm -f hot.runs hangs.runs
heat 40000
$EMU "$NVMTOP" serve --sysroot tree --listen 127.0.0.1:0 --socket ./serve.socket --ready-fd 9 --every 1h --on 'temp.tj > 90' ./hangs \
    --on 'temp.tj > 90' ./fails --on 'temp.tj > 90' ./hot >out 2>err 9>ready &
pid=$!
read -r _ <ready
if kill -0 $pid 2>/dev/null; then
    heat 91500
    ok 'serve: a condition becomes true' soon test -s hot.runs
    ok 'serve: the value' says hot.vars '^VALUE=91.5$'
    ok 'serve: no descriptor of nvmtop' sh -c '! grep -E "socket:|anon_inode:" descriptors'
    ok 'serve: one that fails is said while it serves' soon says err '^nvmtop: alert "temp.tj > 90": ./fails failed with status 7: no such host$'
    ok 'serve: one hangs' soon test -s hangs.runs
    url=$(sed -n 's|.*\(http://[^ ]*\)/ .*|\1/metrics|p' out)
    ok 'serve: and there are answers' "$python" -c 'import sys, urllib.request
assert "# EOF" in urllib.request.urlopen(sys.argv[1]).read().decode()' "$url"
    end
    ok 'serve: status 0' is "$status" 0
    ok 'serve: how many there were' says err '^nvmtop: alert "temp.tj > 90": sent 1 time$'
    ok 'serve: what hangs was stopped' soon ended hangs.runs
    run nvmtop serve --every 5
    ok 'serve: --every alone' says err '^nvmtop: --every needs --on$'
else
    wait $pid
    skip 'serve' "it does not run here: $(head -n 1 err)"
fi

refused() {
    wrong=$1
    expected=$2
    shift 2
    run nvmtop record --sysroot tree "$@" x.nvmt
    ok "$wrong: status 2" is "$status" 2
    ok "$wrong: what is wrong" says err "$expected"
    ok "$wrong: nothing was recorded" test ! -e x.nvmt
}
# same CONDITION: the words of --trigger
same() {
    run nvmtop record --sysroot tree --keep 1 --trigger "$1" x.nvmt
    sed 's/--trigger/--on/' err >err.trigger
    run nvmtop record --sysroot tree --on "$1" ./hot x.nvmt
    ok "\"$1\": the error of --trigger" test "$status:$(cat err)" = "2:$(cat err.trigger)"
}
heat 40000
same 'gpu >'
same 'gpx > 1'
same 'power > 1'
same 'temp.nowhere > 1 for ever'
refused 'no command' '^nvmtop: --on needs two values: CONDITION COMMAND$' --on 'gpu > 5' --gentle
refused 'no condition' '^nvmtop: "--on" needs a value$' --on --gentle
refused '--every alone' '^nvmtop: --every needs --on$' --every 5
refused 'too often' '"0.1" is not a valid value for --every: it takes a time of at least 1s' --on 'gpu > 5' ./hot --every 0.1
refused 'no such program' 'cannot run "./nothere", which is one program without arguments: No such file' --on 'gpu > 5' ./nothere
refused 'the words of a shell' 'cannot run "./hot; touch x.nvmt"' --on 'gpu > 5' './hot; touch x.nvmt'
refused 'arguments' 'cannot run "./hot now"' --on 'gpu > 5' './hot now'
set -- --on 'gpu > 5' ./hot --on 'gpu > 5' ./hot --on 'gpu > 5' ./hot --on 'gpu > 5' ./hot
refused 'too many' '^nvmtop: --on can be given at most 16 times$' "$@" "$@" "$@" "$@" --on 'gpu > 5' ./hot
run nvmtop --demo --on 'gpu > 5' ./hot --print 80x24
ok 'not on the screen' says err '^nvmtop: --on is not an option of the screen, but of nvmtop record'
done_testing
