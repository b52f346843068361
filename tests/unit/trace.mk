if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-trace-pyramid
tests_unit_test_trace_pyramid_SOURCES = %D%/test-trace-pyramid.c %D%/test-trace.h
tests_unit_test_trace_pyramid_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_trace_pyramid_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
check_PROGRAMS += tests/unit/test-trace-round tests/unit/test-trace-damage tests/unit/test-trace-writer \
	tests/unit/test-trace-recover
tests_unit_test_trace_round_SOURCES = %D%/test-trace-round.c %D%/test-trace.h
tests_unit_test_trace_round_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_trace_round_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
tests_unit_test_trace_damage_SOURCES = %D%/test-trace-damage.c %D%/test-trace.h
tests_unit_test_trace_damage_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_trace_damage_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
tests_unit_test_trace_writer_SOURCES = %D%/test-trace-writer.c %D%/test-trace.h
tests_unit_test_trace_writer_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_trace_writer_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
tests_unit_test_trace_recover_SOURCES = %D%/test-trace-recover.c %D%/test-trace.h
tests_unit_test_trace_recover_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_trace_recover_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
check_PROGRAMS += tests/unit/test-trace-nonsense
tests_unit_test_trace_nonsense_SOURCES = %D%/test-trace-nonsense.c %D%/test-trace.h
tests_unit_test_trace_nonsense_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_trace_nonsense_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
check_PROGRAMS += tests/unit/test-trace-series
tests_unit_test_trace_series_SOURCES = %D%/test-trace-series.c %D%/test-trace.h
tests_unit_test_trace_series_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_trace_series_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
# its own functions in front of those that write
check_PROGRAMS += tests/unit/test-trace-faults
tests_unit_test_trace_faults_SOURCES = %D%/test-trace-faults.c %D%/test-trace.h
tests_unit_test_trace_faults_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_trace_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pwrite -Wl,--wrap=pread -Wl,--wrap=fdatasync \
	-Wl,--wrap=fsync -Wl,--wrap=ftruncate -Wl,--wrap=renameat2 -Wl,--wrap=linkat -Wl,--wrap=unlinkat
tests_unit_test_trace_faults_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
check_PROGRAMS += tests/unit/test-trace-memory
tests_unit_test_trace_memory_SOURCES = %D%/test-trace-memory.c %D%/test-trace.h
tests_unit_test_trace_memory_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_trace_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc \
	-Wl,--wrap=reallocarray -Wl,--wrap=free
tests_unit_test_trace_memory_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
endif
EXTRA_DIST += tests/traces/small.bin tests/traces/version-1.bin tests/traces/pyramid.bin
