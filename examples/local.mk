# These run from the build directory. tests/lib/install.t also builds those of the library against the installed one.
noinst_PROGRAMS += %D%/energy-window %D%/profile-phases %D%/read-trace %D%/nvtx-ranges
examples_energy_window_SOURCES = %D%/energy-window.c
examples_energy_window_LDADD = $(shared)
examples_energy_window_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,'$(abs_top_builddir)'
examples_profile_phases_SOURCES = %D%/profile-phases.c
examples_profile_phases_LDADD = $(shared)
examples_profile_phases_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,'$(abs_top_builddir)'
examples_read_trace_SOURCES = %D%/read-trace.c
examples_read_trace_LDADD = $(shared)
examples_read_trace_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,'$(abs_top_builddir)'
examples_nvtx_ranges_SOURCES = %D%/nvtx-ranges.c
examples_nvtx_ranges_LDADD =
EXTRA_DIST += %D%/compare-energy.sh %D%/inference-joules.py %D%/plot-trace.py %D%/profile-training.py \
	%D%/ros2-diagnostics.py %D%/sqlite-exporter.py %D%/zeus-soc.py
