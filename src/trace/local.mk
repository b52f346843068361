noinst_LTLIBRARIES += libtrace.la
libtrace_la_SOURCES = %D%/format.h %D%/layout.c %D%/layout.h %D%/image.c %D%/image.h %D%/chunk.c %D%/chunk.h \
	%D%/lanes.c %D%/lanes-blocks.c %D%/lanes.h %D%/writer.c %D%/writer.h %D%/writer-disk.c %D%/output.c %D%/output.h %D%/journal.c %D%/journal.h %D%/join.c %D%/survey.c %D%/join.h %D%/repair.c %D%/repair.h %D%/recover.c \
	%D%/reader.c %D%/reader.h %D%/header.c %D%/timeline.c %D%/peek.c %D%/session.c %D%/syncs.c %D%/syncs.h %D%/extension.c %D%/cells.c %D%/nonsense.c %D%/nonsense.h %D%/columns.c %D%/fold.c %D%/fold.h %D%/pyramid.c %D%/pyramid.h %D%/course.c %D%/course.h %D%/tower.c %D%/tower.h
libtrace_la_SOURCES += %D%/series.c %D%/series.h %D%/cuts.c %D%/names.c %D%/names.h %D%/parts.c %D%/reserve.c %D%/reserve.h %D%/doubt.c %D%/doubt.h %D%/gather.c %D%/joint.h
libtrace_la_SOURCES += %D%/dense.c %D%/dense.h %D%/hold.c %D%/hold.h %D%/keep.c %D%/keep-state.h %D%/keep-when.c %D%/keep-write.c %D%/kept.c %D%/kept.h
libtrace_la_SOURCES += %D%/rows.c %D%/check.c %D%/check.h %D%/check-extension.c
libtrace_la_SOURCES += %D%/shelf.c %D%/shelf.h %D%/cache.c %D%/cache.h %D%/store.c %D%/store.h %D%/builder.c %D%/builder.h %D%/build.c %D%/build.h %D%/sections.c %D%/shelves.c
libtrace_la_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
libtrace_la_SOURCES += %D%/again.c %D%/again.h %D%/apart.c %D%/apart.h %D%/resettle.c %D%/resettle.h %D%/recognize.c %D%/framer.c %D%/framer.h %D%/stream-about.c %D%/stream-in.c %D%/stream-in.h %D%/stream-rows.c %D%/stream-state.h %D%/stream-out.c \
	%D%/stream-out.h %D%/tail.c %D%/unpack.c %D%/unpack.h
libtrace_la_SOURCES += %D%/raw.c %D%/held-marks.c %D%/held-marks.h
