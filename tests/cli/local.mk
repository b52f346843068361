dist_check_SCRIPTS += \
	%D%/boards.t %D%/cpu.t %D%/epochs.t %D%/gpu.t %D%/keep.t %D%/mark.t %D%/once.t %D%/options.t %D%/print.t %D%/record.t %D%/record-command.t \
	%D%/record-errors.t %D%/record-signals.t %D%/recover.t %D%/replay-errors.t %D%/roots.t %D%/setup.t \
	%D%/slow.t %D%/ssh.t %D%/stream.t %D%/views.t
EXTRA_DIST += %D%/lib.sh
check_PROGRAMS += tests/tools/spin
tests_tools_spin_SOURCES = tests/tools/spin.c
if HAVE_FUSE
check_PROGRAMS += tests/tools/slowfs
tests_tools_slowfs_SOURCES = tests/tools/slowfs.c
tests_tools_slowfs_CFLAGS = $(AM_CFLAGS) $(FUSE_CFLAGS)
tests_tools_slowfs_LDADD = $(FUSE_LIBS)
endif
check_PROGRAMS += tests/tools/stalls
tests_tools_stalls_SOURCES = tests/tools/stalls.c
EXTRA_DIST += tests/tools/killer.py
dist_check_SCRIPTS += %D%/kill.t %D%/split.t
dist_check_SCRIPTS += %D%/processes.t
dist_check_SCRIPTS += %D%/with.t
dist_check_SCRIPTS += %D%/config.t
dist_check_SCRIPTS += %D%/descriptors.t
dist_check_SCRIPTS += %D%/locale.t
