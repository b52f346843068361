#!/bin/sh
# Lines of code a folder stay within tests/tools/budget.txt, so that code is added where other code goes.
. "$NVMTOP_SRC/tests/cli/lib.sh"
budget() { "$python" "$NVMTOP_SRC/tests/tools/budget.py" "$@"; }

run budget "$NVMTOP_SRC" "$NVMTOP_SRC/tests/tools/budget.txt"
ok 'each folder of src, and include, is within its limit' sh -c "cat out err; exit $status"

# --- it can fail: a made-up tree ---
mkdir -p tree/src/one/below tree/src/two tree/include/x
cat >tree/src/one/a.c <<'C'
/* A comment
 * of lines. */
#include "a.h" /* counts */

int f(void) // counts
{
	/* not */
	// not
	const char *s = "// a text /* counts";	/* begins here
	and ends */ char c = '"'; /* counts */

	return s[0] == c; /* \" */
}
C
echo 'int below;' >tree/src/one/below/b.h
echo 'int two;' >tree/src/two/two.c
echo 'not counted' >tree/src/two/notes.txt
printf '\n\t \n/**/ /* */\nint x;\n' >tree/include/x/x.h
run budget tree
ok 'what counts as a line' is "$(tr -s ' \n' ' ' <out)" 'include 1 src/one 8 src/two 1 '
printf '# folder lines\ninclude 1\n\nsrc/one 8\nsrc/two 1\n' >table
run budget tree table
ok 'at its limit: status 0' is "$status" 0
sed -i 's/one 8/one 7/' table
run budget tree table
ok 'one line too many: status 1' is "$status" 1
ok 'one line too many: folder, lines and limit' says out '^src/one has 8 lines of code and may have 7'
ok 'one line too many: what to do' says out 'say why in the commit'
ok 'one line too many: in one line' one_line out
printf 'include 1\nsrc/one 8\nsrc/gone 5\n' >table
run budget tree table
ok 'a folder without a limit: status 1' is "$status" 1
ok 'a folder without a limit: said' says out '^src/two has no limit'
ok 'a limit without a folder: said' says out '^src/gone has a limit and no code'
done_testing
