noinst_LTLIBRARIES += libboard.la
libboard_la_SOURCES = %D%/lex.c %D%/lex.h %D%/parse.c %D%/parser.h %D%/parsed.h %D%/say.c %D%/find.c %D%/match.c %D%/detect.c %D%/tables.c \
	%D%/facts.c %D%/resolve.c
