if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-ring tests/unit/test-sampler tests/unit/test-engine tests/unit/test-history \
	tests/unit/test-live-replay tests/unit/test-own tests/unit/test-quiet tests/unit/test-summary
tests_unit_test_ring_SOURCES = %D%/test-ring.c
tests_unit_test_ring_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ring_LDADD = libsampler.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_sampler_SOURCES = %D%/test-sampler.c %D%/fake-rig.h
tests_unit_test_sampler_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sampler_LDADD = libsampler.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_engine_SOURCES = %D%/test-engine.c %D%/random.h %D%/fake-rig.h
tests_unit_test_engine_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_engine_LDADD = libengine.la libsampler.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_own_SOURCES = %D%/test-own.c %D%/fake-rig.h
tests_unit_test_own_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_own_LDADD = libengine.la libsampler.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_quiet_SOURCES = %D%/test-quiet.c
tests_unit_test_quiet_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_quiet_LDADD = libengine.la libsampler.la libhistory.la libboard.la libprobe.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL) -ldl
tests_unit_test_summary_SOURCES = %D%/test-summary.c src/cmd/summary.c src/cmd/tally.c src/cmd/text.c
tests_unit_test_summary_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_summary_LDADD = libui.la libterm.la libtrace.la libengine.la libsampler.la libprobe.la libbase.la $(CMOCKA_LIBS) \
	$(NCURSES_LIBS) $(TERMKEY_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
tests_unit_test_history_SOURCES = %D%/test-history.c %D%/random.h
tests_unit_test_history_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_history_LDADD = libhistory.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_live_replay_SOURCES = %D%/test-live-replay.c %D%/random.h
tests_unit_test_live_replay_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_live_replay_LDADD = libhistory.la libtrace.la libbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
endif
