noinst_LTLIBRARIES += libhistory.la
libhistory_la_SOURCES = %D%/history.c %D%/pyramid.c %D%/pyramid.h
