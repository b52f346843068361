#!/bin/sh
# Which directories may include which: util and model at the bottom, the program on top.
echo 1..5
cd "$NVMTOP_SRC" || exit 1

# result NUMBER WHAT BAD
result() {
    if test -z "$3"; then echo "ok $1 - $2"; else echo "not ok $1 - $2"; echo "$3"; fi
}

# "directory: the directories it may include from", or single headers of one
bad=$(
while IFS=: read -r folder may; do
    for f in src/"$folder"/*.[ch]; do
        sed -n 's/^#include "\(.*\)"/\1/p' "$f" | while read -r h; do
            case " $folder $may " in *" ${h%%/*} "* | *" $h "*) ;; *) echo "# $f must not include $h" ;; esac
        done
    done
done <<END
util:
model: util
board: util model probe
probe: util model
trace: util model board/board.h
engine: util model probe
record: util model engine trace nvmtop/mark.h nvtx/nvtx-ring.h
live: util model engine
report: util model trace
ui: util model board/machine.h control/control.h probe/processes.h report/range-totals.h
term: util ui/canvas.h ui/event.h ui/settings.h
app: util model board probe trace engine record live report ui term control
serve: util model live
cli: util model board probe trace engine record live report ui term app serve control nsys/nvtx-client.h
nvtx: nvmtop/mark.h
lib: util model board probe trace engine record live nvmtop
nsys: util model engine app
control: util board probe
helper: util board probe control
END
)
result 1 'no include points upward' "$bad"

bad=$(
only() { grep -rl "^#include <$1>" src | grep -vE "^($2)$" | sed "s|.*|# & must not include $1|"; }
only curses.h 'src/term/painter.c'
only termkey.h 'src/term/input.c'
)
result 2 'each terminal library is used in one place only' "$bad"

# Every thread gets the common setup.
bad=$(grep -rl --include='*.c' 'pthread_create(' src | grep -vx src/util/thread.c | sed 's/.*/# & must use thread_start()/')
result 3 'threads are created in one place' "$bad"

# The main thread is the seventh; everything else that may block is a job.
want='src/app/alert.c src/engine/engine.c src/engine/sampler.c src/probe/reader-thread.c src/trace/log-out.c src/util/job.c'
found=$(grep -rl --include='*.c' '\<thread_start(' src | grep -vxE 'src/util/thread.c|src/term/crash.c' | sort | tr '\n' ' ')
test "$found" = "$want " && found=
result 4 'there are seven kinds of threads' "${found:+# threads begin in $found}"

# Properties of a view belong in its table.
bad=$(grep -rnE '[!=]= *&view_' --include='*.[ch]' src | sed 's/^/# /')
result 5 'no code compares views' "$bad"
