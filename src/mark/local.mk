noinst_LTLIBRARIES += libmark.la
libmark_la_SOURCES = %D%/folder.c %D%/folder.h %D%/inbox.c %D%/parse.c %D%/send.c
