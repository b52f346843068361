noinst_LTLIBRARIES += libproc.la
libproc_la_SOURCES = %D%/parse.c %D%/procs.c %D%/read.c %D%/read.h
