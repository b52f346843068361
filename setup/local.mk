dist_sbin_SCRIPTS = %D%/nvmtop-setup
# below the prefix: systemd looks there for /usr and /usr/local
systemdunitdir = $(prefix)/lib/systemd/system
nodist_systemdunit_DATA = %D%/nvmtop-setup.service %D%/nvmtop-record@.service %D%/nvmtop-serve.service
sysusersdir = $(prefix)/lib/sysusers.d
dist_sysusers_DATA = %D%/nvmtop.conf
# for /etc/nvmtop/record-NAME.conf
exampleconfdir = $(docdir)/examples
dist_exampleconf_DATA = %D%/nvmtop-record.conf
# who may run what nvmtop control starts as root
polkitdir = $(datadir)/polkit-1/actions
nodist_polkit_DATA = %D%/io.github.nvmtop.policy
EXTRA_DIST += %D%/io.github.nvmtop.policy.in %D%/nvmtop-setup.service.in %D%/nvmtop-record@.service.in %D%/nvmtop-serve.service.in
CLEANFILES += $(nodist_systemdunit_DATA) $(nodist_polkit_DATA)
unit_edit = $(AM_V_GEN)$(MKDIR_P) %D% && $(SED) 's|@bindir[@]|$(bindir)|g; s|@sbindir[@]|$(sbindir)|g; s|@pkglibexecdir[@]|$(pkglibexecdir)|g'
%D%/nvmtop-setup.service: %D%/nvmtop-setup.service.in Makefile
	$(unit_edit) $(srcdir)/%D%/nvmtop-setup.service.in >$@
%D%/nvmtop-record@.service: %D%/nvmtop-record@.service.in Makefile
	$(unit_edit) '$(srcdir)/%D%/nvmtop-record@.service.in' >$@
%D%/nvmtop-serve.service: %D%/nvmtop-serve.service.in Makefile
	$(unit_edit) $(srcdir)/%D%/nvmtop-serve.service.in >$@
%D%/io.github.nvmtop.policy: %D%/io.github.nvmtop.policy.in Makefile
	$(unit_edit) $(srcdir)/%D%/io.github.nvmtop.policy.in >$@
