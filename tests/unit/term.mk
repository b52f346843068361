if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-term
tests_unit_test_term_SOURCES = %D%/test-term.c
tests_unit_test_term_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_term_LDADD = libterm.la libbase.la $(CMOCKA_LIBS) $(NCURSES_LIBS) $(TERMKEY_LIBS) $(LTLIBINTL)
endif
