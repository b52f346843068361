TEST_EXTENSIONS = .t
# A test that hangs fails, also if only a program that it left behind keeps its output open.
limit = timeout -k 10 600
LOG_DRIVER = timeout -k 10 660 env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
T_LOG_DRIVER = $(LOG_DRIVER)
# EMU runs the programs under an emulator when they were built for another machine.
AM_TESTS_ENVIRONMENT = CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	NVMTOP='$(abs_top_builddir)/src/nvmtop'; export NVMTOP; \
	NVMTOP_SRC='$(abs_top_srcdir)'; export NVMTOP_SRC; \
	NVMTOP_BOARDS='$(abs_top_srcdir)/boards'; export NVMTOP_BOARDS; \
	NVMTOP_ROOTS='$(abs_top_builddir)/tests/roots'; export NVMTOP_ROOTS; \
	CC="$(CC)"; export CC; EMU="$(EMU)"; export EMU; \
	LC_ALL=C.UTF-8; export LC_ALL; TZ=UTC0; export TZ;
LOG_COMPILER = $(limit)
T_LOG_COMPILER = $(limit) $(SHELL)

# Written by lists.sh: each tests/unit/test-NAME.c is a program, each .t a script.
include tests/lists.mk
EXTRA_DIST += tests/lists.sh $(test_files) tests/tools/slowdisk.c tests/tools/nvtx-receiver.c tests/tools/nvml-fake.c
dist_check_SCRIPTS += $(script_tests)
TESTS += $(check_PROGRAMS) $(dist_check_SCRIPTS)

