if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-ring tests/unit/test-sampler tests/unit/test-engine tests/unit/test-history \
	tests/unit/test-live-replay
tests_unit_test_ring_SOURCES = %D%/test-ring.c
tests_unit_test_ring_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ring_LDADD = libsampler.a libbase.a $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_sampler_SOURCES = %D%/test-sampler.c %D%/fake-rig.h
tests_unit_test_sampler_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sampler_LDADD = libsampler.a libprobe.a libbase.a $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_engine_SOURCES = %D%/test-engine.c %D%/fake-rig.h
tests_unit_test_engine_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_engine_LDADD = libengine.a libsampler.a libprobe.a libbase.a $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_history_SOURCES = %D%/test-history.c
tests_unit_test_history_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_history_LDADD = libhistory.a libbase.a $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_live_replay_SOURCES = %D%/test-live-replay.c
tests_unit_test_live_replay_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_live_replay_LDADD = libhistory.a libtrace.a libbase.a $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
endif
