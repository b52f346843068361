check_PROGRAMS += tests/pty/termtest
tests_pty_termtest_SOURCES = %D%/termtest.c
tests_pty_termtest_LDADD = libterm.la libui.la libbase.la $(NCURSES_LIBS) $(TERMKEY_LIBS) $(LTLIBINTL)

dist_check_SCRIPTS += %D%/line.t %D%/durable.t %D%/keep.t %D%/mark.t %D%/shrink.t %D%/term-keys.t %D%/term-session.t %D%/term-kinds.t %D%/time.t %D%/remote.t %D%/top.t %D%/views.t
EXTRA_DIST += tests/tools/terminal.py %D%/lib.sh %D%/line.py
dist_check_SCRIPTS += %D%/processes.t %D%/with.t
dist_check_SCRIPTS += %D%/form.t
dist_check_SCRIPTS += %D%/keys.t
dist_check_SCRIPTS += %D%/complete.t
dist_check_SCRIPTS += %D%/hang.t %D%/disk.t
