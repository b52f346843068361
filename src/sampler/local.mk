noinst_LTLIBRARIES += libsampler.la
libsampler_la_SOURCES = %D%/grid.c %D%/grid.h %D%/ring.c %D%/ring.h %D%/sampler.c %D%/sampler.h
