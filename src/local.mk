# One archive for each room, in the order in which a sample travels.  A unit
# test links only the archives its room may use: an arrow that points upward
# does not link.
include src/base/local.mk
include src/board/local.mk
include src/probe/local.mk
include src/sampler/local.mk
include src/engine/local.mk
include src/history/local.mk
include src/trace/local.mk
include src/report/local.mk
include src/mark/local.mk
include src/proc/local.mk
include src/conf/local.mk
include src/ui/local.mk
include src/term/local.mk

# the rooms without a screen: what the program and the library have in common
rooms = libmark.la libengine.la libsampler.la libtrace.la libboard.la libprobe.la libbase.la

# for other programs
nvmtopincludedir = $(includedir)/nvmtop
nvmtopinclude_HEADERS = include/nvmtop/mark.h
include src/lib/local.mk

bin_PROGRAMS += src/nvmtop
src_nvmtop_SOURCES = %D%/main.c
include src/cmd/local.mk
src_nvmtop_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
src_nvmtop_LDADD = libreport.la libconf.la libui.la libterm.la libproc.la libhistory.la $(rooms) \
	$(NCURSES_LIBS) $(TERMKEY_LIBS) $(ZLIB_LIBS) $(JANSSON_LIBS) $(LTLIBINTL)

# the contracts
noinst_HEADERS = include/nvmtop/map.h \
	include/nvmtop/board.h include/nvmtop/canvas.h include/nvmtop/channel.h include/nvmtop/clock.h \
	include/nvmtop/condition.h include/nvmtop/conf.h \
	include/nvmtop/engine.h include/nvmtop/err.h include/nvmtop/descriptors.h include/nvmtop/event.h include/nvmtop/history.h \
	include/nvmtop/intl.h include/nvmtop/keep.h include/nvmtop/lateness.h include/nvmtop/marks.h include/nvmtop/num.h include/nvmtop/probe.h include/nvmtop/procs.h include/nvmtop/replace.h include/nvmtop/report.h include/nvmtop/root.h \
	include/nvmtop/settings.h \
	include/nvmtop/stream.h include/nvmtop/term.h include/nvmtop/thread.h include/nvmtop/timeline.h include/nvmtop/trace.h \
	include/nvmtop/ui.h
