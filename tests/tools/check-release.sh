#!/bin/sh
# make release-check: checks for a release in addition to make check.
#   check-release.sh FOLDER-OF-THE-SOURCES LIBRARY-FOR-NVTX
# Every catalogue is complete, libnvmtop-nvtx.so loads with an older glibc, and the test suite passes for aarch64 where it can be
# cross-built.
cd "$1" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
sh po/potfiles.sh || exit 1
xgettext --from-code=UTF-8 --keyword=_ --keyword=N_ --keyword=P_:1,2 -o "$tmp/all.pot" -f po/POTFILES.in || exit 1
status=0
for lang in $(cat po/LINGUAS); do
    msgmerge -q -N -o "$tmp/$lang.po" "po/$lang.po" "$tmp/all.pot" || exit 1
    { # the text of each, without the header
        msgattrib --untranslated --no-obsolete "$tmp/$lang.po" | grep '^msgid' | sed 1d
        msgattrib --only-fuzzy --no-obsolete "$tmp/$lang.po" | grep '^msgid' | sed 1d
    } >"$tmp/missing"
    echo "po/$lang.po: $(wc -l <"$tmp/missing") texts missing"
    sed 's/^/    /' "$tmp/missing"
    test ! -s "$tmp/missing" || status=1
done
sh tests/tools/check-aarch64.sh "$tmp/aarch64"
case $? in
0) ;;
77) echo 'aarch64: skipped' ;;
*) status=1 ;;
esac
sh tests/tools/check-glibc.sh "$2"
case $? in
0 | 77) ;;
*) status=1 ;;
esac
exit $status
