if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-probe-gpu tests/unit/test-probe-engine tests/unit/test-probe-nvml tests/unit/test-probe-slow
tests_unit_test_probe_gpu_SOURCES = %D%/test-probe-gpu.c %D%/test-probe-tree.h
tests_unit_test_probe_gpu_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_gpu_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_probe_engine_SOURCES = %D%/test-probe-engine.c %D%/test-probe-tree.h
tests_unit_test_probe_engine_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_engine_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_probe_slow_SOURCES = %D%/test-probe-slow.c
tests_unit_test_probe_slow_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_slow_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_now_ns
tests_unit_test_probe_slow_LDADD = libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
# -rdynamic: the program itself is the library that it loads
tests_unit_test_probe_nvml_SOURCES = %D%/test-probe-nvml.c %D%/test-probe-tree.h
tests_unit_test_probe_nvml_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_probe_nvml_LDFLAGS = $(AM_LDFLAGS) -rdynamic
tests_unit_test_probe_nvml_LDADD = libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
endif
EXTRA_DIST += tests/bench/nvml-check.sh
