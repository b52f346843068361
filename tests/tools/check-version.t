#!/bin/sh
# The version has one place, the Python module, which configure.ac reads. What cannot read it is held to it.
. "$NVMTOP_SRC/tests/cli/lib.sh"
build=${NVMTOP%/src/nvmtop}
version=$(sed -n 's/^__version__ = "\([^"]*\)".*/\1/p' "$NVMTOP_SRC/python/nvmtop/__init__.py")
ok 'it is three numbers' sh -c 'echo "$1" | grep -q "^[0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*$"' sh "$version"
ok 'nvmtop -V prints it (if not: autoreconf -f)' is "$(nvmtop -V)" "nvmtop $version"
run nvmtop once --json --demo
ok 'JSON has it' is "$("$python" -c 'import json; print(json.load(open("out"))["nvmtop"])')" "$version"
ok 'pkg-config has it' says "$build/src/lib/nvmtop.pc" "^Version: $version\$"
ok 'NEWS begins with it' is "$(sed -n '1s/^nvmtop \([0-9.]*\), .*/\1/p' "$NVMTOP_SRC/NEWS")" "$version"
if test -f "$NVMTOP_SRC/debian/changelog"; then
	ok 'the packages have it' is "$(sed -n '1s/^nvmtop (\([0-9.]*\)[^0-9.].*/\1/p' "$NVMTOP_SRC/debian/changelog")" "$version"
else
	skip 'the packages have it' 'there is no folder debian in the tarball'
fi
done_testing
