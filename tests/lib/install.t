#!/bin/sh
# Installed elsewhere: found by pkg-config, linked both ways, run.
. "$NVMTOP_SRC/tests/cli/lib.sh"
build=${NVMTOP%/src/nvmtop}
if test -n "$EMU"; then
	echo '1..0 # SKIP built for another machine: run it there'
	exit 0
fi
# a make of its own: the jobs of the one that runs the tests are not for it
run env -u MAKEFLAGS -u MFLAGS "${MAKE:-make}" -C "$build" install DESTDIR="$scratch/dest"
ok 'make install' is "$status" 0
cp out installed
libdir=$(dirname "$(find dest -name libnvmtop.a)")
export PKG_CONFIG_PATH="$scratch/$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$scratch/dest"
export LD_LIBRARY_PATH="$scratch/$libdir"
# Whether programs find the library is said only where they would not.
mkdir tools
cat >tools/ldconfig <<'END'
#!/bin/sh
case $1 in
-p) echo "	libnvmtop.so.1 (libc6) => $KNOWN/libnvmtop.so.1" ;;
*) echo "$LOOKS:" ;;
esac
END
chmod +x tools/ldconfig
mkdir lib
ln -s lib same
: >lib/libnvmtop.so.1
# hint KNOWN LOOKS [DESTDIR]: what is said when the loader knows and looks into these folders
hint() {
	export KNOWN="$1" LOOKS="$2"
	PATH=$scratch/tools:$PATH "${MAKE:-make}" -s -C "$build" install-exec-hook libdir="$scratch/lib" DESTDIR="${3-}" | grep '^nvmtop:'
}
ok 'nothing about ldconfig with DESTDIR' sh -c '! grep ldconfig installed'
ok 'ldconfig, where the loader looks' is "$(hint /usr/lib "$scratch/lib")" "nvmtop: run ldconfig, so that programs find libnvmtop in $scratch/lib"
ok 'nothing where the loader knows it' is "$(hint "$scratch/lib" /usr/lib)" ''
ok 'nothing where it knows it by another name' is "$(hint "$scratch/same" /usr/lib)" ''
ok 'nothing for another root' is "$(hint /usr/lib /usr/lib /tmp/root)" ''
ok 'where the loader does not look' is "$(hint /usr/lib /usr/lib)" \
	"nvmtop: programs do not find libnvmtop in $scratch/lib: add this folder to /etc/ld.so.conf.d and run ldconfig, or set LD_LIBRARY_PATH"
# What is read, what completes, what a desktop shows.
doc=$(dirname "$(find dest -path '*/doc/*' -name NEWS)")
for f in README.md NEWS $(cd "$NVMTOP_SRC" && echo docs/*.md); do
	ok "$f is installed" test -s "$doc/$f"
done
share=${doc%/doc/*}
for f in $(test -f "$build/completion/table" && echo bash-completion/completions/nvmtop zsh/site-functions/_nvmtop \
	fish/vendor_completions.d/nvmtop.fish) bash-completion/completions/nvmtop-setup fish/vendor_completions.d/nvmtop-setup.fish \
	applications/nvmtop.desktop icons/hicolor/scalable/apps/nvmtop.svg mime/packages/nvmtop.xml metainfo/nvmtop.metainfo.xml; do
	ok "$f is installed" test -s "$share/$f"
done
# Another prefix after a build: what has folders in it is compiled again.
"${MAKE:-make}" -C "$build" -pnq 2>/dev/null | sed -n 's/^\(src[^:=]*\): .*[ ]Makefile\( .*\)*$/\1/p' >again
for f in $(grep -l 'BOARDDIR\|LOCALEDIR' "$NVMTOP_SRC"/src/*.c "$NVMTOP_SRC"/src/*/*.c); do
	ok "$(basename "$f") depends on where things are installed" grep -q "$(basename "$f" .c)\.l\?o$" again
