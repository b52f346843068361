#!/bin/sh
# A shell lets a program have fewer files open than a board has sensors: nvmtop raises the limit as far as it may,
# and says what to do where that is too low.
. "$NVMTOP_SRC/tests/cli/lib.sh"
unset NVMTOP_BOARD JETSON_MODEL_NAME
agx=$roots/agx_orin-36
lacking='only 40 open files are allowed, and each sensor is one; raise the limit (ulimit -n)'

most=$(ulimit -Hn)
if test "$most" = unlimited || test "$most" -ge 400; then
    nvmtop boards --sysroot "$agx" >all
    (
        ulimit -Sn 24
        nvmtop boards --sysroot "$agx" >out 2>err
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

for verb in 'once --json' boards '--record few.nvmt' '--print 100x30'; do
	(
		ulimit -n 40
		# shellcheck disable=SC2086
		run nvmtop $verb --sysroot "$agx"
		exit $status
	)
	ok "$verb, fewer than the sensors need: status 1" is "$?" 1
	ok "$verb, fewer than the sensors need: what to do" says err "^nvmtop: $lacking"
	ok "$verb, fewer than the sensors need: said once" one_line err
done
ok 'fewer than the sensors need: nothing is recorded' test ! -e few.nvmt
done_testing
