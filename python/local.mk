# The library's folder is written into the module when it is built.
EXTRA_DIST += %D%/nvmtop.py.in
if HAVE_PYTHON
nodist_python_PYTHON = %D%/nvmtop.py
noinst_DATA += %D%/nvmtop.py
python/nvmtop.py: %D%/nvmtop.py.in Makefile
	$(AM_V_GEN)$(MKDIR_P) python && sed 's|@libdir[@]|$(libdir)|' $(srcdir)/python/nvmtop.py.in >$@.tmp && mv $@.tmp $@
CLEANFILES += %D%/nvmtop.py
# Where it looks may be nowhere below the prefix.
install-data-hook:
	@if $(PYTHON) -c 'import site, sys; sys.exit(sys.argv[1] not in sys.path + site.getsitepackages())' '$(pythondir)' 2>/dev/null; \
	then echo "nvmtop: the Python module is in $(pythondir), where $(PYTHON) looks; for another Python: PYTHONPATH=$(pythondir)"; \
	else echo "nvmtop: the Python module is in $(pythondir), where $(PYTHON) does not look: PYTHONPATH=$(pythondir)"; fi
endif
