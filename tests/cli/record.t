#!/bin/sh
# Recordings, judged by a reader that was written from the format alone.
. "$NVMTOP_SRC/tests/cli/lib.sh"

# A core that is busy the whole time is recorded with a mean of 100 percent.
core=$(taskset -pc $$ 2>/dev/null | sed 's/.*[: ]//; s/[,-].*//')
core=${core:-0}
taskset -c "$core" sh -c 'while :; do :; done' &
busy=$!
sleep 0.3
run nvmtop --record --duration 3 busy.nvmt
kill $busy
ok 'three seconds of this machine' is "$status" 0
ok 'a summary' says err 'busy.nvmt'
ok 'nothing on standard output' test ! -s out
# Ticks that a busy machine was late for are not made up but counted.
late=$(sed -n 's/.*; \([0-9]*\) late.*/\1/p' err)
ok '3000 fast samples within 1 percent' judge busy.nvmt "2970 - ${late:-0} <= t['counts']['fast'] <= 3030"
ok 'times increase' judge busy.nvmt "t['fast']['increasing'] and t['medium']['increasing'] and t['slow']['increasing']"
ok 'the busy core has a mean above 97' judge busy.nvmt "t['fast']['fields']['cpu$core.util']['mean'] > 97"

run nvmtop --record --sysroot "$roots/agx_orin-36" --duration 1 -o orin.nvmt
ok 'a board that was sent in' is "$status" 0
ok 'its name' judge orin.nvmt "t['board'] == 'agx_orin'"
ok 'four rails with their names' judge orin.nvmt "{n[:-6] for n in t['medium']['fields'] if n.endswith('.power')} >= {'VDD_GPU_SOC', 'VDD_CPU_CV', 'VIN_SYS_5V0', 'VDDQ_VDD2_1V8AO'}"
ok 'eleven zones' judge orin.nvmt "sum(n.startswith('temp.') for n in t['slow']['fields']) == 11 + 1"
ok 'the powered-down ones are NaN' judge orin.nvmt "all((f['nan'] == t['counts']['slow']) == (n in ('temp.gpu', 'temp.cv0', 'temp.cv1', 'temp.cv2')) for n, f in t['slow']['fields'].items() if n.startswith('temp.'))"
ok 'twelve cores' judge orin.nvmt "sum(n.startswith('cpu') and n.endswith('.util') and n != 'cpu.util' for n in t['fast']['fields']) == 12"

# A name that ends in .bin: a log, and at its end version 1 of it, for the programs that read nothing else.
rm orin.nvmt
run nvmtop --record --sysroot "$roots/agx_orin-36" --duration 1 -o orin.bin
ok 'version 1: status 0' is "$status" 0
ok 'version 1: and the log' is "$(echo orin.*)" 'orin.bin orin.nvmt'
ok 'version 1: the summary names both' says err 'recorded .* to orin.nvmt and orin.bin ('
ok 'version 1: the board' judge orin.bin "t['board'] == 'agx_orin' and t['cores'] == 12"
ok 'version 1: four rails with their names' judge orin.bin "t['rail_names'] == ['VDD_GPU_SOC', 'VDD_CPU_CV', 'VIN_SYS_5V0', 'VDDQ_VDD2_1V8AO']"
ok 'version 1: the powered-down zones are NaN' judge orin.bin "len(t['zone_names']) == 11 and all((t['slow']['fields'][name]['nan'] == t['counts']['slow']) == (name in ('gpu-thermal', 'cv0-thermal', 'cv1-thermal', 'cv2-thermal')) for name in t['zone_names'])"
ok 'version 1: nothing behind its last sync point' judge orin.bin "t['trailing_bytes'] == 0"
ok 'version 1: all rows of the log, and no others' judge orin.nvmt "t['counts'] == $(tell "t['counts']" orin.bin) and t['end']"
# A board's total and its hottest zone are those of the board file, also in a file that has neither.
ok 'version 1: the total of its board' is "$(nvmtop report --format json orin.bin | "$python" -c '
import json, sys
t = json.load(sys.stdin)["traces"][0]["phases"][-1]["signals"]
s = {x["name"]: x for x in t} if isinstance(t, list) else t
print(abs(s["power.total"]["mean"] - sum(s[r + ".power"]["mean"] for r in ("VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"))) < 1, "temp.hottest" in s)')" 'True True'

