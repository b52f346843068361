noinst_LTLIBRARIES += libui.la
libui_la_SOURCES = %D%/canvas.c %D%/spark.c %D%/spark.h %D%/quantity.c %D%/quantity.h %D%/layout.c %D%/layout.h \
	%D%/viewport.c %D%/viewport.h %D%/chart.c %D%/chart.h %D%/keys.c %D%/keys.h %D%/goto.c %D%/goto.h %D%/span.c %D%/span.h %D%/prompt.c %D%/search.c %D%/select.c \
	%D%/screen.h %D%/rows.c %D%/header.c %D%/axis.c %D%/events.c %D%/strip.c %D%/ui.c %D%/label.c %D%/act.c %D%/mouse.c \
	%D%/align.c %D%/align.h %D%/second.c %D%/second.h %D%/views.c %D%/charts.c %D%/arrange.c %D%/row-draw.c %D%/about.c %D%/text.c %D%/frame.c %D%/energy.c \
	%D%/view-overview.c %D%/view-gpu.c %D%/view-cpu.c %D%/view-memory.c %D%/view-power.c \
	%D%/view-thermal.c %D%/phases.c %D%/phases.h %D%/phases-list.c %D%/phases-sides.c %D%/view-epochs.c %D%/view-board.c %D%/processes-order.c %D%/view-processes.c %D%/view-help.c %D%/view-setup.c %D%/view-files.c
