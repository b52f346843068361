EXTRA_DIST += tests/bench/bench-mark.c
