#!/bin/sh
# A mark that "record -- nsys profile" leaves in its recording and in the report of nsys; a stand-in for that keeps what the
# tool of NVTX gets.
. "$NVMTOP_SRC/tests/cli/lib.sh"
if test -n "$EMU"; then
    echo '1..0 # SKIP built for another machine: run it there'
    exit 0
fi
if grep -q '^SAN_CFLAGS = .*fsanitize' "${NVMTOP%/src/nvmtop}/Makefile"; then
    echo '1..0 # SKIP the tool would need the sanitizers, too: build without'
    exit 0
fi
cat >tool.c <<END
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
struct callbacks { size_t size; int (*table)(int module, void ****out, unsigned *n); };
struct version { size_t size; uint32_t version, reserved; };
static void mark(const char *text)
{
	struct timespec t;
	FILE *f = fopen(getenv("TOOL_MARKS"), "a");
	clock_gettime(CLOCK_MONOTONIC, &t);
	fprintf(f, "%lld%09ld %s\n", (long long)t.tv_sec, t.tv_nsec, text);
	fclose(f);
}
int InitializeInjectionNvtx2(const void *(*get)(uint32_t id))
{
	const struct callbacks *c = get(1);
	const struct version *v = get(3);
	void ***table;
	unsigned n;
	if (!v || v->version != 3 || !c->table(1, &table, &n) || n < 3)
		return 0;
	*(void (**)(const char *))table[2] = mark;
	return 1;
}
END
$CC -shared -fPIC -w -o tool.so tool.c || exit 99
# Runs its program, as "nsys profile" does.
mkdir bin
cat >bin/nsys <<'END'
#!/bin/sh
echo "$@" >"$TOOL_MARKS.args"
shift
while :; do
    case $1 in
    --*) shift ;;
    -*) shift 2 ;;
    *) break ;;
    esac
done
NVTX_INJECTION64_PATH=$TOOL exec "$@"
END
chmod +x bin/nsys
PATH=$scratch/bin:$PATH
TOOL=$scratch/tool.so
TOOL_MARKS=$scratch/marks
export PATH TOOL TOOL_MARKS

run nvmtop record --demo -o run.nvmt -- nsys profile -o report -t cuda,nvtx --stats=true sh -c 'echo it ran "$0"; exit 7' 'a b'
ok 'the status of the program' is "$status" 7
ok 'its words' is "$(cat out)" 'it ran a b'
ok 'one mark in the tool' one_line marks
nvmtop export jsonl --tier slow run.nvmt >rows
ok 'and at the same moment in the recording' "$python" -c '
import json
at, label = open("marks").read().split()
rows = [json.loads(line) for line in open("rows")]
marks = [r for r in rows if r.get("row") == "mark"]
begin = rows[0]["trace"]["start"]["monotonic_ns"]
assert label.startswith("nsys-") and [m["label"] for m in marks] == [label], (label, marks)
assert 0 <= int(at) - begin and abs(marks[0]["time_s"] - (int(at) - begin) / 1e9) < 2, (at, begin, marks)'

rm marks
run nvmtop record --demo -o plain.nvmt -- sh -c 'exit 3'
ok 'another command is not changed' is "$status" 3
ok 'and gets no mark' test ! -e marks
mkfifo no-program
run nvmtop record --demo -o odd.nvmt -- nsys profile --output no-program true
ok 'words of nsys that are not understood are not changed' is "$(cat marks.args)" 'profile --output no-program true'

run nvmtop mark --nvtx label
ok 'no tool: status 1' is "$status" 1
ok 'no tool: said' says err 'NVTX_INJECTION64_PATH is not set'
NVTX_INJECTION64_PATH=/no/such/tool.so
export NVTX_INJECTION64_PATH
run nvmtop mark --nvtx label
ok 'a tool that is not there: said' says err '/no/such/tool.so'
done_testing
