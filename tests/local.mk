TEST_EXTENSIONS = .t
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
T_LOG_DRIVER = $(LOG_DRIVER)
# EMU runs the programs under an emulator when they were built for another machine.
AM_TESTS_ENVIRONMENT = CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	NVMTOP='$(abs_top_builddir)/src/nvmtop'; export NVMTOP; \
	NVMTOP_SRC='$(abs_top_srcdir)'; export NVMTOP_SRC; \
	NVMTOP_BOARDS='$(abs_top_srcdir)/boards'; export NVMTOP_BOARDS; \
	CC="$(CC)"; export CC; EMU="$(EMU)"; export EMU; \
	LC_ALL=C.UTF-8; export LC_ALL; TZ=UTC0; export TZ;
T_LOG_COMPILER = $(SHELL)

include tests/unit/base.mk
include tests/unit/board.mk
include tests/unit/conf.mk
include tests/unit/cpu.mk
include tests/unit/power.mk
include tests/unit/engine.mk
include tests/unit/mark.mk
include tests/unit/gpu.mk
include tests/unit/trace.mk
include tests/unit/stream.mk
include tests/unit/report.mk
include tests/unit/keep.mk
include tests/unit/ui.mk
include tests/unit/term.mk
include tests/unit/wave.mk
include tests/unit/procs.mk
include tests/lib/local.mk
include tests/cli/local.mk
include tests/pty/local.mk
include tests/fuzz/local.mk
include tests/bench/local.mk

dist_check_SCRIPTS += %D%/tools/check-headers.t %D%/tools/check-layers.t %D%/tools/check-man.t %D%/tools/check-po.t
# fake boards, traces and screens: kept as they are, so that git shows a changed value as one line
EXTRA_DIST += %D%/roots %D%/expected %D%/screens %D%/traces
EXTRA_DIST += %D%/tools/check-aarch64.sh %D%/tools/marks.py %D%/tools/mkroot.sh %D%/tools/nvmt.py %D%/tools/sshd.sh %D%/tools/tcpproxy.py

TESTS += $(check_PROGRAMS) $(dist_check_SCRIPTS)
EXTRA_DIST += %D%/bench/screen.py
