if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-stream
tests_unit_test_stream_SOURCES = %D%/test-stream.c %D%/test-stream.h %D%/test-trace.h
tests_unit_test_stream_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_stream_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
check_PROGRAMS += tests/unit/test-stream-again
tests_unit_test_stream_again_SOURCES = %D%/test-stream-again.c %D%/test-stream.h %D%/test-trace.h
tests_unit_test_stream_again_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_stream_again_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
endif