# The fake boards, as folders; see tests/boards.
check_DATA += unpack-boards
unpack-boards:
	@$(PYTHON) $(top_srcdir)/tests/tools/board.py unpack tests/roots $(top_srcdir)/tests/boards/*.txt
clean-local:
	rm -rf tests/roots
.PHONY: unpack-boards release-check screenshots

# docs/screenshots, anew: the same bytes from the same sources and tools.
screenshots: tests/tools/shots$(EXEEXT)
	@PYTHON='$(PYTHON)' $(SHELL) $(abs_top_srcdir)/tests/tools/screenshots.sh '$(abs_top_builddir)/tests/tools/shots' '$(abs_top_srcdir)'

# Of a release: translations are complete, and all of this holds for aarch64, too.
release-check: check
	@$(SHELL) $(top_srcdir)/tests/tools/check-release.sh $(abs_top_srcdir) '$(abs_top_builddir)/$(nvtx)'

# These say so when the machine was too busy to measure on: they run alone, after all others.
tests/cli/slow.log: $(filter-out tests/cli/slow.log tests/cli/cpu.log,$(TEST_LOGS))
tests/cli/cpu.log: $(filter-out tests/cli/cpu.log,$(TEST_LOGS))

# Programs that scripts run.
helpers = tests/tools/spin tests/tools/stalls tests/tools/marked tests/tools/counted tests/tools/ranges tests/tools/shots tests/pty/termtest tests/nvtx/nvtx-dump
if HAVE_FUSE
helpers += tests/tools/slowfs
endif
EXTRA_PROGRAMS += $(helpers)
check_DATA += $(helpers)
tests_tools_slowfs_CFLAGS = $(AM_CFLAGS) $(FUSE_CFLAGS)
tests_tools_slowfs_LDADD = $(FUSE_LIBS)
tests_tools_counted_LDADD = $(LDADD) -lrt # timers, in glibc before 2.34
tests_tools_shots_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_now_ns -Wl,--wrap=clock_anchor

if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests) tests/lib/test-lib tests/lib/test-live tests/lib/test-threads
endif
# Tests with functions of their own in front of others.
tests_unit_test_clocks_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_anchor
tests_unit_test_log_out_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fdatasync
tests_unit_test_log_files_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fdatasync -Wl,--wrap=write
tests_unit_test_ui_screen_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=canvas_put -Wl,--wrap=canvas_text \
	-Wl,--wrap=canvas_textf -Wl,--wrap=canvas_right
tests_unit_test_tally_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=engine_made -Wl,--wrap=engine_peek
tests_unit_test_scrape_LDFLAGS = $(tests_unit_test_tally_LDFLAGS)
# its functions stand in for those of the C library
tests_unit_test_quiet_CFLAGS = $(AM_CFLAGS) -fvisibility=default
# -rdynamic: the program itself is the library that it loads
tests_unit_test_probe_nvml_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_unit_test_probe_nvml_LDFLAGS = $(AM_LDFLAGS) -rdynamic
# the program exports what an injection library exports
tests_unit_test_nvtx_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_unit_test_nvtx_LDFLAGS = $(AM_LDFLAGS) -rdynamic
tests_lib_test_lib_LDADD = $(shared) $(CMOCKA_LIBS)
tests_lib_test_lib_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,'$(abs_top_builddir)'
tests_lib_test_live_LDADD = $(shared) $(CMOCKA_LIBS)
tests_lib_test_live_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,'$(abs_top_builddir)'
tests_lib_test_threads_LDADD = src/libapi.a $(LDADD)
tests_unit_test_power_sum_LDADD = src/libapi.a $(LDADD)
tests_lib_test_threads_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create

# Fuzzing: ./configure --enable-fuzzing CC=clang; tests/fuzz/fuzz-trace tests/traces
if FUZZING
noinst_PROGRAMS += tests/fuzz/fuzz-trace tests/fuzz/fuzz-stream tests/fuzz/fuzz-condition tests/fuzz/fuzz-input tests/fuzz/fuzz-report
else
# The same without a fuzzer: a fixed number of inputs from a fixed beginning.
check_PROGRAMS += tests/fuzz/try-input
endif
tests_fuzz_fuzz_trace_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_stream_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_condition_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_input_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_report_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_try_input_SOURCES = tests/fuzz/fuzz-input.c tests/fuzz/try.c
# the same targets with changes of their own, in every make check
check_PROGRAMS += tests/fuzz/run-trace tests/fuzz/run-report
tests_fuzz_run_trace_SOURCES = tests/fuzz/run-trace.c tests/fuzz/fuzz-trace.c
tests_fuzz_run_report_SOURCES = tests/fuzz/run-trace.c tests/fuzz/fuzz-report.c
tests_fuzz_run_report_CPPFLAGS = $(AM_CPPFLAGS) -DROUNDS=300
# and with changes of chunks, records and fields whose checksums are right
check_PROGRAMS += tests/fuzz/mutate-trace tests/fuzz/mutate-report tests/fuzz/mutate-stream
tests_fuzz_mutate_trace_SOURCES = tests/fuzz/mutate.c tests/fuzz/fuzz-trace.c
tests_fuzz_mutate_report_SOURCES = tests/fuzz/mutate.c tests/fuzz/fuzz-report.c
tests_fuzz_mutate_stream_SOURCES = tests/fuzz/mutate.c tests/fuzz/fuzz-stream.c
# the screen: see there for how to make many more runs
check_PROGRAMS += tests/fuzz/try-ui
tests_fuzz_try_ui_SOURCES = tests/fuzz/try-ui.c tests/fuzz/stage.c tests/fuzz/tape.c

# Measurements.  The reader is the yardstick of cost.py, built with everything, so that
# a measurement needs no more than a build; make tests/bench/bench-trace
noinst_PROGRAMS += tests/bench/reader
EXTRA_PROGRAMS += tests/bench/bench-trace tests/bench/live tests/bench/log-size tests/bench/memory tests/bench/zooms
tests_bench_memory_LDADD = $(LDADD) -ldl
tests_bench_live_LDADD = $(shared) -lm
tests_bench_live_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,'$(abs_top_builddir)'
EXTRA_DIST += tests/bench/animator.c tests/bench/bench-engine.c tests/bench/bench-mark.c tests/bench/nvtx.c

CLEANFILES += $(EXTRA_PROGRAMS)
