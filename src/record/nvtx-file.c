/* The files of the programs are read with pread(), which copies: a program can change or truncate its file at any
 * time, and what was checked here must stay so. They stay open, as many as may be: what else a file needs is
 * allocated when it is used. */
#include "record/nvtx-file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/nvtx.h"
#include "util/array.h"
#include "util/io.h"

#define STRINGS 1024  /* in the cache, a power of two */
#define CHUNK   1024  /* records in one read */
#define WINDOW  65536 /* bytes of strings */
#define NAMED   6144  /* domains, threads and categories */

/* --- the process --- */

/* One of another PID namespace is not seen, but while it maps the file, the kernel gives no lease of it. */
bool nvtx_file_is_alive(const struct nvtx_file *f)
{
	if (f->ours)
		return nvtx_started((int)f->about.pid) == f->about.start;
	fcntl(f->fd, F_SETSIG, SIGURG); /* if it is opened meanwhile: SIGIO would end the program */
	if (fcntl(f->fd, F_SETLEASE, F_WRLCK) < 0)
		return true;
	fcntl(f->fd, F_SETLEASE, F_UNLCK);
	return false;
}

/* --- the file --- */

bool nvtx_reader_new(struct nvtx_reader *r)
{
	r->records = calloc(CHUNK, sizeof(*r->records));
	r->window = malloc(WINDOW);
	return r->records && r->window;
}

void nvtx_reader_free(struct nvtx_reader *r)
{
	free(r->records);
	free(r->window);
}

struct nvtx_file *nvtx_file_new(struct nvtx_reader *r, const char *name, bool any_user, uint64_t pid_ns)
{
	struct nvtx_file *f = calloc(1, sizeof(*f));
	struct nvtx_process *p;
	struct stat st;
	int error;

	if (!f)
		return NULL;
	p = &f->about;
	memcpy(f->name, name, strnlen(name, sizeof(f->name) - 1));
	f->fd = openat(r->dir, f->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	error = f->fd < 0 ? errno : ENOENT;
	if (f->fd >= 0 && fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || any_user) &&
	    pread(f->fd, p, sizeof(*p), 0) == (ssize_t)sizeof(*p) && p->magic == NVTX_MAGIC &&
	    p->version == NVTX_VERSION && p->size == sizeof(r->head) && p->pid <= INT32_MAX) {
		f->ours = p->pid_ns == pid_ns;
		return f;
	}
	nvtx_file_free(r, f);
	errno = error;
	return NULL;
}

void nvtx_file_free(struct nvtx_reader *r, struct nvtx_file *f)
{
	if (r->window_of == f)
		r->window_of = NULL;
	if (f->fd >= 0)
		close(f->fd);
	free(f->rings);
	free(f->named);
	free(f->strings);
	free(f);
}

static bool put(const struct nvtx_file *f, size_t at, const void *from, size_t size)
{
	atomic_thread_fence(memory_order_seq_cst);
	return pwrite(f->fd, from, size, (off_t)at) == (ssize_t)size;
}

bool nvtx_file_tell(const struct nvtx_file *f, uint32_t recorder)
{
	return put(f, offsetof(struct nvtx_head, reading), &recorder, sizeof(recorder));
}

bool nvtx_file_begin(struct nvtx_reader *r, struct nvtx_file *f, uint32_t recorder)
{
	uint64_t before[NVTX_ALL_CAUSES];

	if (!nvtx_file_head(r, f))
		return false;
	if (atomic_load_explicit(&r->head.reading, memory_order_relaxed) == recorder)
		return true;
	nvtx_file_lost(r, f, before);
	for (uint32_t i = 0; i < f->n_rings; i++) {
		f->rings[i].read = atomic_load_explicit(&r->head.ring[i].written, memory_order_relaxed);
		put(f, offsetof(struct nvtx_head, ring[i].read), &f->rings[i].read, sizeof(f->rings[i].read));
	}
	return nvtx_file_tell(f, recorder);
}

/* --- rings --- */

bool nvtx_file_head(struct nvtx_reader *r, struct nvtx_file *f)
{
	const size_t fixed = offsetof(struct nvtx_head, ring), ring = sizeof(struct nvtx_ring);
	size_t size = fixed + f->n_rings * ring;
	struct nvtx_file_ring *rings;
	uint32_t n;

	if (read_all(f->fd, &r->head, size, 0) != (ssize_t)size)
		return false;
	n = atomic_load_explicit(&r->head.rings, memory_order_relaxed);
	n = n < NVTX_RINGS ? n : NVTX_RINGS;
	if (n > f->n_rings) {
		size = (n - f->n_rings) * ring;
		if (read_all(f->fd, &r->head.ring[f->n_rings], size, fixed + f->n_rings * ring) !=
			    (ssize_t)size ||
		    !(rings = reallocarray(f->rings, n, sizeof(*rings))))
			return false;
		for (f->rings = rings; f->n_rings < n; f->n_rings++)
			f->rings[f->n_rings] = (struct nvtx_file_ring) {
				.read = atomic_load_explicit(&r->head.ring[f->n_rings].read,
							     memory_order_relaxed)};
	}
	f->ended = atomic_load_explicit(&r->head.ended, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	return true;
}

size_t nvtx_file_ring(struct nvtx_reader *r, struct nvtx_file *f, uint32_t ring, size_t most)
{
	uint64_t written = atomic_load_explicit(&r->head.ring[ring].written, memory_order_relaxed);
	uint64_t *read = &f->rings[ring].read;
	size_t at = (size_t)(*read % NVTX_RECORDS), n, size;

	f->ring = ring;
	if (written - *read > NVTX_RECORDS)
		*read = written;
	n = written - *read < CHUNK ? (size_t)(written - *read) : CHUNK;
	n = n < NVTX_RECORDS - at ? n : NVTX_RECORDS - at;
	n = n < most ? n : most;
	if (n == 0)
		return 0;
	size = n * sizeof(*r->records);
	if (read_all(f->fd, r->records, size,
		     NVTX_RINGS_AT + (ring * (uint64_t)NVTX_RECORDS + at) * sizeof(*r->records)) !=
	    (ssize_t)size)
		memset(r->records, 0, size);
	*read += n;
	put(f, offsetof(struct nvtx_head, ring[ring].read), read, sizeof(*read));
	return n;
}

void nvtx_lost_since(uint64_t *lost, uint64_t *before, const uint64_t *now, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		lost[i] += now[i] > before[i] ? now[i] - before[i] : 0;
		before[i] = now[i];
	}
}

