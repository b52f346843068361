if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-keep tests/unit/test-hold tests/unit/test-search
tests_unit_test_keep_SOURCES = %D%/test-keep.c %D%/test-trace.h
tests_unit_test_keep_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_keep_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
# its own functions in front of those that allocate
tests_unit_test_hold_SOURCES = %D%/test-hold.c %D%/random.h
tests_unit_test_hold_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_hold_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=reallocarray -Wl,--wrap=mmap
tests_unit_test_hold_LDADD = libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
tests_unit_test_search_SOURCES = %D%/test-search.c %D%/test-trace.h
tests_unit_test_search_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_search_LDADD = libhistory.la libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
endif
