noinst_LTLIBRARIES += libprobe.la
libprobe_la_SOURCES = %D%/rig.c %D%/open.c %D%/open.h %D%/describe.c %D%/attr.c %D%/attr.h %D%/attr-iio.c \
	%D%/probe-cpu.c %D%/cpu.h %D%/cpu-look.c %D%/cpu-perf.c %D%/cpu-idle.c %D%/cpu-stat.c \
	%D%/probe-cpufreq.c %D%/probe-load.c %D%/probe-iowait.c %D%/probe-meminfo.c %D%/probe-gpu.c %D%/nvgpu.c %D%/nvgpu.h %D%/probe-gate.c %D%/gate.h \
	%D%/probe-engine.c %D%/nvml.c %D%/nvml.h %D%/probe-nvml.c %D%/probe-nvml.h %D%/probe-memory.c %D%/probe-emc.c %D%/probe-rail.c %D%/rail-chip.c %D%/rail-about.c %D%/rail.h \
	%D%/bundle.c %D%/slow.c %D%/slow.h %D%/crew.c %D%/crew.h %D%/probe-throttle.c %D%/probe-value.c %D%/probe-derived.c %D%/probe-wave.c \
	%D%/wave.c %D%/wave.h %D%/wave-op.c %D%/wave-op.h
