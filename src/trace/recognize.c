/* Whether a file is a stream that was kept, also one that has lost its beginning. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace.h"
#include "trace/output.h"
#include "trace/unpack.h"

#define NEAR 262144 /* bytes in which rows begin, at any rate */

static bool whole_chunk(const uint8_t *p, size_t n, struct chunk *c)
{
	return n >= CHUNK_HEAD + CHUNK_CRC && chunk_head_decode(p, c) &&
	       c->length <= n - CHUNK_HEAD - CHUNK_CRC &&
	       get_u32(p + CHUNK_HEAD + c->length) == chunk_crc(p + CHUNK_HEAD, (size_t)c->length);
}

/* Rows stand in chunks nowhere else but in a side file. */
static bool only_in_stream(uint32_t id)
{
	return id == CHUNK_FAST || id == CHUNK_MEDIUM || id == CHUNK_SLOW || id == CHUNK_AGAIN;
}

/* Chunks of a stream whose beginning is lost: the first near the beginning of the
 * file, and some that nothing else has. */
static bool goes_on_as_stream(const uint8_t *p, size_t n)
{
	bool any = false, found = false;

	for (size_t i = 0; i + CHUNK_HEAD < n && !found && (any || i < FOREIGN);) {
		struct chunk c;

		if (get_u32(p + i + 4) != CHUNK_VERSION || !whole_chunk(p + i, n - i, &c)) {
			i++;
			continue;
		}
		any = true;
		found = only_in_stream(c.id);
		i += CHUNK_HEAD + (size_t)c.length + CHUNK_CRC;
	}
	return found;
}

/* tee keeps what a remote shell printed before the stream, too. */
static bool begins_stream(int fd)
{
	uint8_t *p = malloc(NEAR);
	ssize_t n = p ? read_at(fd, p, NEAR, 0) : -1;
	struct chunk c;
	bool found = false;

	if (n >= 4 && get_u32(p) != NVMT_MAGIC) {
		for (ssize_t i = 0; i + CHUNK_HEAD <= n && i < FOREIGN && !found; i++)
			found = get_u32(p + i) == CHUNK_STREAM && chunk_head_decode(p + i, &c);
		found = found || goes_on_as_stream(p, (size_t)n);
	}
	free(p);
	return found;
}

/* The side file of a recording is not one, though it is made of the same chunks. */
static bool is_side(const char *path)
{
	size_t n = strlen(path), m = strlen(".part.side");

	return n >= m && strcmp(path + n - m, ".part.side") == 0;
}

int stream_fd(const char *path)
{
	struct stat st;
	int fd;

	if (strcmp(path, "-") == 0)
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	fd = is_side(path) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && begins_stream(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool trace_is_stream(const char *path)
{
	int fd = strcmp(path, "-") == 0 ? -1 : stream_fd(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
