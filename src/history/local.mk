noinst_LIBRARIES += libhistory.a
libhistory_a_SOURCES = %D%/history.c %D%/pyramid.c %D%/pyramid.h
