if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-conf
tests_unit_test_conf_SOURCES = %D%/test-conf.c
tests_unit_test_conf_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_conf_LDADD = libconf.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
endif
