/* nvtx-local: between the entry points that NVTX calls and the ring.
 *
 * All of this may be called from any thread; it does not change errno, print or wait. */
#ifndef NVTX_LOCAL_H
#define NVTX_LOCAL_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "nvtx/nvtx-ring.h"

enum nvtx_type { NVTX_NO_STRING, NVTX_TEXT, NVTX_WIDE, NVTX_REGISTERED };
enum nvtx_number { NVTX_NO_NUMBER, NVTX_U64, NVTX_I64, NVTX_DOUBLE, NVTX_U32, NVTX_I32, NVTX_FLOAT };

/* nvtxEventAttributes_t; size is that of the caller. */
struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_type; /* 1: ARGB */
	uint32_t colour;
	int32_t payload_type, reserved; /* enum nvtx_number; others exist */
	uint64_t payload;
	int32_t message_type; /* enum nvtx_type */
	const void *message;
};

struct nvtx_string {
	const void *s;
	enum nvtx_type type;
};

/* Makes the file at the first call.  False: nothing is to be recorded. */
int nvtx_open(void);

/* A domain is its number in the file, 0 is the default one.  Attributes are whole, or NULL. */
uint32_t nvtx_domain(struct nvtx_string name);
/* The level of the range that begins or ends, per thread and domain; -1: there is none. */
int nvtx_push(uint32_t domain, struct nvtx_string message, const struct nvtx_attributes *a);
int nvtx_pop(uint32_t domain);
/* The id, never 0. */
uint64_t nvtx_start(uint32_t domain, struct nvtx_string message, const struct nvtx_attributes *a);
void nvtx_end(uint32_t domain, uint64_t id);
void nvtx_mark(uint32_t domain, struct nvtx_string message, const struct nvtx_attributes *a);
/* The handle of a string, to be given as NVTX_REGISTERED. */
void *nvtx_register(struct nvtx_string text);
/* Names a NVTX_THREAD (domain 0) or a NVTX_CATEGORY by its number. */
void nvtx_name(enum nvtx_kind kind, uint32_t domain, uint32_t number, struct nvtx_string name);

#endif
