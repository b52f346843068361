/* The cache is a convenience: whatever is wrong with it, the pyramid is made
 * again.  So nothing here is an error that anybody is told. */
#include "trace/cache.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "trace/output.h"

#define CHUNK_KEY   CHUNK_ID('N', 'V', 'P', 'C')
#define KEY_SIZE    (CHUNK_HEAD + STORE_ID + CHUNK_CRC)
#define ENTRY_SIZE  (8 + PYRAMID_HEAD)
#define FORMAT      1
#define BLOCKS_MOST 65536
#define HELD_MOST   ((size_t)24 << 20)
#define HELD        UINT64_MAX /* as the place of a piece: not in the file yet */

struct store {
	struct map map;
	int fd;  /* -1: in memory */
	int dir; /* of the cache; -1: the file has no name */
	char temp[NAME_MAX + 1], name[NAME_MAX + 1];
	struct store_id id;
	uint64_t most;
	atomic_ullong end;
	atomic_int n_blocks;
	atomic_size_t held; /* bytes that wait in memory */
	uint8_t **blocks;   /* in memory */
	bool named;
};

void store_identify(struct store_id *id, const struct stat *st, const uint8_t *map, size_t size)
{
	uint8_t *p = id->bytes;
	size_t tail = size < 4096 ? size : 4096;

	memset(p, 0, STORE_ID);
	put_u32(p, FORMAT);
	put_u64(p + 4, (uint64_t)st->st_dev);
	put_u64(p + 12, (uint64_t)st->st_ino);
	put_u64(p + 20, (uint64_t)st->st_size);
	put_u64(p + 28, (uint64_t)st->st_mtim.tv_sec);
	put_u64(p + 36, (uint64_t)st->st_mtim.tv_nsec);
	put_u64(p + 44, (uint64_t)st->st_ctim.tv_sec);
	put_u64(p + 52, (uint64_t)st->st_ctim.tv_nsec);
	put_u64(p + 60, size);
	put_u32(p + 68, chunk_crc(map, size < HEADER_SIZE ? size : HEADER_SIZE));
	put_u32(p + 72, chunk_crc(map + size - tail, tail));
}

static struct store *store_new(uint64_t most)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->fd = s->dir = -1;
	s->most = most;
	s->blocks = calloc(BLOCKS_MOST, sizeof(*s->blocks));
	if (!s->blocks) {
		free(s);
		return NULL;
	}
	return s;
}

struct store *store_memory(uint64_t most)
{
	return store_new(most);
}

