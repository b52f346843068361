EXTRA_DIST += tests/bench/bench-mark.c
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-mark-parse tests/unit/test-trace-marks tests/unit/test-ui-marks
tests_unit_test_mark_parse_SOURCES = %D%/test-mark-parse.c
tests_unit_test_mark_parse_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_mark_parse_LDADD = libmark.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_trace_marks_SOURCES = %D%/test-trace-marks.c %D%/test-trace.h
tests_unit_test_trace_marks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_trace_marks_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
tests_unit_test_ui_marks_SOURCES = %D%/test-ui-marks.c %D%/ui-bench.h %D%/canvas-text.h %D%/ui-fake.h
tests_unit_test_ui_marks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ui_marks_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
endif
