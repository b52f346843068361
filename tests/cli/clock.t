#!/bin/sh
# A wall clock that is set while a recording runs: a board without a battery begins in 1970.
. "$NVMTOP_SRC/tests/cli/lib.sh"

cat >clock.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
/* The wall clock is wrong by WRONG seconds, until there is a file "set", then by THEN seconds. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = ((int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime"))(clock, t);

	if (clock == CLOCK_REALTIME)
		t->tv_sec += atoll(getenv(access("set", F_OK) ? "WRONG" : "THEN"));
	return r;
}
END
wrong=-$(($(date +%s) - 3600)) # an hour after the beginning of 1970
if test -n "$EMU" || ! ${CC:-cc} -shared -fPIC -o clock.so clock.c -ldl 2>/dev/null ||
    ! WRONG=$wrong THEN=0 LD_PRELOAD=$scratch/clock.so "$NVMTOP" --version >/dev/null 2>why || test -s why; then
    echo '1..0 # SKIP the clock cannot be replaced here: needs a compiler, and no emulator or sanitizer'
    exit 0
fi
# recording FILE WRONG [THEN]: the clock is set after its begin, if THEN is given
recording() {
    rm -f set
    (
        WRONG=$2 THEN=${3-0} LD_PRELOAD=$scratch/clock.so
        export WRONG THEN LD_PRELOAD
        record_begin "$1"
        unset LD_PRELOAD
        test $# -lt 3 || : >set
        soon judge "$1" "t['counts']['fast'] > 100"
        kill -TERM $pid
        wait $pid
    )
    ok "$1: status 0" is $? 0
    ok "$1: sound" nvmtop check "$1"
    run nvmtop report --summary "$1"
}
today=$(date +%Y-%m-%d)
recording set.nvmt "$wrong" 0
ok 'a clock that is set: the date at first' says out ', 1970-01-01 '
ok 'a clock that is set: that is said' says out '^The clock was set during the recording: by the new time it began at '
ok 'a clock that is set: the date by the new time' grep -q "began at $today\|began at $(date +%Y-%m-%d)" out
run nvmtop report --format markdown set.nvmt
ok 'in Markdown' says out '^The clock was set'
recording back.nvmt 0 "$wrong"
ok 'a clock that is set back' says out '^The clock was set .* began at 1970-01-01 '
recording never.nvmt "$wrong"
ok 'a clock that is not set: that is said' says out '^The clock of the machine had not been set'
recording right.nvmt 0
ok 'a clock that is right: nothing' sh -c '! grep -i "clock was\|clock of" out'
recording slow.nvmt 0 -20
ok 'a clock that is set by 20 s' says out '^The clock was set'
done_testing
