#!/bin/sh
# The list of the sources with texts to translate, for xgettext and configure; autoconf runs it.
cd "$(dirname "$0")/.." || exit 1
grep -rlE --include='*.[ch]' '\b(N?_|P_)\(' src | LC_ALL=C sort >po/POTFILES.new &&
	{ cmp -s po/POTFILES.new po/POTFILES.in || cp po/POTFILES.new po/POTFILES.in; }
rm -f po/POTFILES.new
