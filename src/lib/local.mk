# libnvmtop: what other programs link, made of the same rooms as the program
noinst_LTLIBRARIES += libapi.la
libapi_la_SOURCES = %D%/lib.h %D%/recorder.c %D%/reading.c %D%/signals.c
nvmtopinclude_HEADERS += include/nvmtop/nvmtop.h

# Revision, age: every change of the code adds 1 to the revision; one of the
# interface that adds to it starts a new current and adds 1 to the age.
lib_LTLIBRARIES += libnvmtop.la
libnvmtop_la_SOURCES =
libnvmtop_la_LIBADD = libapi.la $(rooms) $(ZLIB_LIBS) $(LTLIBINTL)
libnvmtop_la_LDFLAGS = $(SAN_LDFLAGS) $(SHARED_LDFLAGS) -shared -no-undefined -version-info 1:0:1 \
	-export-symbols-regex '^nvmtop_'

# In an archive every name of every room would meet the names of the program
# that it is linked into: all but the interface become local.
staticlibdir = $(libdir)
staticlib_DATA = libnvmtop.a
libnvmtop.a: libapi.la $(rooms)
	$(AM_V_AR)rm -f $@ libnvmtop-all.o && \
	$(LD) -r -o libnvmtop-all.o --whole-archive .libs/libapi.a $(rooms:lib%.la=.libs/lib%.a) && \
	$(OBJCOPY) --wildcard --keep-global-symbol='nvmtop_*' libnvmtop-all.o && \
	$(AR) cr $@ libnvmtop-all.o && rm -f libnvmtop-all.o
CLEANFILES += libnvmtop.a

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = %D%/nvmtop.pc
