noinst_LTLIBRARIES += libconf.la
libconf_la_SOURCES = %D%/words.c %D%/words.h %D%/read.c %D%/write.c %D%/file.c
