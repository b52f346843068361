#!/bin/sh
# A struct of the lower half has a name of its own: the same tag in two files is two things with one name.
. "$NVMTOP_SRC/tests/cli/lib.sh"
names() { "$python" "$NVMTOP_SRC/tests/tools/names.py" "$@"; }

run names "$NVMTOP_SRC" "$NVMTOP_SRC/tests/tools/names.txt"
ok 'no tag is in two files, but those in names.txt, which only becomes shorter' sh -c "cat out err; exit $status"

# --- it can fail: a made-up tree ---
mkdir -p tree/src/util tree/src/trace tree/src/ui
cat >tree/src/util/a.c <<'C'
/* struct comment { */
struct one { int a; struct inner { int b; } c; };
enum kind { KIND };
struct one *used(struct one *x, const char *text) { return text == "struct text {" ? x : 0; }
C
printf 'struct one\n{ int x; };\nstruct comment { int x; };\n' >tree/src/trace/b.h
printf 'union inner {\nint x; };\nstruct text { int x; };\n' >tree/src/trace/c.c
echo 'enum kind { OTHER };' >tree/src/ui/upper.c
run names tree
ok 'which tags are in two files' is "$(tr -s ' \n' ' ' <out)" \
	'inner src/trace/c.c src/util/a.c one src/trace/b.h src/util/a.c '
printf '# tags\none\ninner a b\n' >table
run names tree table
ok 'those that are known: status 0' is "$status" 0
echo one >table
run names tree table
ok 'another one: status 1' is "$status" 1
ok 'another one: where, and what to do' says out '"inner" is defined in src/trace/c.c and src/util/a.c: give it'
ok 'another one: in one line' one_line out
printf 'one\ninner\ngone\n' >table
run names tree table
ok 'one that is gone: status 1' is "$status" 1
ok 'one that is gone: said' says out '"gone" is in one file now: take it out'
done_testing
