#!/bin/sh
# The manual pages have no errors and document every key and option.
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
# Every description in the program's key table is in the manual.
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
# Each option is in the same section as in --help, and the manual has no others. Options of a single
# verb are listed only there.
dir=$(mktemp -d)
# helped VERB: "section option" of each
helped() {
    $EMU "$NVMTOP" $1 --help | awk -v verb="$1" '
        /^Verbs/ { skip = 1 }
        /^Keys/ { exit }
        /^[A-Z].*:$/ && !/^Verbs/ { skip = 0; title = substr($0, 1, length($0) - 1)
            if (title == "Options") title = "nvmtop " verb }
        !skip && /^  .*--[a-z]/ { match($0, /--[a-z-]+/); print title ":" substr($0, RSTART, RLENGTH) }'
}
{
    helped ''
    for verb in $($EMU "$NVMTOP" --help | sed -n '/^Verbs/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        helped "$verb"
        grep -qx ".Ss nvmtop $verb" nvmtop.1 && echo "$verb" >>"$dir/verbs"
    done
} | LC_ALL=C sort -u >"$dir/help"
awk '/^\.Sh/ { on = /VERBS|SHARED OPTIONS/ } /^\.Ss/ { title = substr($0, 5) }
    on && /^\.It .*Fl Fl / { option = $0; sub(/.*Fl Fl /, "", option); sub(/ .*/, "", option)
        print title ":--" option }' nvmtop.1 | LC_ALL=C sort -u >"$dir/manual"
n=$((n + 1))
if test -s "$dir/help" && diff "$dir/help" "$dir/manual" >"$dir/diff"; then
    echo "ok $n - --help and the manual have the same options"
else
    echo "not ok $n - --help and the manual have the same options"
    sed 's/^/# /' "$dir/diff"
fi
n=$((n + 1))
if test "$(wc -l <"$dir/verbs")" = "$($EMU "$NVMTOP" --help | sed -n '/^Verbs/,/^$/p' | grep -c '^  ')"; then
    echo "ok $n - the manual has every verb"
else
    echo "not ok $n - the manual has every verb"
fi
# The arguments of the plugin of nsys, as its own message lists them.
$EMU "${NVMTOP%/*}/nsys/nvmtop-nsys" '?' 2>&1 | grep -oE '[a-z]+=[A-Z]' | sed 's/=.*//' | sort >"$dir/said"
sed -n 's/^\.It Cm \([a-z]*\) Ns = Ns Ar .*/\1/p' nvmtop-nsys.1 | sort >"$dir/manual"
n=$((n + 1))
if test -s "$dir/said" && diff "$dir/said" "$dir/manual" >"$dir/diff"; then
    echo "ok $n - nvmtop-nsys(1) has the arguments of the plugin"
else
    echo "not ok $n - nvmtop-nsys(1) has the arguments of the plugin"
    sed 's/^/# /' "$dir/diff"
fi
rm -rf "$dir"
echo "1..$n"
