dist_check_SCRIPTS += %D%/lib.t %D%/install.t
if HAVE_CMOCKA
check_PROGRAMS += tests/lib/test-lib
tests_lib_test_lib_SOURCES = %D%/test-lib.c
tests_lib_test_lib_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_lib_test_lib_LDADD = libnvmtop.la $(CMOCKA_LIBS)
tests_lib_test_lib_LDFLAGS = $(AM_LDFLAGS) -no-install
# its own function in front of the one that makes threads
check_PROGRAMS += tests/lib/test-threads
tests_lib_test_threads_SOURCES = %D%/test-threads.c
tests_lib_test_threads_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_lib_test_threads_LDADD = libapi.la $(rooms) $(CMOCKA_LIBS) $(ZLIB_LIBS) $(LTLIBINTL)
tests_lib_test_threads_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create
endif
if HAVE_PYTHON
dist_check_SCRIPTS += %D%/python.t
EXTRA_DIST += %D%/module.py
endif
