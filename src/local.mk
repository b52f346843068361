# Each source is compiled once, position independent, for the program, both
# libraries and the tests.  sources.mk is written by sources.sh.
include src/sources.mk
EXTRA_DIST += src/sources.sh

noinst_LIBRARIES += src/libcore.a
src_libcore_a_SOURCES = $(core_sources)
core = src/libcore.a
core_LIBS = $(core) $(NCURSES_LIBS) $(TERMKEY_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS) $(LTLIBINTL)

bin_PROGRAMS += src/nvmtop
src_nvmtop_SOURCES = $(cli_sources)
src_nvmtop_LDADD = $(core_LIBS)

# Nsight Systems starts this program; it looks for it beside the .yaml.
nsysexecdir = $(pkglibexecdir)/nsys-plugin
nsysexec_PROGRAMS = src/nsys/nvmtop-nsys
src_nsys_nvmtop_nsys_SOURCES = src/nsys/nvmtop-nsys.c
src_nsys_nvmtop_nsys_LDADD = $(core_LIBS)
dist_nsysexec_DATA = src/nsys/nsys-plugin.yaml

# What runs as root for `nvmtop control`.  Of the libraries it has only what it needs.
helperdir = $(pkglibexecdir)
helper_PROGRAMS = src/nvmtop-control
src_nvmtop_control_SOURCES = $(helper_sources)
src_nvmtop_control_LDADD = $(core) $(LTLIBINTL)
# The same for tests: below --sysroot, without root.  Never installed.
noinst_PROGRAMS += src/nvmtop-control-test
src_nvmtop_control_test_SOURCES = $(helper_sources)
src_nvmtop_control_test_CPPFLAGS = $(AM_CPPFLAGS) -DNVMTOP_CONTROL_TEST='"$(abs_top_srcdir)/boards"'
src_nvmtop_control_test_LDADD = $(core) $(LTLIBINTL)

nvmtopincludedir = $(includedir)/nvmtop
nvmtopinclude_HEADERS = include/nvmtop/mark.h include/nvmtop/nvmtop.h

# libnvmtop, for other programs.  A change of the interface that is not an
# addition starts a new SONAME.
soname = libnvmtop.so.1
shared = libnvmtop.so.1.0.0
noinst_LIBRARIES += src/libapi.a
src_libapi_a_SOURCES = $(lib_sources)
noinst_DATA += $(shared) libnvmtop.a
$(shared): src/libapi.a $(core)
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(SAN_LDFLAGS) $(SHARED_LDFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(soname) -Wl,-z,defs \
		-o $@ -Wl,--whole-archive src/libapi.a -Wl,--no-whole-archive $(core) $(ZLIB_LIBS) $(ZSTD_LIBS) $(LTLIBINTL) $(LIBS) && \
	ln -sf $(shared) $(soname) && ln -sf $(soname) libnvmtop.so
# In an archive each name would meet the names of the program that it is linked
# into: all but the interface become local.
libnvmtop.a: src/libapi.a $(core)
	$(AM_V_AR)rm -f $@ libnvmtop-all.o && \
	$(LD) -r -o libnvmtop-all.o --whole-archive src/libapi.a --no-whole-archive $(core) && \
	$(OBJCOPY) --localize-hidden libnvmtop-all.o && \
	$(AR) cr $@ libnvmtop-all.o && rm -f libnvmtop-all.o
install-exec-local: $(shared) libnvmtop.a
	$(MKDIR_P) '$(DESTDIR)$(bindir)' '$(DESTDIR)$(man1dir)'
	ln -sf nvmtop '$(DESTDIR)$(bindir)/nvmtop-tegrastats'
	ln -sf nvmtop.1 '$(DESTDIR)$(man1dir)/nvmtop-tegrastats.1'
	$(MKDIR_P) '$(DESTDIR)$(libdir)'
	$(INSTALL_PROGRAM) $(shared) '$(DESTDIR)$(libdir)/$(shared)'
	cd '$(DESTDIR)$(libdir)' && ln -sf $(shared) $(soname) && ln -sf $(soname) libnvmtop.so
	$(INSTALL_DATA) libnvmtop.a '$(DESTDIR)$(libdir)/libnvmtop.a'
# Programs find the library once it is in the loader's cache.
install-exec-hook:
	@PATH=$$PATH:/usr/sbin:/sbin; test -z '$(DESTDIR)' && command -v ldconfig >/dev/null || exit 0; \
	for f in `ldconfig -p 2>/dev/null | $(SED) -n 's/^.*$(soname) .*=> //p'`; do test "$$f" -ef '$(libdir)/$(soname)' && exit 0; done; \
	for d in `ldconfig -v -N -X 2>/dev/null | $(SED) -n 's|^\(/[^:]*\):.*|\1|p'`; do test "$$d" -ef '$(libdir)' && \
		echo "nvmtop: run ldconfig, so that programs find libnvmtop in $(libdir)" && exit 0; done; \
	echo "nvmtop: programs do not find libnvmtop in $(libdir): add this folder to /etc/ld.so.conf.d and run ldconfig, or set LD_LIBRARY_PATH"
uninstall-local:
	rm -f '$(DESTDIR)$(bindir)/nvmtop-tegrastats' '$(DESTDIR)$(man1dir)/nvmtop-tegrastats.1'
	cd '$(DESTDIR)$(libdir)' && rm -f libnvmtop.so $(soname) $(shared) libnvmtop.a
CLEANFILES += $(shared) $(soname) libnvmtop.so libnvmtop.a

# libnvmtop-nvtx.so, which programs with NVTX load.  It has no dependency but libc.
noinst_LIBRARIES += src/libnvtx.a
src_libnvtx_a_SOURCES = $(nvtx_sources)
nvtx = libnvmtop-nvtx.so
pkglibexec_SCRIPTS = $(nvtx)
$(nvtx): src/libnvtx.a
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(SAN_LDFLAGS) $(SHARED_LDFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-z,nodelete \
		-o $@ -Wl,--whole-archive src/libnvtx.a -Wl,--no-whole-archive -lpthread
CLEANFILES += $(nvtx)

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = src/lib/nvmtop.pc

# These know where things are installed, which another run of configure may change.
src/board/find.$(OBJEXT) src/control/ask.$(OBJEXT) src/cli/env.$(OBJEXT) src/lib/recorder.$(OBJEXT) src/cli/main.$(OBJEXT) src/nsys/nvmtop-nsys.$(OBJEXT) \
	src/helper/helper.$(OBJEXT): Makefile
