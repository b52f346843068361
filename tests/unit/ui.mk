if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-canvas tests/unit/test-spark tests/unit/test-ui-parts tests/unit/test-ui \
	tests/unit/test-ui-events tests/unit/test-ui-views tests/unit/test-ui-time tests/unit/test-ui-arrange
tests_unit_test_ui_arrange_SOURCES = %D%/test-ui-arrange.c %D%/ui-bench.h %D%/canvas-text.h %D%/ui-fake.h
tests_unit_test_ui_arrange_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ui_arrange_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_canvas_SOURCES = %D%/test-canvas.c %D%/canvas-text.h
tests_unit_test_canvas_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_canvas_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_spark_SOURCES = %D%/test-spark.c %D%/canvas-text.h %D%/ui-fake.h
tests_unit_test_spark_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_spark_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_ui_parts_SOURCES = %D%/test-ui-parts.c %D%/ui-fake.h
tests_unit_test_ui_parts_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ui_parts_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_ui_SOURCES = %D%/test-ui.c %D%/ui-bench.h %D%/canvas-text.h %D%/ui-fake.h
tests_unit_test_ui_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ui_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_ui_events_SOURCES = %D%/test-ui-events.c %D%/ui-bench.h %D%/canvas-text.h %D%/ui-fake.h
tests_unit_test_ui_events_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ui_events_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_ui_views_SOURCES = %D%/test-ui-views.c %D%/ui-bench.h %D%/canvas-text.h %D%/ui-fake.h
tests_unit_test_ui_views_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ui_views_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
tests_unit_test_ui_time_SOURCES = %D%/test-ui-time.c %D%/ui-bench.h %D%/canvas-text.h %D%/ui-fake.h
tests_unit_test_ui_time_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ui_time_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
check_PROGRAMS += tests/unit/test-ui-files
tests_unit_test_ui_files_SOURCES = %D%/test-ui-files.c %D%/ui-bench.h %D%/canvas-text.h %D%/ui-fake.h
tests_unit_test_ui_files_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ui_files_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
check_PROGRAMS += tests/unit/test-ui-with
tests_unit_test_ui_with_SOURCES = %D%/test-ui-with.c %D%/ui-bench.h %D%/canvas-text.h %D%/ui-fake.h
tests_unit_test_ui_with_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_ui_with_LDADD = libui.la libbase.la $(CMOCKA_LIBS) $(LTLIBINTL)
endif
