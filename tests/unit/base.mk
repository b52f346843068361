if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-num tests/unit/test-err tests/unit/test-root tests/unit/test-bin tests/unit/test-condition \
	tests/unit/test-thread
tests_unit_test_num_SOURCES = %D%/test-num.c
tests_unit_test_num_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_num_LDADD = libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_err_SOURCES = %D%/test-err.c
tests_unit_test_err_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_err_LDADD = libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_root_SOURCES = %D%/test-root.c %D%/fake-pread.h
tests_unit_test_root_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_root_LDADD = libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_bin_SOURCES = %D%/test-bin.c
tests_unit_test_bin_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_bin_LDADD = libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_thread_SOURCES = %D%/test-thread.c
tests_unit_test_thread_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_thread_LDADD = libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_condition_SOURCES = %D%/test-condition.c
tests_unit_test_condition_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_condition_LDADD = libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
endif
