#!/bin/sh
# The manual pages are clean, and name every key and option there is.
cd "$NVMTOP_SRC/man" || exit 1
if ! command -v mandoc >/dev/null; then
    echo '1..0 # SKIP mandoc is not installed: ./bootstrap installs it'
    exit 0
fi
n=0
for page in *.[1-9]; do
    n=$((n + 1))
    out=$(mandoc -T lint -W warning "$page" 2>&1)
    if test -z "$out"; then
        echo "ok $n - $page"
    else
        echo "not ok $n - $page"
        echo "$out" | sed 's/^/# /'
    fi
done
# What the key table of the program says, the manual says too.
$EMU "$NVMTOP" --help | sed '1,/^Keys/d; /^$/,$d; s/^.\{25\}//' | while read -r what; do
    grep -qF -- "$what" nvmtop.1 || echo "# not in the manual: $what"
done >"${TMPDIR:-/tmp}/keys-$$"
n=$((n + 1))
if test -s "${TMPDIR:-/tmp}/keys-$$"; then
    echo "not ok $n - the manual has every key"
    cat "${TMPDIR:-/tmp}/keys-$$"
else
    echo "ok $n - the manual has every key"
fi
rm -f "${TMPDIR:-/tmp}/keys-$$"
echo "1..$n"
