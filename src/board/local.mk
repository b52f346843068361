noinst_LIBRARIES += libboard.a
libboard_a_SOURCES = %D%/lex.c %D%/lex.h %D%/parse.c %D%/parsed.h %D%/find.c %D%/match.c %D%/detect.c %D%/tables.c \
	%D%/facts.c %D%/resolve.c
