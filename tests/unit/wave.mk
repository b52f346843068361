if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-wave
tests_unit_test_wave_SOURCES = %D%/test-wave.c
tests_unit_test_wave_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_wave_LDADD = libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
endif
