if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-stream
tests_unit_test_stream_SOURCES = %D%/test-stream.c %D%/test-trace.h
tests_unit_test_stream_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_stream_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
endif
