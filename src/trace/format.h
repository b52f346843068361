/* format: NVMT version 1 byte by byte; see nvmtop-trace(5).
 *
 * Every field is put and got one byte at a time: no struct goes to disk, so
 * neither padding nor the byte order of the machine is ever in a file. */
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
#define NAME_SIZE 24 /* of a rail or a zone, with its NUL */

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

enum { /* offsets in a fast, a medium, a slow row; the time is at 0 in each */
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

static inline void put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void put_u32(uint8_t *p, uint32_t v)
{
	put_u16(p, (uint16_t)v);
	put_u16(p + 2, (uint16_t)(v >> 16));
}

static inline void put_u64(uint8_t *p, uint64_t v)
{
	put_u32(p, (uint32_t)v);
	put_u32(p + 4, (uint32_t)(v >> 32));
}

static inline void put_f32(uint8_t *p, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_u32(p, bits);
}

static inline void put_f64(uint8_t *p, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_u64(p, bits);
}

static inline uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t get_u32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t get_u64(const uint8_t *p)
{
	return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}

static inline float get_f32(const uint8_t *p)
{
	uint32_t bits = get_u32(p);
	float v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline double get_f64(const uint8_t *p)
{
	uint64_t bits = get_u64(p);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

#endif
