#!/bin/sh
# Every catalogue is valid: its formats match the arguments. Completeness is checked by
# check-release.sh.
. "$NVMTOP_SRC/tests/cli/lib.sh"
command -v msgfmt >/dev/null || { echo '1..0 # SKIP gettext is not installed: ./bootstrap installs it'; exit 0; }
valid() {
    msgfmt --check --output-file=/dev/null "$1" 2>why || { cat why; return 1; }
}
for lang in $(cat "$NVMTOP_SRC/po/LINGUAS"); do
    ok "$lang is valid" valid "$NVMTOP_SRC/po/$lang.po"
done
sed 's/^msgstr "\(.*\)%s/msgstr "\1%d/' "$NVMTOP_SRC/po/de.po" >wrong.po
ok 'a wrong format is rejected' sh -c '! msgfmt --check --output-file=/dev/null wrong.po'
done_testing
