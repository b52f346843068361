noinst_LIBRARIES += libsampler.a
libsampler_a_SOURCES = %D%/grid.c %D%/grid.h %D%/ring.c %D%/ring.h %D%/sampler.c %D%/sampler.h
