#!/bin/sh
# CPU utilisation of this very machine against a spinner of known size, by every
# source that it grants.  The core does what the spinner takes, and what anybody
# else takes there: the mean has to lie between the two, give or take 3 points.
. "$NVMTOP_SRC/tests/cli/lib.sh"
measures

spin=${NVMTOP%/src/nvmtop}/tests/tools/spin
test -x "$spin" || {
    echo "1..0 # SKIP $spin was not built: make check builds it"
    exit 0
}
# The last core that this process may use.
core=$(taskset -pc $$ 2>/dev/null | sed 's/.*[:, -]//')
core=${core:-0}
$EMU "$spin" "$core" 0 4 0.1 >/dev/null 2>&1 || {
    echo "1..0 # SKIP may not run on core $core: run it where taskset may, with more processors"
    exit 0
}

board() { printf 'board cpu-%s\ntitle CPU\nfast cpu source=%s\nslow wave here = 1\n' "$1" "$1" >"$1.board"; }

# about PERCENT OWN CORE MEAN: 0 right, 1 wrong, 2 too much else was going on to tell.
# Waking an idle core costs time that /proc/stat does not see, most of all in a virtual
# machine: what the source showed for an idle core is allowed on top, up to 10 points.
about() {
    awk -v want="$1" -v own="$2" -v core="$3" -v mean="$4" -v idle="$5" 'BEGIN {
        if (mean >= own - 3 && mean <= core + (want == 0 ? 10 : 3 + idle)) exit 0
        exit (core - own > 10 || want - own > 10) ? 2 : 1
    }'
}
cat >mean.py <<'END'
"""mean.py CHANNEL FROM TO SOURCE...: the mean between the two times, in ns, that each of SOURCE.nvmt has"""
import os
import sys
from importlib.machinery import SourceFileLoader

log = type(sys)("nvmt_log")
SourceFileLoader("nvmt_log", os.path.join(os.environ["NVMTOP_SRC"], "tests/tools/nvmt-log.py")).exec_module(log)
for source in sys.argv[4:]:
    with open(source + ".nvmt", "rb") as f:
        r = log.Recording(f.read())
    number, = (n for n, c in r.channels.items() if c["name"] == sys.argv[1])
    v = [x for _, times, columns, _ in r.rows[0] for t, x in zip(times, columns[number])
         if int(sys.argv[2]) < t <= int(sys.argv[3]) and x == x]
    assert r.end and not r.problems and len(v) > 100, (r.problems, len(v))
    print(source, sum(v) / len(v))
END

# measure PERCENT PERIOD_MS: all sources beside one spinner, and why.SOURCE and verdict.SOURCE of each; three tries, and
# a busy machine is no failure
measure() {
    left=$sources
    for source in $left; do
        : >why.$source
        echo 1 >verdict.$source
    done
    for try in 1 2 3; do
        pids=
        for source in $left; do
            rm -f $source.nvmt
            $EMU "$NVMTOP" --record --board ./$source.board --ready-fd 9 $source.nvmt 2>>why.$source 9>ready &
            pids="$pids $!"
            # the recorder before may still hold the pipe open, and end it
            until read -r _ <ready; do :; done
        done
        $EMU "$spin" "$core" "$1" "$2" 1 >said 2>&1
        read -r own busy from to <said
        kill -TERM $pids
        wait $pids
        "$python" mean.py "cpu$core.util" "$from" "$to" $left >means 2>&1 || {
            for source in $left; do cat said means >>why.$source; done
            return
        }
        again=
        while read -r source mean; do
            about "$1" "$own" "$busy" "$mean" "$(cat idle.$source)"
            verdict=$?
            echo $verdict >verdict.$source
            test $verdict != 0 -o "$1" != 0 || echo "$mean" >idle.$source
            test $verdict = 0 || again="$again $source"
            echo "try $try: spinner and core $own $busy, mean $mean" >>why.$source
        done <means
        left=$again
        test -n "$left" || return
    done
}

sources=
mkfifo ready
for source in perf cpuidle stat; do
    board $source
    nvmtop boards --board "./$source.board" >out 2>err
    if grep -q "source=$source;" out; then
        why=$(sed -n "s/.*source=$source; *//p" out)
        skip "$source" "it takes a machine that has this source: $why"
        continue
    fi
    ok "$source is named" grep -q 'cpu.util .*(.*)' out
    echo 0 >idle.$source
    sources="$sources $source"
done
# none and all of a period is the same in each
for of in 4:0 4:25 4:50 4:75 4:100 50:25 50:50 50:75; do
    period=${of%:*} percent=${of#*:}
    measure $percent $period
    for source in $sources; do
        case $(cat verdict.$source) in
        0) ok "$source: $percent percent of $period ms" true ;;
        2) skip "$source: $percent percent of $period ms" "busy machine, run it while nothing else runs: $(tail -n 1 why.$source)" ;;
        *) ok "$source: $percent percent of $period ms" sh -c "cat why.$source; exit 1" ;;
        esac
    done
done

# Many context switches: each is read, so that the core is known to be busy.
if test -f perf.board && nvmtop boards --board ./perf.board | grep -q 'cpu.util .*perf: mean'; then
    run nvmtop --record --board ./perf.board storm.bin -- $EMU "$spin" storm "$core" 3
    rate=$(cat out)
    if test "${rate:-0}" -gt 150000; then
        ok "a storm of switches: cpu$core is busy" judge storm.bin "t['fast']['fields']['cpu$core']['mean'] > 90"
    else
        skip 'a storm of switches' "only $rate a second: it takes a faster machine, or one where nothing else runs"
    fi
else
    skip 'a storm of switches' 'no perf here: run it as root, or with kernel.perf_event_paranoid at 0'
fi

# A core that goes and comes back.  Others on this machine would feel it: only
# when it is asked for.
online=/sys/devices/system/cpu/cpu$core/online
if test -n "${NVMTOP_TEST_HOTPLUG:-}" && test -w "$online"; then
    for source in perf cpuidle stat; do
        test -f $source.board || continue
        run nvmtop --record --board ./$source.board $source-off.bin -- sh -c \
            "sleep 1; echo 0 >$online; sleep 1; echo 1 >$online; sleep 2"
        test "$status" = 0 || { skip "$source: a core goes and comes back" "$(cat err)"; continue; }
        ok "$source: a core that is offline has no value" judge $source-off.bin \
            "900 <= t['fast']['fields']['cpu$core']['nan'] <= 1600"
    done
else
    skip 'a core goes and comes back' 'run it as root with NVMTOP_TEST_HOTPLUG=1: it takes a core from the whole machine'
fi
done_testing
