dist_sbin_SCRIPTS = %D%/nvmtop-setup
# below the prefix: systemd looks there for /usr and /usr/local
systemdunitdir = $(prefix)/lib/systemd/system
nodist_systemdunit_DATA = %D%/nvmtop-setup.service
EXTRA_DIST += %D%/nvmtop-setup.service.in
CLEANFILES += %D%/nvmtop-setup.service
%D%/nvmtop-setup.service: %D%/nvmtop-setup.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && $(SED) 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/%D%/nvmtop-setup.service.in >$@
