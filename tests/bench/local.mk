# The yardstick of cost.py; built with everything, so that a measurement needs no more than a build.
noinst_PROGRAMS += tests/bench/reader
tests_bench_reader_SOURCES = %D%/reader.c
EXTRA_DIST += %D%/bench-engine.c %D%/cost.py
# make tests/bench/bench-trace
EXTRA_PROGRAMS = tests/bench/bench-trace
tests_bench_bench_trace_SOURCES = %D%/bench-trace.c
tests_bench_bench_trace_LDADD = libtrace.la libui.la libbase.la $(ZLIB_LIBS) $(LTLIBINTL)
CLEANFILES += $(EXTRA_PROGRAMS)
