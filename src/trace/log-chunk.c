/* Packs and unpacks chunks of the log: head, checksums and codec; finds the next head after damaged bytes. */
#include <zlib.h>
#include <zstd.h>

#include "trace/format.h"
#include "trace/log.h"

/* Prepared arrays repeat only in long runs: short matches cost more than they save, and a small
 * table is faster to clear. */
static const struct {
	ZSTD_cParameter what;
	int value;
} packing[] = {{ZSTD_c_compressionLevel, 1}, {ZSTD_c_minMatch, 7}, {ZSTD_c_hashLog, 12}};

static const uint8_t log_magic[4] = {0xAB, 0x4E, 0x56, 0x0A};
const uint8_t log_signature[8] = {0x89, 0x4E, 0x56, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A};

uint32_t log_crc(const uint8_t *p, size_t n)
{
	return (uint32_t)crc32_z(0, p, n);
}

void log_shuffle(uint8_t *restrict out, const uint8_t *restrict in, size_t n, size_t size)
{
	for (size_t k = 0; k < size; k++)
		for (size_t i = 0; i < n; i++)
			*out++ = in[i * size + k];
}

void log_unshuffle(uint8_t *restrict out, const uint8_t *restrict in, size_t n, size_t size)
{
	for (size_t k = 0; k < size; k++)
		for (size_t i = 0; i < n; i++)
			out[i * size + k] = *in++;
}

bool log_head_get(const uint8_t p[LOG_HEAD], struct log_head *h)
{
	if (memcmp(p, log_magic, sizeof(log_magic)) || get_u32(p + 44) != log_crc(p, 44))
		return false;
	h->kind = p[4];
	h->version = p[5];
	h->codec = p[6];
	h->flags = p[7];
	h->session = get_u32(p + 8);
	h->generation = get_u32(p + 12);
	h->seq = get_u64(p + 16);
	h->stored = get_u32(p + 24);
	h->raw = get_u32(p + 28);
	h->cell = (int64_t)get_u64(p + 32);
	h->crc = get_u32(p + 40);
	return h->stored <= LOG_STORED_MAX && h->raw <= LOG_RAW_MAX && h->cell < LOG_CELL_LIMIT &&
	       h->cell > -LOG_CELL_LIMIT;
}

void log_head_put(uint8_t p[LOG_HEAD], const struct log_head *h)
{
	memcpy(p, log_magic, sizeof(log_magic));
	p[4] = h->kind;
	p[5] = h->version;
	p[6] = h->codec;
	p[7] = h->flags;
	put_u32(p + 8, h->session);
	put_u32(p + 12, h->generation);
	put_u64(p + 16, h->seq);
	put_u32(p + 24, h->stored);
	put_u32(p + 28, h->raw);
	put_u64(p + 32, (uint64_t)h->cell);
	put_u32(p + 40, h->crc);
	put_u32(p + 44, log_crc(p, 44));
}

size_t log_find(const uint8_t *p, size_t n, uint32_t session)
{
	size_t end = n < LOG_HEAD ? 0 : n - LOG_HEAD + 1;
	struct log_head h;

	for (size_t at = 0; at < end; at++) {
		const uint8_t *next = memchr(p + at, log_magic[0], end - at);

		if (!next)
			break;
		at = (size_t)(next - p);
		if (log_head_get(next, &h) && (!session || h.session == session))
			return at;
	}
	return end;
}

struct log_packer *log_packer_new(void)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	for (size_t i = 0; zstd && i < sizeof(packing) / sizeof(packing[0]); i++)
		if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, packing[i].what, packing[i].value))) {
			ZSTD_freeCCtx(zstd);
			return NULL;
		}
	return (struct log_packer *)zstd;
}

void log_packer_free(struct log_packer *k)
{
	ZSTD_freeCCtx((ZSTD_CCtx *)k);
}

int log_pack(struct log_packer *k, struct log_head *h, const uint8_t *raw, size_t n, struct log_bytes *out)
{
	size_t signature = h->kind == LOG_META ? sizeof(log_signature) : 0, start = out->n;
	uint8_t *p = log_bytes_add(out, LOG_HEAD + signature + ZSTD_compressBound(n));
	uint8_t *to = p + LOG_HEAD + signature;
	size_t packed;

	if (!p)
		return -1;
	packed = ZSTD_compress2((ZSTD_CCtx *)k, to, ZSTD_compressBound(n), raw, n);
	h->codec = !ZSTD_isError(packed) && packed < n ? LOG_ZSTD : LOG_PLAIN;
	if (h->codec == LOG_PLAIN) {
		memcpy(to, raw, n);
		packed = n;
	}
	packed += signature;
	out->n = start;
	if (packed > LOG_STORED_MAX || n > LOG_RAW_MAX)
		return -1;
	memcpy(p + LOG_HEAD, log_signature, signature);
	h->version = LOG_VERSION;
	h->stored = (uint32_t)packed;
	h->raw = (uint32_t)n;
	h->crc = log_crc(p + LOG_HEAD, packed);
	log_head_put(p, h);
	out->n += LOG_HEAD + packed;
	return 0;
}

struct log_unpacker *log_unpacker_new(void)
{
	return (struct log_unpacker *)ZSTD_createDCtx();
}

void log_unpacker_free(struct log_unpacker *u)
{
	ZSTD_freeDCtx((ZSTD_DCtx *)u);
}

enum log_unpacked log_unpack(struct log_unpacker *u, const struct log_head *h, const uint8_t *stored,
			     struct log_bytes *out)
{
	size_t n = h->stored, done;

	if (n > LOG_STORED_MAX || h->raw > LOG_RAW_MAX || log_crc(stored, n) != h->crc)
		return LOG_BAD_SUM;
	if (h->kind == LOG_META) {
		if (n < sizeof(log_signature))
			return LOG_BAD_FRAME;
		stored += sizeof(log_signature);
		n -= sizeof(log_signature);
	}
	if (h->codec != LOG_PLAIN && h->codec != LOG_ZSTD)
		return LOG_BAD_CODEC;
	if (h->codec == LOG_PLAIN ? n != h->raw : ZSTD_getFrameContentSize(stored, n) != h->raw)
		return LOG_BAD_FRAME;
	out->n = 0;
	if (!log_bytes_add(out, h->raw))
		return h->raw ? LOG_NO_MEMORY : LOG_OK;
	if (h->codec == LOG_PLAIN) {
		memcpy(out->p, stored, n);
		return LOG_OK;
	}
	done = ZSTD_decompressDCtx((ZSTD_DCtx *)u, out->p, h->raw, stored, n);
	return !ZSTD_isError(done) && done == h->raw ? LOG_OK : LOG_BAD_FRAME;
}
