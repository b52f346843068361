#!/bin/sh
# The library from outside: what it shows, the examples, and C++.
. "$NVMTOP_SRC/tests/cli/lib.sh"
build=${NVMTOP%/src/nvmtop}
so=$build/libnvmtop.so.1

symbols() { nm -D --defined-only "$so" | awk '$2 != "A" && $3 !~ /@.*NVMTOP/ { sub(/@.*/, "", $3); print $3 }'; }
# The interface, as its header declares it.
sed -n 's/^NVMTOP_PUBLIC.*[ *]\(nvmtop_[a-z_]*\)(.*/\1/p' "$NVMTOP_SRC/include/nvmtop/nvmtop.h" | sort >declared
symbols | sort >shown
ok 'the header declares functions' test "$(wc -l <declared)" -gt 15
ok 'the library shows these and nothing else' cmp declared shown
nm -g --defined-only "$build/libnvmtop.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort >static
ok 'so does the archive' cmp declared static

run $EMU "$build/examples/profile-phases" run.nvmt demo
ok 'profile-phases: status 0' is "$status" 0
ok 'profile-phases: three phases and what was before' is "$(wc -l <out)" 4
ok 'profile-phases: by their labels' is "$(awk '{ print $1 }' out | tr '\n' ' ')" 'before preprocess infer after '
ok 'profile-phases: a complete trace' judge run.nvmt "t['counts']['fast'] > 30 and t['counts']['sync'] == 3"
ok 'profile-phases: phases last as long as they did' awk '
	$1 == "preprocess" && $2 >= 0.3 && $2 < 30 { n++ } $1 == "infer" && $2 >= 0.4 && $2 < 60 { n++ } END { exit n != 2 }' out
run $EMU "$build/examples/profile-phases" only.bin demo
ok 'a FILE.bin: of version 1' judge only.bin "t['counts']['fast'] > 30 and t['counts']['sync'] == 3 and t['trailing_bytes'] == 0"
ok 'a FILE.bin: no other file is left' is "$(echo only.*)" only.bin
run $EMU "$build/examples/profile-phases" no/such/folder.bin demo
ok 'profile-phases: a folder that is not there is said' is "$status" 1
ok 'profile-phases: by name' says err 'no/such'
run $EMU "$build/examples/energy-window" demo
ok 'energy-window: status 0' is "$status" 0
ok 'energy-window: joules with their bound and readings' says out '^infer  *[0-9.]* +- [0-9.]* J in [0-9.]* s, [1-9][0-9]* readings$'
ok 'energy-window: less those of the idle machine' says out '^above idle [-0-9.]* +- [0-9.]* J$'
run $EMU "$build/examples/energy-window" no_such_board
ok 'energy-window: a board that is not there is status 1' is "$status" 1
ok 'energy-window: by name' says err 'no_such_board'
# That of the header compiles as it stands.
{ printf '#include <stdio.h>\n#include <nvmtop/nvmtop.h>\nvoid infer(void);\nvoid run(void);\nvoid run(void)\n{\nnvmtop_error error = NVMTOP_ERROR_INIT;\n'
  sed -n '/---- live values ----/,/nvmtop_live_close/s/^ \*\t//p' "$NVMTOP_SRC/include/nvmtop/nvmtop.h"; echo '}'; } >header.c
ok 'the example of live values in the header' grep -q nvmtop_energy_result header.c
ok 'it compiles' $CC -std=gnu11 -Wall -Wextra -Werror -I"$NVMTOP_SRC/include" -fsyntax-only header.c
run $EMU "$build/examples/read-trace" "$NVMTOP_SRC/tests/traces/small.nvmt"
ok 'read-trace: status 0' is "$status" 0
ok 'read-trace: the rails' says out ' J$'
head -c 2000 "$NVMTOP_SRC/tests/traces/version-1.bin" >cut.bin
run $EMU "$build/examples/read-trace" cut.bin
ok 'read-trace: a damaged trace is status 3' is "$status" 3
ok 'read-trace: and says so' says err 'damaged'
run $EMU "$build/examples/nvtx-ranges" 1
ok 'nvtx-ranges: runs without a recorder' is "$status" 0
cat >demo <<END
#!/bin/sh
verb=\$1
shift
test "\$verb" != record || set -- --demo "\$@"
exec $EMU '$NVMTOP' "\$verb" "\$@"
END
chmod +x demo
run env RUNS=2 NVMTOP="$scratch/demo" PATH="$(dirname "$python"):$PATH" sh "$NVMTOP_SRC/examples/compare-energy.sh" NAME=1 $EMU "$build/examples/nvtx-ranges" 3
# On a busy machine rows are late: a run, or all of one side, may be known for too little of the time, and that is said.
ok 'compare-energy, nvtx-ranges: runs of both, with joules' sh -c 'grep -Eq "^infer +J( +[0-9.]+| +--){2,4} +([-+][0-9.]+ % +(\+-|too few runs)|[0-9.]+ % known)" out || { cat out err; exit 1; }'
ok 'profile-training is Python' "$python" -c 'import sys
compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$NVMTOP_SRC/examples/profile-training.py"

# An application may be stricter than any of ours.
program='int main() { nvmtop_error e = NVMTOP_ERROR_INIT; nvmtop_options o = NVMTOP_OPTIONS_INIT; return e.code + o.force + nvmtop_mark("here"); }'
printf '#include <nvmtop/nvmtop.h>\n#include <nvmtop/mark.h>\n%s\n' "$program" >both.cc
printf '#include <nvmtop/mark.h>\n#include <nvmtop/nvmtop.h>\n%s\n' "$program" >htob.cc
strict='-Wall -Wextra -pedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Werror'
if command -v "${CXX:-g++}" >/dev/null 2>&1; then
	for f in both htob; do
		for std in c++98 c++17; do
			# shellcheck disable=SC2086
			ok "$f: the headers are $std, and no old-style cast" ${CXX:-g++} -std=$std $strict -Wold-style-cast \
				-I"$NVMTOP_SRC/include" -fsyntax-only $f.cc
		done
	done
else
	for i in 1 2 3 4; do
		skip "the headers are C++, $i" 'no C++ compiler; ./bootstrap --tests installs one'
	done
fi
for f in both htob; do
	sed 's/main()/main(void)/' $f.cc >$f.c
	for std in c99 gnu17; do
		# shellcheck disable=SC2086
		ok "$f: the headers are $std" $CC -std=$std $strict -I"$NVMTOP_SRC/include" -fsyntax-only $f.c
	done
done
done_testing
