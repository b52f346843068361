noinst_LIBRARIES += libterm.a
libterm_a_SOURCES = %D%/term.c %D%/input.c %D%/input.h %D%/tty.c %D%/tty.h %D%/kind.c %D%/kind.h \
	%D%/palette.c %D%/palette.h %D%/crash.c %D%/crash.h
libterm_a_CFLAGS = $(AM_CFLAGS) $(NCURSES_CFLAGS) $(TERMKEY_CFLAGS)
