noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = %D%/err.c %D%/num.c %D%/clock.c %D%/root.c %D%/channel.c %D%/bin.c
