noinst_LTLIBRARIES += libengine.la
libengine_la_SOURCES = %D%/collect.c %D%/collect.h %D%/engine.c %D%/thread.c %D%/thread.h %D%/own.c %D%/own.h %D%/watch.c %D%/watch.h
