if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-board-parse tests/unit/test-board-find \
	tests/unit/test-probe-cpu tests/unit/test-probe-errno tests/unit/test-probe-sensors tests/unit/test-bundle
tests_unit_test_board_parse_SOURCES = %D%/test-board-parse.c %D%/test-probe-tree.h
tests_unit_test_board_parse_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_board_parse_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_board_find_SOURCES = %D%/test-board-find.c %D%/test-probe-tree.h
tests_unit_test_board_find_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_board_find_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_probe_cpu_SOURCES = %D%/test-probe-cpu.c %D%/test-probe-tree.h
tests_unit_test_probe_cpu_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_cpu_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_bundle_SOURCES = %D%/test-bundle.c %D%/fake-rig.h %D%/test-probe-tree.h
tests_unit_test_bundle_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_bundle_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_probe_sensors_SOURCES = %D%/test-probe-sensors.c %D%/test-probe-tree.h
tests_unit_test_probe_sensors_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_sensors_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_probe_errno_SOURCES = %D%/test-probe-errno.c %D%/fake-pread.h %D%/test-probe-tree.h
tests_unit_test_probe_errno_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_errno_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
endif
