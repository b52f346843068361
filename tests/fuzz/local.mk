# ./configure --enable-fuzzing CC=clang; tests/fuzz/fuzz-trace tests/traces
if FUZZING
noinst_PROGRAMS += tests/fuzz/fuzz-trace
tests_fuzz_fuzz_trace_SOURCES = %D%/fuzz-trace.c
tests_fuzz_fuzz_trace_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_trace_LDADD = libtrace.la libbase.la $(ZLIB_LIBS) $(LTLIBINTL)
noinst_PROGRAMS += tests/fuzz/fuzz-stream
tests_fuzz_fuzz_stream_SOURCES = %D%/fuzz-stream.c
tests_fuzz_fuzz_stream_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_stream_LDADD = libhistory.la libtrace.la libbase.la $(ZLIB_LIBS) $(LTLIBINTL)
noinst_PROGRAMS += tests/fuzz/fuzz-condition
tests_fuzz_fuzz_condition_SOURCES = %D%/fuzz-condition.c
tests_fuzz_fuzz_condition_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_condition_LDADD = libbase.la $(LTLIBINTL)
noinst_PROGRAMS += tests/fuzz/fuzz-input
tests_fuzz_fuzz_input_SOURCES = %D%/fuzz-input.c
tests_fuzz_fuzz_input_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_input_LDADD = libterm.la libbase.la $(NCURSES_LIBS) $(TERMKEY_LIBS) $(LTLIBINTL)
else
# The same without a fuzzer: a fixed number of inputs from a fixed beginning.
check_PROGRAMS += tests/fuzz/try-input
tests_fuzz_try_input_SOURCES = %D%/fuzz-input.c %D%/try.c
tests_fuzz_try_input_LDADD = libterm.la libbase.la $(NCURSES_LIBS) $(TERMKEY_LIBS) $(LTLIBINTL)
endif
# the same target with changes of its own, in every make check
check_PROGRAMS += tests/fuzz/run-trace
tests_fuzz_run_trace_SOURCES = %D%/run-trace.c %D%/fuzz-trace.c
tests_fuzz_run_trace_LDADD = libtrace.la libbase.la $(ZLIB_LIBS) $(LTLIBINTL)
check_PROGRAMS += tests/fuzz/run-report
tests_fuzz_run_report_SOURCES = %D%/run-trace.c %D%/fuzz-report.c
tests_fuzz_run_report_LDADD = libreport.la libtrace.la libbase.la $(ZLIB_LIBS) $(LTLIBINTL)
if FUZZING
noinst_PROGRAMS += tests/fuzz/fuzz-report
tests_fuzz_fuzz_report_SOURCES = %D%/fuzz-report.c
tests_fuzz_fuzz_report_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_report_LDADD = libreport.la libtrace.la libbase.la $(ZLIB_LIBS) $(LTLIBINTL)
endif
# the screen: see there for how to make many more runs
check_PROGRAMS += tests/fuzz/try-ui
tests_fuzz_try_ui_SOURCES = %D%/try-ui.c %D%/stage.c %D%/stage.h %D%/tape.c %D%/tape.h tests/unit/random.h
tests_fuzz_try_ui_LDADD = libui.la libbase.la $(LTLIBINTL)
