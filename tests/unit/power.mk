if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-probe-power tests/unit/test-probe-stall
tests_unit_test_probe_power_SOURCES = %D%/test-probe-power.c %D%/test-probe-tree.h
tests_unit_test_probe_power_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_power_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_probe_stall_SOURCES = %D%/test-probe-stall.c %D%/fake-pread.h %D%/test-probe-tree.h
tests_unit_test_probe_stall_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_stall_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
endif
