noinst_LTLIBRARIES += libterm.la
libterm_la_SOURCES = %D%/term.c %D%/input.c %D%/input.h %D%/filter.c %D%/filter.h %D%/tty.c %D%/tty.h %D%/kind.c %D%/kind.h \
	%D%/env.c %D%/env.h %D%/painter.c %D%/painter.h %D%/palette.c %D%/palette.h %D%/crash.c %D%/crash.h %D%/shift.c %D%/shift.h %D%/trim.c %D%/trim.h %D%/svg.c %D%/truecolor.c \
	%D%/truecolor.h
libterm_la_CFLAGS = $(AM_CFLAGS) $(NCURSES_CFLAGS) $(TERMKEY_CFLAGS)