done
ok 'pkg-config knows it' pkg-config --exists nvmtop
flags=$(pkg-config --cflags --libs nvmtop)
same=$(sed -n 's/^SAN_CFLAGS = //p' "$build/Makefile")
for e in profile-phases read-trace; do
	# shellcheck disable=SC2086
	ok "$e builds with its flags" $CC $same "$NVMTOP_SRC/examples/$e.c" -o "$e" $flags
done
run ./profile-phases run.bin demo
ok 'profile-phases runs' is "$status" 0
run ./read-trace run.bin
ok 'read-trace reads what it recorded' says out '3 marks'
# The program of docs/integrate.md.
sed -n '/^```c$/,/^```/{/^```/d;p;}' "$NVMTOP_SRC/docs/integrate.md" >window.c
# shellcheck disable=SC2086
ok 'that of the page on other programs builds as it says' $CC $same -Wall -Werror window.c -o window $flags
run env NVMTOP_BOARD=demo ./window
ok 'and runs' is "$status" 0
ok 'it says the GPU load' says out '^GPU [0-9.]* % now$'
ok 'and joules' says out '^[0-9.]* +- [0-9.]* J in [0-9.]* s$'
# shellcheck disable=SC2086
ok 'read-trace links statically with it' $CC $same "$NVMTOP_SRC/examples/read-trace.c" -o static \
	$(pkg-config --cflags nvmtop) "$libdir/libnvmtop.a" $(pkg-config --libs-only-l zlib libzstd) -lpthread -lm -ldl
run ./static run.bin
ok 'and runs' says out '3 marks'
ok 'without the shared one' sh -c '! ldd ./static | grep -q libnvmtop'
at=$(dirname "$(find dest -name nsys-plugin.yaml)")
ok 'the plugin of nsys is in a folder of its own in that of the programs of nvmtop' sh -c 'test "$(ls "$1" | tr "\n" " ")" = "nsys-plugin.yaml nvmtop-nsys " -a "${1##*/nvmtop/}" = nsys-plugin' sh "$at"
run "$at/nvmtop-nsys"
ok 'and says who starts it' says err 'Nsight Systems'
py=$(sed -n 's/^PYTHON = //p' "$build/Makefile")
module=$(find dest -path '*/nvmtop/__init__.py')
if test -n "$module"; then
	at=$(dirname "$(dirname "$module")")
	ok 'the module is where its Python looks, if that looks below the prefix at all' "$py" -c 'import os, site, sys
at = sys.argv[1][len("dest"):]
dirs = [d for d in site.getsitepackages() if d.startswith(sys.argv[2] + "/")]
sys.exit(0 if not dirs or at in dirs else "%s is not in %s" % (at, dirs))' \
		"$at" "$(sed -n 's/^prefix = //p' "$build/Makefile")"
	ok 'with its annotations' test -f "${module%/*}/py.typed"
	ok 'and make install says where that is' says installed "module is in ${at#dest}, where $py "
	if test -x /usr/bin/python3 && ! "$build/config.status" --config | grep -q PYTHON=; then
		ok "its Python is the system's, whatever is first in PATH" is "$py" /usr/bin/python3
	fi
	case $same$(sed -n 's/^libdir = //p' "$build/Makefile") in
	'${exec_prefix}/lib')
		run env -u LD_LIBRARY_PATH -u NVMTOP_LIBRARY PYTHONPATH="$at" "$py" -c 'import nvmtop; print(nvmtop._lib._name)'
		ok 'it finds the library that was installed with it' says out "^$(pwd -P)/dest/.*/libnvmtop.so.1\$"
		;;
	*) skip 'it finds the library that was installed with it' 'that has sanitizers, or is in a folder of its own' ;;
	esac
else
	skip 'the module is where its Python looks' 'there is no Python: ./bootstrap installs it'
fi
run "${MAKE:-make}" -C "$build" uninstall DESTDIR="$scratch/dest"
ok 'make uninstall leaves no file' is "$(find dest ! -type d)" ''
ok 'and nothing that Python would take for a module' is "$(find dest -path '*-packages/*')" ''
done_testing
