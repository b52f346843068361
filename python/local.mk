# Nothing is written into the module when it is built: it also works from here, and with pip.
EXTRA_DIST += %D%/pyproject.toml %D%/nvmtop/py.typed
if HAVE_PYTHON
pkgpython_PYTHON = %D%/nvmtop/__init__.py %D%/nvmtop/live.py %D%/nvmtop/control.py %D%/nvmtop/fastnvmetrics.py \
	%D%/nvmtop/jtop.py
pkgpython_DATA = %D%/nvmtop/py.typed
# Where it looks may be nowhere below the prefix.
install-data-hook:
	@if $(PYTHON) -c 'import site, sys; sys.exit(sys.argv[1] not in sys.path + site.getsitepackages())' '$(pythondir)' 2>/dev/null; \
	then echo "nvmtop: the Python module is in $(pythondir), where $(PYTHON) looks; for another Python: PYTHONPATH=$(pythondir)"; \
	else echo "nvmtop: the Python module is in $(pythondir), where $(PYTHON) does not look: PYTHONPATH=$(pythondir)"; fi
# An empty folder would be an empty module.
uninstall-hook:
	-@rmdir '$(DESTDIR)$(pkgpythondir)/__pycache__' '$(DESTDIR)$(pkgpythondir)' 2>/dev/null || :
endif
