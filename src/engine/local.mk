noinst_LIBRARIES += libengine.a
libengine_a_SOURCES = %D%/collect.c %D%/collect.h %D%/engine.c %D%/watch.c %D%/watch.h
