if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-procs
tests_unit_test_procs_SOURCES = %D%/test-procs.c
tests_unit_test_procs_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_procs_LDADD = libproc.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
endif
