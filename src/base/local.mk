noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = %D%/err.c %D%/num.c %D%/clock.c %D%/root.c %D%/channel.c %D%/bin.c