void nvtx_file_lost(struct nvtx_reader *r, struct nvtx_file *f, uint64_t lost[])
{
	uint64_t now[NVTX_LOST_FULL + 1] = {0};

	memcpy(now, r->head.lost, sizeof(r->head.lost));
	for (uint32_t i = 0; i < f->n_rings; i++)
		now[NVTX_LOST_FULL] += atomic_load_explicit(&r->head.ring[i].dropped, memory_order_relaxed);
	nvtx_lost_since(lost, f->lost, now, NVTX_LOST_FULL + 1);
}

/* --- strings --- */

/* The string at that offset of the window; NULL: it is not there, or was not complete when it was read. */
static const uint8_t *window_at(const struct nvtx_reader *r, const struct nvtx_file *f, uint32_t at,
				uint32_t *length)
{
	size_t i = at - r->window_at;

	if (r->window_of != f || at < r->window_at || i + 4 > r->window_n)
		return NULL;
	memcpy(length, r->window + i, 4);
	return *length > 0 && *length <= NVTX_NAME && i + 4 + *length < r->window_n &&
			       !memchr(r->window + i + 4, 0, *length)
		       ? r->window + i + 4
		       : NULL;
}

static const char *string_read(struct nvtx_reader *r, struct nvtx_file *f, uint32_t at)
{
	char text[NVTX_NAME + 1];
	const uint8_t *p;
	uint32_t length;
	ssize_t got;

	if (at == 0 || at >= NVTX_STRINGS)
		return ranges_name(r->store, "");
	p = window_at(r, f, at, &length);
	if (!p) {
		got = pread(f->fd, r->window, WINDOW, NVTX_STRINGS_AT + (off_t)at);
		r->window_of = f;
		r->window_at = at;
		r->window_n = got > 0 ? (size_t)got : 0;
		p = window_at(r, f, at, &length);
	}
	if (!p)
		return ranges_name(r->store, "");
	text_printable(text, sizeof(text), (const char *)p, length);
	return ranges_name(r->store, text);
}

const char *nvtx_file_string(struct nvtx_reader *r, struct nvtx_file *f, uint32_t at)
{
	struct nvtx_file_string *s;

	if (!f->strings && !(f->strings = calloc(STRINGS, sizeof(*f->strings))))
		return NULL;
	s = &f->strings[at / 4 * UINT32_C(2654435761) % STRINGS];
	if (!s->text || s->at != at) {
		s->at = at;
		s->text = string_read(r, f, at);
	}
	return s->text;
}

/* --- names --- */

void nvtx_file_notes(struct nvtx_reader *r, struct nvtx_file *f)
{
	struct nvtx_record note;
	struct nvtx_file_name *named;
	const uint64_t size = sizeof(note);

	for (; f->notes < NVTX_NOTES; f->notes++) {
		if (read_all(f->fd, &note, size, NVTX_NOTES_AT + f->notes * size) != (ssize_t)size ||
		    note.kind == NVTX_NONE)
			break;
		f->renamed |= note.kind == NVTX_THREAD;
		named = f->n_named < NAMED ? array_add(&f->named, &f->n_named, sizeof(*named)) : NULL;
		if (named)
			*named = (struct nvtx_file_name) {.kind = (enum nvtx_kind)note.kind,
							  .domain = note.domain,
							  .number = note.kind == NVTX_DOMAIN ? 0 : note.tid,
							  .name = nvtx_file_string(r, f, note.name)};
	}
}

/* It may have come after the head was read. */
const char *nvtx_file_domain(struct nvtx_reader *r, struct nvtx_file *f, uint32_t domain)
{
	const char *name = domain ? nvtx_file_name(f, NVTX_DOMAIN, domain, 0) : "";

	if (!name) {
		nvtx_file_notes(r, f);
		name = nvtx_file_name(f, NVTX_DOMAIN, domain, 0);
	}
	return name ? name : "";
}

const char *nvtx_file_process(struct nvtx_reader *r, struct nvtx_file *f)
{
	if (!f->process)
		f->process = nvtx_file_string(r, f, r->head.name);
	return f->process ? f->process : "";
}

const char *nvtx_file_name(const struct nvtx_file *f, enum nvtx_kind kind, uint32_t domain, uint32_t number)
{
	for (size_t i = f->n_named; i-- > 0;)
		if (f->named[i].number == number && f->named[i].domain == domain && f->named[i].kind == kind)
			return f->named[i].name;
	return NULL;
}
