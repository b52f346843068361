/* format: NVMT version 1 byte by byte; see nvmtop-trace(5).
 *
 * Every field is stored and loaded separately: no struct is written to disk, so files contain no padding. */
#ifndef NVMTOP_TRACE_FORMAT_H
#define NVMTOP_TRACE_FORMAT_H

#include <stdint.h>
#include <string.h>

#define NVMT_MAGIC   UINT32_C(0x4E564D54)
#define NVMT_VERSION 1

#define HEADER_SIZE 728
#define FAST_SIZE   98
#define MEDIUM_SIZE 104
#define SLOW_SIZE   72
#define SYNC_SIZE   16

#define MAX_CORES 16
#define MAX_RAILS 8
#define MAX_ZONES 16
#define NAME_SIZE 24 /* of a rail or a zone, including its NUL */

enum { /* offsets in the header */
       H_MAGIC = 0,
       H_VERSION = 4,
       H_BOARD = 8,
       H_CORES = 40,
       H_RAILS = 41,
       H_ZONES = 42,
       H_EMC = 43,
       H_HZ = 44,     /* u32[3]: fast, medium, slow */
       H_COUNTS = 56, /* u64[4]: fast, medium, slow, sync points */
       H_RAIL_NAMES = 88,
       H_ZONE_NAMES = 280,
       H_RESERVED = 664
};

enum { /* offsets in a fast, medium or slow row; the time is at 0 in each */
       F_GPU = 8,
       F_CORES = 10,
       F_CPU = 74,
       F_RAM_USED = 78,
       F_RAM_AVAILABLE = 86,
       F_EMC = 94,
       M_VOLTAGE = 8,
       M_CURRENT = 40,
       M_POWER = 72,
       S_TEMPERATURE = 8
};

/* put_u16(p, v), get_u16(p), ...: p need not be aligned. */
#define FORMAT_TYPE(name, type)                                                                              \
	static inline void put_##name(uint8_t *p, type v)                                                    \
	{                                                                                                    \
		memcpy(p, &v, sizeof(v));                                                                    \
	}                                                                                                    \
	static inline type get_##name(const uint8_t *p)                                                      \
	{                                                                                                    \
		type v;                                                                                      \
                                                                                                             \
		memcpy(&v, p, sizeof(v));                                                                    \
		return v;                                                                                    \
	}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers of the file formats are little-endian");
FORMAT_TYPE(u16, uint16_t)
FORMAT_TYPE(u32, uint32_t)
FORMAT_TYPE(u64, uint64_t)
FORMAT_TYPE(f32, float)
FORMAT_TYPE(f64, double)

#endif
