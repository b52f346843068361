#!/bin/sh
# Lists the sources for automake, so that a new file needs no entry: run by
# configure.ac each time autoreconf reads it.
cd "$(dirname "$0")/.." || exit 1
list() {
	name=$1
	shift
	printf '%s =' "$name"
	find "$@" -name '*.[ch]' | LC_ALL=C sort | while read -r f; do printf ' \\\n\t%s' "$f"; done
	echo
}
{
	list core_sources $(find src -mindepth 1 -maxdepth 1 -type d ! -name cli ! -name lib ! -name nvtx ! -name nsys ! -name helper) src/nsys/nvtx-client.c src/nsys/nvtx-client.h
	list cli_sources src/cli
	list lib_sources src/lib
	list nvtx_sources src/nvtx
	list helper_sources src/helper
} >src/sources.mk.new
if cmp -s src/sources.mk.new src/sources.mk; then rm src/sources.mk.new; else mv src/sources.mk.new src/sources.mk; fi
