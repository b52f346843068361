if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-probe-cpu-idle tests/unit/test-probe-cpu-perf tests/unit/test-probe-cpu-freq
tests_unit_test_probe_cpu_idle_SOURCES = %D%/test-probe-cpu-idle.c %D%/test-probe-tree.h
tests_unit_test_probe_cpu_idle_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_cpu_idle_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_probe_cpu_perf_SOURCES = %D%/test-probe-cpu-perf.c
tests_unit_test_probe_cpu_perf_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_cpu_perf_LDADD = libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_probe_cpu_freq_SOURCES = %D%/test-probe-cpu-freq.c %D%/test-probe-tree.h
tests_unit_test_probe_cpu_freq_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_cpu_freq_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
endif
