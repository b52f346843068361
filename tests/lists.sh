#!/bin/sh
# Lists the tests for automake, so that a new one needs no entry; autoconf runs it.
cd "$(dirname "$0")/.." || exit 1
list() {
    name=$1
    shift
    printf '%s =' "$name"
    find "$@" | LC_ALL=C sort | while read -r f; do printf ' \\\n\t%s' "${f%.c}"; done
    echo
}
{
    list unit_tests tests/unit -name 'test-*.c'
    list script_tests tests -name '*.t'
    # headers, and what tests read and run
    list test_files tests -mindepth 2 -type f ! -path 'tests/roots/*' \( -name '*.h' -o -name '*.py' -o -name '*.sh' -o -name '*.md' -o -path '*.txt' \
        -o -path 'tests/expected/*' -o -path 'tests/traces/*' \)
} >tests/lists.mk.new
if cmp -s tests/lists.mk.new tests/lists.mk; then rm tests/lists.mk.new; else mv tests/lists.mk.new tests/lists.mk; fi
