if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-term tests/unit/test-term-bytes tests/unit/test-palette
tests_unit_test_palette_SOURCES = %D%/test-palette.c
tests_unit_test_palette_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_palette_LDADD = libterm.la $(CMOCKA_LIBS) -lm
tests_unit_test_term_bytes_SOURCES = %D%/test-term-bytes.c
tests_unit_test_term_bytes_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_term_bytes_LDADD = libterm.la $(CMOCKA_LIBS)
tests_unit_test_term_SOURCES = %D%/test-term.c
tests_unit_test_term_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_term_LDADD = libterm.la libbase.la $(CMOCKA_LIBS) $(NCURSES_LIBS) $(TERMKEY_LIBS) $(LTLIBINTL)
endif
