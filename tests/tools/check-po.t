#!/bin/sh
# Every catalogue is complete, and its formats fit.
cd "$NVMTOP_SRC/po" || exit 1
if ! command -v msgfmt >/dev/null || ! command -v xgettext >/dev/null; then
    echo '1..0 # SKIP gettext is not installed'
    exit 0
fi
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
n=0
check() {
    n=$((n + 1))
    if test -z "$2"; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        echo "$2" | sed 's/^/# /'
    fi
}
check 'every file with texts is listed' "$(
    cd .. && grep -lE '\b(N?_|P_)\(' src/*.c src/*/*.[ch] | sort >"$tmp/have"
    grep -v '^#' po/POTFILES.in | grep . | sort >"$tmp/listed"
    diff "$tmp/have" "$tmp/listed"
)"
(cd .. && xgettext --from-code=UTF-8 --keyword=_ --keyword=N_ --keyword=P_:1,2 -o "$tmp/all.pot" -f po/POTFILES.in)
for lang in $(cat LINGUAS); do
    check "$lang: formats" "$(msgfmt -c -o "$tmp/$lang.mo" "$lang.po" 2>&1)"
    msgmerge -q -N -o "$tmp/$lang.po" "$lang.po" "$tmp/all.pot"
    check "$lang: nothing untranslated" "$(
        msgattrib --untranslated --no-obsolete "$tmp/$lang.po" | grep '^msgid' | sed 1d | head -n 20
        msgattrib --only-fuzzy --no-obsolete "$tmp/$lang.po" | grep '^msgid' | sed 1d | head -n 20
    )"
done
echo "1..$n"