static int temp_open(struct store *s)
{
	static atomic_uint turn;

	s->dir = cache_open();
	if (s->dir < 0 || s->most > store_cache_most / 2)
		return -1;
	cache_tidy(s->dir, s->most);
	cache_name(&s->id, s->name, sizeof(s->name));
	snprintf(s->temp, sizeof(s->temp), "%.40s.%ld.%u", s->name, (long)getpid(),
		 atomic_fetch_add(&turn, 1));
	return openat(s->dir, s->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static int nameless_open(void)
{
	const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		int fd = folders[i] && *folders[i] ? open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
						   : -1;

		if (fd >= 0)
			return fd;
	}
	return -1;
}

static void temp_remove(struct store *s)
{
	if (s->temp[0])
		unlinkat(s->dir, s->temp, 0);
	s->temp[0] = '\0';
}

struct store *store_file(const struct store_id *id, uint64_t most)
{
	struct store *s = store_new(most + KEY_SIZE);
	uint8_t key[KEY_SIZE];
	int fd;

	if (!s)
		return NULL;
	if (id)
		s->id = *id;
	fd = id ? temp_open(s) : -1;
	if (fd < 0) {
		s->temp[0] = '\0';
		fd = nameless_open();
	}
	memcpy(key + CHUNK_HEAD, s->id.bytes, STORE_ID);
	chunk_seal(key, CHUNK_KEY, STORE_ID);
	if (fd >= 0 && (write_at(fd, key, KEY_SIZE, 0) < 0 || ftruncate(fd, (off_t)s->most) < 0 ||
			map_open(&s->map, fd, (size_t)s->most) < 0)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		store_close(s);
		return NULL;
	}
	s->fd = fd;
	atomic_store(&s->end, KEY_SIZE);
	return s;
}

/* A copy in memory. */
static int block_put(struct store *s, const uint8_t *chunk, size_t n, const uint8_t **kept)
{
	int i = atomic_fetch_add(&s->n_blocks, 1);
	uint8_t *block = i < BLOCKS_MOST ? malloc(n) : NULL;

	if (!block)
		return -1;
	memcpy(block, chunk, n);
	s->blocks[i] = block;
	*kept = block;
	return 0;
}

int store_put(struct store *s, bool coarse, const uint8_t *chunk, size_t n, const uint8_t **kept,
	      uint64_t *at)
{
	uint64_t from;

	if (s->fd >= 0 && coarse && atomic_fetch_add(&s->held, n) + n <= HELD_MOST &&
	    block_put(s, chunk, n, kept) == 0) {
		*at = HELD;
		return 0;
	}
	*at = from = atomic_fetch_add(&s->end, n);
	if (from + n > s->most)
		return -1;
	if (s->fd < 0)
		return block_put(s, chunk, n, kept);
	*kept = s->map.bytes + from;
	return write_at(s->fd, chunk, n, (off_t)from);
}

uint64_t store_room(const struct store *s)
{
	return s->most;
}

bool store_in_memory(const struct store *s)
{
	return s->fd < 0;
}

void store_release(const struct store *s)
{
	if (s->fd >= 0)
		map_release(&s->map);
}

bool store_torn(const struct store *s)
{
	return s->fd >= 0 && map_torn(&s->map) < s->map.size;
}

/* The index: an entry a piece, and how many, at the end of the file. */
static size_t index_make(const struct shelf shelf[TIERS], uint8_t *p)
{
	size_t used = 0;

	for (int t = 0; t < TIERS; t++)
		for (int k = 0; k < shelf[t].levels; k++)
			for (size_t i = 0; i < shelf[t].level[k].n; i++, used += ENTRY_SIZE) {
				const struct piece *piece = &shelf[t].level[k].piece[i];

				if (!p)
					continue;
				put_u64(p + used, piece->at);
				pyramid_head_encode(p + used + 8, &piece->head);
			}
	if (p)
		put_u64(p + used, used / ENTRY_SIZE);
	return used + 8;
}

/* What waited in memory goes to the end of the file, by zoom and column. */
static int held_write(struct store *s, struct shelf shelf[TIERS])
{
	for (int t = 0; t < TIERS; t++)
		for (int k = 0; k < shelf[t].levels; k++)
			for (size_t i = 0; i < shelf[t].level[k].n; i++) {
				struct piece *p = &shelf[t].level[k].piece[i];
				size_t n = CHUNK_HEAD + PYRAMID_HEAD + CHUNK_CRC +
					   p->head.columns * pyramid_record(p->head.width);

				if (p->at != HELD)
					continue;
				p->at = atomic_fetch_add(&s->end, n);
				if (write_at(s->fd, p->payload - CHUNK_HEAD, n, (off_t)p->at) < 0)
					return -1;
			}
	return 0;
}

void store_finish(struct store *s, struct shelf shelf[TIERS])
{
	uint8_t *index = NULL;
	uint64_t end;
	size_t n = 0;

	if (s->fd < 0)
		return;
	if (s->temp[0] && held_write(s, shelf) == 0) {
		n = index_make(shelf, NULL);
		index = malloc(CHUNK_HEAD + n + CHUNK_CRC);
	}
	if (index) {
		index_make(shelf, index + CHUNK_HEAD);
		n = chunk_seal(index, CHUNK_INDEX, n);
	}
	end = atomic_load(&s->end);
	/* The map is larger than the file from here on; nothing is asked for there. */
	if (ftruncate(s->fd, (off_t)end) < 0 || !index || write_at(s->fd, index, n, (off_t)end) < 0 ||
	    renameat(s->dir, s->temp, s->dir, s->name) < 0)
		temp_remove(s);
	else
		s->named = true;
	s->temp[0] = '\0';
	free(index);
}

static int index_take(struct store *s, struct shelf shelf[TIERS])
{
	const uint8_t *map = s->map.bytes, *p;
	size_t size = s->map.size, n, at;
	struct chunk c;

	if (size < KEY_SIZE + CHUNK_HEAD + 8 + CHUNK_CRC || !chunk_head_decode(map, &c) ||
	    c.id != CHUNK_KEY || c.length != STORE_ID || memcmp(map + CHUNK_HEAD, s->id.bytes, STORE_ID) != 0)
		return -1;
	n = (size_t)get_u64(map + size - CHUNK_CRC - 8);
	if (n > (size - KEY_SIZE) / ENTRY_SIZE)
		return -1;
	at = n * ENTRY_SIZE + 8;
	if (at > size - KEY_SIZE - CHUNK_HEAD - CHUNK_CRC)
		return -1;
	p = map + size - CHUNK_CRC - at;
	if (!chunk_head_decode(p - CHUNK_HEAD, &c) || c.id != CHUNK_INDEX || c.length != at ||
	    get_u32(p + at) != chunk_crc(p, at))
		return -1;
	for (size_t i = 0; i < n; i++, p += ENTRY_SIZE) {
		struct piece piece = {.at = get_u64(p)};
		size_t bytes =
			PYRAMID_HEAD + (size_t)get_u32(p + 8 + 12) * pyramid_record(get_u32(p + 8 + 8));

		if (get_u32(p + 8 + 8) > PYRAMID_WIDEST || !pyramid_head_decode(p + 8, bytes, &piece.head) ||
		    piece.at > size || bytes > size - piece.at ||
		    size - piece.at - bytes < CHUNK_HEAD + CHUNK_CRC)
			return -1;
		piece.payload = map + piece.at + CHUNK_HEAD;
		if (shelf_put(&shelf[piece.head.tier], &piece) < 0)
			return -1;
	}
	return 0;
}

struct store *store_load(const struct store_id *id, struct shelf shelf[TIERS])
{
	struct store *s = store_new(0);
	struct stat st;
	int fd;

	if (!s)
		return NULL;
	s->id = *id;
	cache_name(&s->id, s->name, sizeof(s->name));
	s->dir = cache_open();
	fd = s->dir < 0 ? -1 : openat(s->dir, s->name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    map_open(&s->map, fd, (size_t)st.st_size) == 0) {
		s->fd = fd;
		s->named = true;
		if (index_take(s, shelf) == 0) {
			futimens(fd, NULL); /* it was of use just now */
			return s;
		}
		for (int t = 0; t < TIERS; t++)
			shelf_clear(&shelf[t]);
		store_discard(s);
		return NULL;
	}
	if (fd >= 0)
		close(fd);
	store_close(s);
	return NULL;
}

void store_discard(struct store *s)
{
	if (s && s->named)
		unlinkat(s->dir, s->name, 0);
	store_close(s);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	temp_remove(s);
	map_close(&s->map); /* and fd with it */
	if (s->dir >= 0)
		close(s->dir);
	for (int i = 0; s->blocks && i < atomic_load(&s->n_blocks) && i < BLOCKS_MOST; i++)
		free(s->blocks[i]);
	free(s->blocks);
	free(s);
}
