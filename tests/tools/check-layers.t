#!/bin/sh
# Who may include whom: a sample travels one way through the rooms, and the
# rooms that look never know where it came from.
echo 1..4
cd "$NVMTOP_SRC" || exit 1

# "room: the contracts it may use" (its own private headers are its own)
bad=$(
while IFS=: read -r room may; do
    for f in src/"$room"/*.c src/"$room"/*.h; do
        test -f "$f" || continue
        sed -n 's/^#include "nvmtop\/\(.*\)\.h"/\1/p' "$f" | while read -r h; do
            case " $may " in *" $h "*) ;; *) echo "# $f must not include nvmtop/$h.h" ;; esac
        done
    done
done <<END
base: err intl root num clock descriptors thread channel stream timeline condition lateness map replace
board: err intl root num clock descriptors channel board probe
probe: err intl root num clock descriptors thread channel probe
sampler: err intl clock thread channel probe lateness
engine: err intl clock thread channel probe stream engine lateness
history: err intl clock channel stream timeline history
lib: err intl root clock channel probe board stream timeline engine trace marks nvmtop
trace: err intl num clock thread channel stream timeline trace map condition keep
proc: err intl num clock thread root procs
mark: err intl num clock thread mark marks
report: err intl num clock thread channel stream timeline trace report
ui: err intl clock num channel stream timeline condition canvas event settings ui procs
conf: err intl num clock settings conf replace
term: err intl clock canvas event settings term map
END
)
if test -z "$bad"; then echo "ok 1 - no include points upward"; else echo "not ok 1 - no include points upward"; echo "$bad"; fi

# private headers: from the own room, or from the room below that owns the format
bad=$(
for f in src/*/*.c src/*/*.h; do
    room=${f#src/}
    room=${room%%/*}
    test "$room" = cmd && continue
    sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$f" | while read -r r; do
        case "$room:$r" in
        *:nvmtop | "$r:$r" | board:probe | proc:probe | engine:sampler) ;;
        *) echo "# $f must not include a private header of $r" ;;
        esac
    done
done
)
if test -z "$bad"; then echo "ok 2 - private headers stay private"; else echo "not ok 2 - private headers stay private"; echo "$bad"; fi

bad=$(
only() { grep -rl "^#include <$1>" src | grep -vE "^($2)$" | sed "s|.*|# & must not include $1|"; }
only curses.h 'src/term/painter.c'
only termkey.h 'src/term/input.c'
only pthread.h 'src/base/(map|patient|thread).c|src/proc/procs.c|src/lib/recorder.c|src/sampler/pacer.c|src/probe/crew.c|src/engine/thread.h|src/trace/writer.h|src/trace/series.h|src/trace/series.c|src/trace/parts.c|src/trace/stream-out.c|src/trace/nonsense.c|src/report/stats.c|src/trace/builder.h|src/trace/keep-state.h|src/trace/kept.h|src/history/history.c'
only stdatomic.h 'src/sampler/(pacer|ring|sampler)\.[ch]|src/probe/(bundle|slow|crew).[ch]|src/engine/own.c|src/engine/thread.h|src/trace/(cells|store).c|src/trace/builder.h|src/trace/reader.h|src/base/(map|root).c|src/term/crash.c|src/mark/inbox.c'
)
if test -z "$bad"; then echo "ok 3 - each system header has one home"; else echo "not ok 3 - each system header has one home"; echo "$bad"; fi

# One way for a thread to begin, so that none is left without what all need.
bad=$(grep -rl 'pthread_create(' src | grep -vx src/base/thread.c | sed 's/.*/# & must use thread_start()/')
if test -z "$bad"; then echo "ok 4 - threads begin in one place"; else echo "not ok 4 - threads begin in one place"; echo "$bad"; fi
