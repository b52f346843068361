# What shells complete. The options come from the tables of the parser, which a program for the building machine prints:
# the flags for nvmtop are not for that one, and it needs no config.h.
EXTRA_DIST += %D%/generate.c %D%/bash/nvmtop.in %D%/zsh/_nvmtop.in %D%/fish/nvmtop.fish.in
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
fishcompdir = $(datadir)/fish/vendor_completions.d
dist_bashcomp_DATA = %D%/bash/nvmtop-setup
dist_fishcomp_DATA = %D%/fish/nvmtop-setup.fish
if HAVE_COMPLETION
tables = $(filter-out src/cli/main.c src/cli/nsys.c,$(filter %.c,$(cli_sources))) src/app/settings-text.c src/report/range-report.c
%D%/generate: %D%/generate.c $(cli_sources) $(tables) src/ui/view.h src/report/report.h
	$(AM_V_GEN)$(MKDIR_P) %D% && $(CC_FOR_BUILD) $(FLAGS_FOR_BUILD) -w -O0 -D_GNU_SOURCE -DPACKAGE='""' -DPACKAGE_VERSION='""' \
		-DPKGLIBEXECDIR='""' -DLOCALEDIR='""' -I$(top_srcdir)/include -I$(top_srcdir)/src -o $@ \
		$(top_srcdir)/%D%/generate.c $(addprefix $(top_srcdir)/,$(tables))
%D%/table: %D%/generate
	$(AM_V_GEN)%D%/generate >$@.tmp && mv $@.tmp $@
completions = %D%/bash/nvmtop %D%/zsh/_nvmtop %D%/fish/nvmtop.fish
nodist_bashcomp_DATA = %D%/bash/nvmtop
nodist_zshcomp_DATA = %D%/zsh/_nvmtop
nodist_fishcomp_DATA = %D%/fish/nvmtop.fish
$(completions): %: %.in %D%/table Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e '/^@table@/{r %D%/table' -e 'd;}' -e 's|@boards@|$(boarddir)|' $< >$@.tmp && mv $@.tmp $@
CLEANFILES += %D%/generate %D%/table $(completions)
endif
