# The library's folder is written into the module when it is built.
EXTRA_DIST += %D%/nvmtop.py.in
if HAVE_PYTHON
nodist_python_PYTHON = %D%/nvmtop.py
noinst_DATA = %D%/nvmtop.py
python/nvmtop.py: %D%/nvmtop.py.in Makefile
	$(AM_V_GEN)$(MKDIR_P) python && sed 's|@libdir[@]|$(libdir)|' $(srcdir)/python/nvmtop.py.in >$@.tmp && mv $@.tmp $@
CLEANFILES += %D%/nvmtop.py
endif
