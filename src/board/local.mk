noinst_LTLIBRARIES += libboard.la
libboard_la_SOURCES = %D%/lex.c %D%/lex.h %D%/parse.c %D%/parsed.h %D%/find.c %D%/match.c %D%/detect.c %D%/tables.c \
	%D%/facts.c %D%/resolve.c
