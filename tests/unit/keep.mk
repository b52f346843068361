if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-keep
tests_unit_test_keep_SOURCES = %D%/test-keep.c %D%/test-trace.h
tests_unit_test_keep_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_keep_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
endif