for file in orin.bin orin.nvmt; do
    mkdir -p alone
    cp $file alone/
    run sh -c 'cd alone && exec $EMU "$0" --record --demo --duration 0.2 -o orin.bin' "$NVMTOP"
    ok "version 1: where $file exists: refused" is "$status" 1
    ok "version 1: where $file exists: said" says err "$file already exists: choose another name, or use --force"
    ok "version 1: where $file exists: nothing else is made" is "$(ls alone)" $file
    rm -r alone
done

run nvmtop --record --demo --duration 0.2 --force -o orin.bin
ok 'version 1: --force replaces both' is "$status" 0

# Killed: the log is there, and the next command on FILE.bin says what makes it.
record_begin killed.bin
long_enough() { test "$(wc -c <killed.nvmt)" -gt 60000; }
soon long_enough
kill -KILL $pid
wait $pid 2>/dev/null
ok 'SIGKILL: the log is there' is "$(echo killed.*)" killed.nvmt
for verb in report check 'export csv' '--print 80x24 --replay' 'cut --to 1 -o x.nvmt'; do
    run nvmtop $verb killed.bin
    ok "SIGKILL: $verb: status 1" is "$status" 1
    ok "SIGKILL: $verb: said" says err 'nvmtop export nvmt1 killed.nvmt -o killed.bin makes it'
done
run nvmtop export nvmt1 killed.nvmt -o killed.bin
ok 'SIGKILL: it does' nvmtop check killed.bin

run nvmtop --demo --record --duration 1 demo.nvmt
cp err demo.err
ok 'the demo is recorded' is "$status" 0
ok 'and says that it is one' judge demo.nvmt "t['board'] == 'demo'"
ok 'rates by option' sh -c '"$0" "$@"' $EMU "$NVMTOP" --demo --record --duration 1 --fast-hz 200 --medium-hz 50 --slow-hz 5 -o rates.nvmt
ok 'are in the header' judge rates.nvmt "t['hz'] == {'fast': 200, 'medium': 50, 'slow': 5}"
# Never more than these; fewer where the machine was late.
ok 'and kept' judge rates.nvmt "0 < t['counts']['fast'] <= 210 and 0 < t['counts']['medium'] <= 55 and 0 < t['counts']['slow'] <= 8"

run nvmtop --demo --record --duration 0.2
ok 'without a name: one with the time in it' sh -c 'ls nvmtop-[0-9]*-[0-9]*.nvmt'
mkdir short
for i in 1 2 3 4; do (cd short && nvmtop --demo --record -- true) >out 2>err || cat err; done
ok 'four in one second: four files' is "$(ls short | wc -l)" 4
run nvmtop --demo --record --delay 0.3 --duration 0.2 "name with blanks ü.nvmt"
ok 'a name with blanks and umlauts' test -s "name with blanks ü.nvmt"
run nvmtop --demo --record --duration 0.2 ./-dash.nvmt
ok 'a name that begins with a dash' test -s ./-dash.nvmt

# ---- the summary, and how sampling is scheduled
run nvmtop --demo --record --duration 0.2 --nice 19 nice.nvmt
ok 'a niceness' is "$status" 0
ok 'is told' says err 'niceness 19'
reading_is_nice() {
    "$python" - "$@" <<'END'
import os, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
found, wanted = {}, {"nvmtop-sampler": "7", "nvmtop-files": "7"}
for _ in range(600):
    for task in os.listdir(f"/proc/{p.pid}/task"):
        try:
            with open(f"/proc/{p.pid}/task/{task}/stat") as f:
                name, rest = f.read().split("(", 1)[1].rsplit(") ", 1)
            found[name] = rest.split()[16]
        except OSError:
            pass
    if {n: found.get(n) for n in wanted} == wanted:
        break
    time.sleep(0.05)
p.terminate()
p.wait()
print("#", found)
sys.exit({n: found.get(n) for n in wanted} != wanted)
END
}
ok 'who reads for the sampling thread has it, too' reading_is_nice $EMU "$NVMTOP" --sysroot "$roots/agx_orin-36" --record --nice 7 nicer.nvmt
cp demo.err err # a niceness of 19 may get nothing of a busy machine
for title in samples lateness power hottest throttling marks nvmtop; do
    ok "the summary has $title" says err "^  $title:"
