# The yardstick of cost.py; built with everything, so that a measurement needs no more than a build.
noinst_PROGRAMS += tests/bench/reader
tests_bench_reader_SOURCES = %D%/reader.c
EXTRA_DIST += %D%/bench-engine.c %D%/cost.py
