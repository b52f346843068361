#!/bin/sh
# A shell lets a program have fewer files open than a board has sensors: nvmtop takes as
# many as it may have, and where those are too few says which signals that costs.
. "$NVMTOP_SRC/tests/cli/lib.sh"
unset NVMTOP_BOARD JETSON_MODEL_NAME
agx=$roots/agx_orin-36
lacking='only 40 open files are allowed; raise the limit (ulimit -n)'

most=$(ulimit -Hn)
if test "$most" = unlimited || test "$most" -ge 400; then
    nvmtop --boards --sysroot "$agx" >all
    (
        ulimit -Sn 24
        nvmtop --boards --sysroot "$agx" >out 2>err
    )
    ok 'a low limit that can be raised costs nothing' cmp all out
    (
        ulimit -Sn 99
        nvmtop --demo --record --duration 5 command.nvmt -- sh -c 'echo $(ulimit -Sn) $(ulimit -Hn)' >out 2>err
    )
    ok 'a command is started with what there was' is "$(cat out)" "99 $most"
else
    skip 'a low limit that can be raised' "the hard limit is only $most: ulimit -Hn 1024"
fi

few() (
    ulimit -n 40
    run nvmtop "$@"
    exit $status
)
# How many channels have that reason, according to --once --json.
cat >count.py <<'END'
import json, sys
print(sum(c.get("reason", "").startswith(sys.argv[1]) for c in json.load(open("out"))["channels"]))
END
few --once --json --sysroot "$agx"
ok 'fewer than the sensors need: a reading of the rest' is "$?" 0
lack=$("$python" count.py 'only 40 open files are allowed')
ok 'fewer than the sensors need: many are missing for it' test "$lack" -gt 10
ok 'fewer than the sensors need: --once says how many' says err "^nvmtop: $lack signals are missing: $lacking"
ok 'fewer than the sensors need: no reason is another' sh -c '! grep "reason.*Too many open files" out'
few --boards --sysroot "$agx"
ok '--boards: status 0' is "$?" 0
ok '--boards says how many' says out "Notice: [0-9]* signals are missing: $lacking"
ok '--boards says it of each' says out "VDD_GPU_SOC.voltage *$lacking"
few --record --duration 2.5 --split 1 --sysroot "$agx" few.nvmt
ok '--record: status 0' is "$?" 0
ok '--record says it' says err "^nvmtop: [0-9]* signals are missing: $lacking"
ok '--record says it once' is "$(grep -c 'are missing' err)" 1
ok '--record has descriptors for its next file' test -s few.2.nvmt
ok '--record: what is there is sampled' judge few.nvmt "t['counts']['fast'] > 100"
nvmtop --print 200x60 --view board --replay few.nvmt >out
ok 'the trace knows it, too' says out 'only 40 open files are allowed'
ok 'and each signal that lacks it' says out 'Tdiode'
few --print 100x30 --sysroot "$agx"
ok '--print says it' says err 'are missing: only 40'
done_testing
