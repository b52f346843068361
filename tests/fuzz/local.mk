# ./configure --enable-fuzzing CC=clang; tests/fuzz/fuzz-trace tests/traces
if FUZZING
noinst_PROGRAMS += tests/fuzz/fuzz-trace
tests_fuzz_fuzz_trace_SOURCES = %D%/fuzz-trace.c
tests_fuzz_fuzz_trace_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_trace_LDADD = libtrace.la libbase.la $(ZLIB_LIBS) $(LTLIBINTL)
noinst_PROGRAMS += tests/fuzz/fuzz-condition
tests_fuzz_fuzz_condition_SOURCES = %D%/fuzz-condition.c
tests_fuzz_fuzz_condition_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_condition_LDADD = libbase.la $(LTLIBINTL)
endif