done
ok 'power is measured' says err 'mean [0-9.]* W, maximum [0-9.]* W, energy [0-9.]* J'
ok 'and the hottest zone' says err 'hottest: .* [0-9.]* C$'
run nvmtop --record --sysroot "$roots/pc" --duration 0.2 few.nvmt
ok 'what cannot be measured says so' says err 'not measured$'
ok 'less than a second is told, too' says err 'recorded [0-9.]* s to few.nvmt'
ok 'own cost, late ticks and lost rows are in the trace' judge nice.nvmt "{'nvmtop.cpu', 'nvmtop.late', 'nvmtop.lost'} <= set(t['slow']['fields'])"
if test "$(id -u)" = 0 && setpriv --bounding-set=-sys_nice true 2>/dev/null; then
    run setpriv --bounding-set=-sys_nice $EMU "$NVMTOP" --demo --record --duration 0.2 normal.nvmt
    ok 'without SCHED_FIFO: recorded all the same' is "$status" 0
    ok 'and said at the start' sh -c 'sed 1q err | grep -q "not real time"'
    ok 'and in the summary' says err '^  nvmtop: .*not real time'
    run setpriv --bounding-set=-sys_nice nice -n 39 $EMU "$NVMTOP" --record --nice -5 refused.nvmt
    ok 'a niceness that is not permitted: status 1' is "$status" 1
    ok 'in one sentence' one_line err
else
    skip 'without SCHED_FIFO' 'it takes root and setpriv to give the right away: run it as root'
fi
# The kinds of threads that docs/architecture.md has, and no others.
threads() {
    sed -E 's/^nvmtop-(files|gpu|emc|rails|nvml|firmware|i2c-[0-9]+)$/reader/' /proc/$pid/task/*/comm | sort -u | tr '\n' ' '
}
seven() { is "$(threads)" 'nvmtop nvmtop-disk nvmtop-engine nvmtop-job nvmtop-lookout nvmtop-sampler reader '; }
if test -z "${EMU:-}"; then
    "$NVMTOP" --record --sysroot "$roots/agx_orin-36" threads.nvmt 2>err &
    pid=$!
    ok 'a recorder has seven kinds of threads' soon seven
    # What reads values is in real time if that is permitted, below the sampler.
    "$python" - $pid >priorities <<'END'
import os, sys
for t in os.listdir(f"/proc/{sys.argv[1]}/task"):
    print(open(f"/proc/{sys.argv[1]}/task/{t}/comm").read().strip(), os.sched_getparam(int(t)).sched_priority)
END
    kill $pid
    wait $pid
    case $(grep sampler priorities) in
    *20) ok 'readers are in real time, below the sampler' grep -qx 'nvmtop-files 1' priorities ;;
    *) skip 'readers are in real time, below the sampler' 'SCHED_FIFO is not permitted: run it as root' ;;
    esac
else
    skip 'a recorder has seven kinds of threads' 'an emulator has threads of its own'
    skip 'readers are in real time, below the sampler' 'an emulator has threads of its own'
fi
# The joules that were counted rise by what the power adds up to, also in what was before the recording began.
joules() {
    nvmtop report --format json "$1" >out 2>err &&
        "$python" - "$1" <<'END'
import json, sys
t = json.load(open("out"))["traces"][0]["whole"]
c = next(s for s in t["signals"] if s["name"] == "energy.total")
print(c["rise"], t["energy_j"])
sys.exit(0 if abs(c["rise"] - t["energy_j"]) < 0.03 * t["energy_j"] else 1)
END
}
nvmtop --demo --record --delay 1 --duration 2 joules.nvmt 2>err
ok 'the joules that were counted are those of the power' joules joules.nvmt
nvmtop --demo --record --keep 1 --duration 3 --trigger 'cpu >= 0 for 2s' held.nvmt 2>err
ok 'and those of a stretch that was held' joules held.nvmt
nvmtop --record --sysroot "$roots/agx_orin-36" --duration 0.5 -o counted.nvmt 2>err
nvmtop export jsonl counted.nvmt | grep -o '"energy.total":[0-9][0-9.e+-]*' | head -n 1 >first
ok 'which are counted from its first row' is "$(cat first)" '"energy.total":0'
done_testing
