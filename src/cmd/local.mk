src_nvmtop_SOURCES += \
	%D%/boards.c %D%/cmd.h %D%/files.c %D%/files.h %D%/keeping.c %D%/keeping.h %D%/label.c %D%/label.h %D%/live.c %D%/mark.c %D%/once.c %D%/options.c %D%/options.h %D%/option-values.c %D%/option-rules.c %D%/option-unknown.c \
	%D%/print.c %D%/record.c %D%/recover.c %D%/signals.c %D%/stream.c %D%/stream.h %D%/text.c %D%/top.c %D%/top.h %D%/ttykeys.c \
	%D%/ttykeys.h %D%/summary.c %D%/summary.h %D%/tally.c %D%/tally.h
src_nvmtop_SOURCES += %D%/remote.c %D%/remote.h
src_nvmtop_SOURCES += %D%/report.c %D%/export.c %D%/cut.c %D%/check.c %D%/progress.c %D%/progress.h
src_nvmtop_SOURCES += %D%/with.c %D%/chosen.c %D%/chosen.h %D%/config.c %D%/apart.c %D%/part.c %D%/saver.c %D%/saver.h
src_nvmtop_SOURCES += %D%/away.c %D%/away.h %D%/fetch.c %D%/fetch.h %D%/showing.c %D%/showing.h
src_nvmtop_SOURCES += %D%/copy.c %D%/copy.h
src_nvmtop_SOURCES += %D%/naming.c %D%/naming.h %D%/opening.c %D%/opening.h %D%/recording.c %D%/recording.h %D%/requests.c %D%/source.c %D%/source.h %D%/command.c %D%/command.h %D%/recorder.h %D%/recorder-line.c
