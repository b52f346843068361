#!/bin/sh
# Where the Python module finds the library, and what it says when it does not.
. "$NVMTOP_SRC/tests/cli/lib.sh"
build=${NVMTOP%/src/nvmtop}
need_library_for_python
unset NVMTOP_LIBRARY LD_LIBRARY_PATH
PYTHONDONTWRITEBYTECODE=1 NVMTOP_NUMPY=no
export PYTHONDONTWRITEBYTECODE NVMTOP_NUMPY
real=$build/libnvmtop.so.1
scratch=$(pwd -P)

# module FOLDER: a copy of it there
module() {
	mkdir -p "$1" && cp -R "$NVMTOP_SRC/python/nvmtop" "$1" && chmod -R u+w "$1"
}
# library FOLDER: the real one there
library() {
	mkdir -p "$1" && ln -s "$real" "$1/libnvmtop.so.1"
}
# loads FOLDER LIBRARY [NAME=VALUE]...: the module there has loaded this library
loads() {
	at=$1 want=$2
	shift 2
	run env "$@" PYTHONPATH="$at" "$python" -c 'import nvmtop; print(nvmtop._lib._name, nvmtop.detect_board() and "works")'
	is "$(cat out)" "$want works"
}
# refuses FOLDER TEXT [NAME=VALUE]...: the module there raises ImportError with one sentence that has this text
refuses() {
	at=$1 want=$2
	shift 2
	run env "$@" PYTHONPATH="$at" "$python" -c 'try:
    import nvmtop
    print("loaded", nvmtop._lib._name)
except ImportError as e:
    print(e)'
	one_line out && says out "$want"
}

module "$scratch/clone/python"
cp "$NVMTOP_SRC/python/pyproject.toml" clone/python
library "$scratch/clone"
ok 'in sources that were built in place' loads "$scratch/clone/python" "$scratch/clone/libnvmtop.so.1"
ln -s "$NVMTOP_SRC/boards" clone/boards
run env -u NVMTOP_BOARDS PYTHONPATH="$scratch/clone/python" "$python" -c 'import nvmtop
with nvmtop.Recorder("run.nvmt", board="demo"):
    pass
print(nvmtop.read_trace("run.nvmt").board)'
ok 'with the boards there' is "$(cat out)" demo
module "$scratch/odd"
library "$scratch"
library "$scratch/odd/nvmtop"
ok 'beside the module, and not in the folder above' loads "$scratch/odd" "$scratch/odd/nvmtop/libnvmtop.so.1"
rm odd/nvmtop/libnvmtop.so.1

site=$scratch/usr/lib/python3.9/site-packages
module "$site"
library "$scratch/usr/lib"
ok 'below the prefix of both' loads "$site" "$scratch/usr/lib/libnvmtop.so.1"
rm usr/lib/libnvmtop.so.1
triplet=$("$python" -c 'import sys; print(getattr(sys.implementation, "_multiarch", ""))')
if test -n "$triplet"; then
	library "$scratch/usr/lib/$triplet"
	ok 'in the folder of this kind of machine there' loads "$site" "$scratch/usr/lib/$triplet/libnvmtop.so.1"
else
	skip 'in the folder of this kind of machine there' 'this Python has no name for it'
fi
library "$scratch/elsewhere"
ok 'where NVMTOP_LIBRARY says, before all others' loads "$site" "$scratch/elsewhere/libnvmtop.so.1" NVMTOP_LIBRARY="$scratch/elsewhere/libnvmtop.so.1"
ok 'where the system looks' loads "$scratch/odd" libnvmtop.so.1 LD_LIBRARY_PATH="$scratch/elsewhere"
ok 'NVMTOP_LIBRARY that is wrong is not passed over' refuses "$site" "NVMTOP_LIBRARY .*$scratch/no.so" NVMTOP_LIBRARY="$scratch/no.so"
if PYTHONPATH=$scratch/odd "$python" -c 'import nvmtop' 2>/dev/null; then
	skip 'none: says what to install' 'libnvmtop is installed on this machine'
else
	ok 'none: says what to install' refuses "$scratch/odd" 'apt install libnvmtop1.*make install.*ldconfig.*NVMTOP_LIBRARY'
fi

# fake NAME INTERFACE VERSION: a library of another release
fake() {
	echo "int nvmtop_api_version(void) { return $2; } const char *nvmtop_version(void) { return \"$3\"; }" >fake.c
	# shellcheck disable=SC2086
	$CC -shared -fPIC fake.c -o "$1"
}
ok 'one that is too old is made' fake old.so 199 0.0.9
ok 'it is named, with what to do' refuses "$site" "$scratch/old.so.* 0\.0\.9.*too old.*install" NVMTOP_LIBRARY="$scratch/old.so"
ok 'one of the release before is made' fake before.so 202 0.1.9
ok 'it is named, too' refuses "$site" "$scratch/before.so.* 0\.1\.9.*too old.*install" NVMTOP_LIBRARY="$scratch/before.so"
ok 'one that is too new is made' fake new.so 900 9.0.0
ok 'it is named, with what to do' refuses "$site" "$scratch/new.so.* 9\.0\.0.*too new.*install" NVMTOP_LIBRARY="$scratch/new.so"
echo 'int nothing(void) { return 0; }' >gone.c
# shellcheck disable=SC2086
ok 'one of something else is made' $CC -shared -fPIC gone.c -o "$scratch/libgone.so"
ok 'it is said so' refuses "$site" "$scratch/libgone.so is not libnvmtop" NVMTOP_LIBRARY="$scratch/libgone.so"
rm "usr/lib/$triplet/libnvmtop.so.1" libnvmtop.so.1
# shellcheck disable=SC2086
ok 'one that lacks another is made' $CC -shared -fPIC gone.c -o usr/lib/libnvmtop.so.1 -Wl,--no-as-needed "$scratch/libgone.so"
mv libgone.so was.so
if PYTHONPATH=$scratch/odd "$python" -c 'import nvmtop' 2>/dev/null; then
	skip 'it says which' 'libnvmtop is installed on this machine'
else
	ok 'it says which' refuses "$site" 'cannot be loaded: .*libgone'
fi

# Looking for it starts no program: ctypes.util would run three of them.
run env NVMTOP_LIBRARY="$real" PYTHONPATH="$site" "$python" -c 'import sys; import nvmtop; print("subprocess" in sys.modules)'
ok 'import starts no program' is "$(cat out)" False
done_testing
