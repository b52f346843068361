if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-num-text tests/unit/test-report
tests_unit_test_num_text_SOURCES = %D%/test-num-text.c %D%/random.h
tests_unit_test_num_text_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_num_text_LDADD = libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_report_SOURCES = %D%/test-report.c %D%/random.h
tests_unit_test_report_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_report_LDADD = libreport.la libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
endif
dist_check_SCRIPTS += tests/cli/report.t tests/cli/export.t tests/cli/cut.t tests/cli/check.t
EXTRA_DIST += tests/tools/nvmt_write.py tests/tools/report_truth.py tests/tools/export_truth.py tests/tools/perfetto.py
