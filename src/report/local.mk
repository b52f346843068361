noinst_LTLIBRARIES += libreport.la
libreport_la_SOURCES = %D%/pick.c %D%/pick.h %D%/out.c %D%/out.h %D%/sieve.c %D%/sieve.h %D%/stats.c %D%/stats.h \
	%D%/over-time.c %D%/student.c %D%/analysis.c %D%/analysis.h %D%/table.c %D%/data.c %D%/compare.c %D%/compare.h \
	%D%/compare-data.c %D%/compare-table.c %D%/report.c %D%/cut.c %D%/join-files.c %D%/pour.c %D%/pour.h \
	%D%/export.c %D%/export.h %D%/export-text.c %D%/export-perfetto.c
