noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = %D%/err.c %D%/num.c %D%/num-text.c %D%/clock.c %D%/descriptors.c %D%/root.c %D%/channel.c %D%/bin.c %D%/lateness.c %D%/map.c %D%/marks.c %D%/patient.c %D%/patient.h %D%/replace.c %D%/thread.c \
	%D%/condition.c %D%/condition-bind.c %D%/condition-eval.c %D%/condition-find.c %D%/terms.h
