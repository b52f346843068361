noinst_LTLIBRARIES += libsampler.la
libsampler_la_SOURCES = %D%/grid.c %D%/grid.h %D%/pacer.c %D%/pacer.h %D%/ring.c %D%/ring.h %D%/sampler.c %D%/sampler.h
