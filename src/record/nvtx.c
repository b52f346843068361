/* The files of the programs are read with pread(), which copies: a program can change or truncate its file at any
 * time, and what was checked here must stay so. */
#include "record/nvtx.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nvmtop/mark.h"
#include "nvtx/nvtx-ring.h"
#include "util/intl.h"
#include "util/io.h"

#define WANTED  "nvtx-wanted"
#define FILES   64
#define LANES   4096 /* of a file */
#define DEPTH   256  /* deeper ranges are lost */
#define STARTS  1024 /* start and end ranges that are open at a time */
#define ENDS    256
#define NAMES   4096  /* in the cache, a power of two */
#define CHUNK   1024  /* records in one read */
#define PASS    65536 /* records in one call: the rows of the engine wait meanwhile */
#define BATCH   512
#define WINDOW  65536
#define MARKS   1000 /* in a second */
#define BUSY_NS (10 * NS_PER_MS)
#define CALM_NS                                                                                              \
	(25 * NS_PER_MS) /* ranges come before the rows of their time, which the engine holds back longer */
#define FOLDER_NS (50 * NS_PER_MS)
#define TAKE_NS   NS_PER_S
#define OPEN_NS   NS_PER_S
#define LATE_NS   NS_PER_S /* a range that ended so long before the last call that left nothing is invalid */

/* Ranges of one domain in one thread; thread 0: those by start and end. */
struct lane {
	struct lane *next; /* in its slot */
	uint32_t tid;
	uint16_t domain;
	const struct range_lane *about; /* NULL: to be described again */
	struct range *open;             /* end_ns: when it was last passed on */
	uint32_t depth, room;           /* open ranges, of which the first `room` at most are in the list */
};

struct file {
	int fd;
	char name[64];
	struct nvtx_process about;
	bool ours; /* its pid is one of our namespace */
	bool gone;
	uint64_t read[NVTX_RINGS];
	uint32_t n_rings, first, ring; /* first: ring that is read first; ring: that is being read */
	struct nvtx_record more[NVTX_RINGS]; /* what is known of the next PUSH or START */
	uint32_t notes;
	struct {
		enum nvtx_kind kind; /* THREAD, CATEGORY */
		uint16_t domain;
		uint32_t number;
		const char *name;
	} named[NVTX_NOTES];
	size_t n_named;
	const char *process, *domains[NVTX_DOMAINS];
	struct {
		uint32_t at;
		const char *text;
	} names[NAMES];
	uint8_t *window; /* a part of the strings */
	uint32_t window_at;
	size_t window_n;
	struct lane *slots[256];
	size_t n_lanes;
	struct {
		struct range r;
		uint64_t id;
	} starts[STARTS];
	size_t n_starts;
	struct {
		uint64_t id;
		int64_t t_ns;
		bool again;
	} ends[ENDS]; /* that came before their start, which is in another ring */
	size_t n_ends;
	int64_t last_ns, opened_ns, looked_ns; /* last_ns: its process still ran */
	uint64_t full, rate; /* counts of the file that are not reported yet are those above these */
};

struct nvtx {
	const struct nvtx_ops *ops;
	void *to;
	char folder[256];
	int dir, lock, asked; /* asked: the folder need not be private */
	bool yields, busy; /* busy: another nvmtop had the folder */
	bool loaded;	   /* a program had the library */
	int64_t folder_ns, changed_ns;
	struct timespec changed;
	uint64_t pid_ns;
	struct file *files[FILES];
	size_t n_files, turn;
	struct ranges *store; /* of names and lanes */
	struct range batch[BATCH];
	size_t n_batch;
	struct nvtx_record records[CHUNK];
	struct nvtx_head head; /* a copy, of the file that is being read */
	int64_t now_ns, before_ns, marks_ns;
	unsigned marks;
	uint64_t count, full, rate, own, told; /* own: lost here */
};

/* --- passing on --- */

static void flush(struct nvtx *n)
{
	if (n->n_batch > 0)
		n->ops->ranges(n->to, n->batch, n->n_batch);
	n->n_batch = 0;
}

static void give(struct nvtx *n, const struct range *r)
{
	n->batch[n->n_batch++] = *r;
	if (n->n_batch == BATCH)
		flush(n);
}

static void give_open(struct nvtx *n, struct range *r, int64_t end_ns, bool all)
{
	struct range out = *r;

	if (!all && (end_ns - r->begin_ns < OPEN_NS || end_ns - r->end_ns < OPEN_NS))
		return;
	r->end_ns = out.end_ns = end_ns > r->begin_ns ? end_ns : r->begin_ns;
	out.flags = RANGE_OPEN;
	give(n, &out);
}

static void give_all_open(struct nvtx *n, struct file *f, int64_t end_ns, bool all)
{
	for (size_t i = 0; i < sizeof(f->slots) / sizeof(*f->slots); i++)
		for (struct lane *l = f->slots[i]; l; l = l->next)
			for (uint32_t k = 0; k < l->depth && k < l->room; k++)
				give_open(n, &l->open[k], end_ns, all);
	for (size_t i = 0; i < f->n_starts; i++)
		give_open(n, &f->starts[i].r, end_ns, all);
}

static void tell_lost(struct nvtx *n)
{
	uint64_t lost = n->full + n->rate + n->own;
	struct change c = {.t_ns = n->now_ns, .what = "ranges.lost"};

	if (lost == n->told)
		return;
	snprintf(c.to, sizeof(c.to), "%llu", (unsigned long long)(lost - n->told));
	n->told = lost;
	n->ops->change(n->to, &c);
}

/* --- strings --- */

/* The string at that offset of the window; NULL: it is not there, or was not complete when it was read. */
static const uint8_t *window_at(const struct file *f, uint32_t at, uint32_t *length)
{
	size_t i = at - f->window_at;

	if (!f->window || at < f->window_at || i + 4 > f->window_n)
		return NULL;
	memcpy(length, f->window + i, 4);
	return *length > 0 && *length <= NVTX_NAME && i + 4 + *length < f->window_n &&
			       !memchr(f->window + i + 4, 0, *length)
		       ? f->window + i + 4
		       : NULL;
}

static const char *string_read(struct nvtx *n, struct file *f, uint32_t at)
{
	char text[NVTX_NAME + 1];
	const uint8_t *p;
	uint32_t length;
	ssize_t got;

	if (at == 0 || at >= NVTX_STRINGS)
		return ranges_name(n->store, "");
	p = window_at(f, at, &length);
	if (!p && (f->window || (f->window = malloc(WINDOW)))) {
		got = pread(f->fd, f->window, WINDOW, NVTX_STRINGS_AT + (off_t)at);
		f->window_at = at;
		f->window_n = got > 0 ? (size_t)got : 0;
		p = window_at(f, at, &length);
	}
	if (!p)
		return ranges_name(n->store, "");
	text_printable(text, sizeof(text), (const char *)p, length);
	return ranges_name(n->store, text);
}

/* NULL: out of memory. */
static const char *string_of(struct nvtx *n, struct file *f, uint32_t at)
{
	size_t i = at / 4 * UINT32_C(2654435761) % NAMES;

	if (!f->names[i].text || f->names[i].at != at) {
		f->names[i].at = at;
		f->names[i].text = string_read(n, f, at);
	}
	return f->names[i].text;
}

/* --- notes --- */

static bool note_get(const struct file *f, uint32_t i, enum nvtx_kind kind, struct nvtx_record *out)
{
	off_t at = (off_t)(offsetof(struct nvtx_head, note) + i * sizeof(*out));

	return read_all(f->fd, out, sizeof(*out), (uint64_t)at) == (ssize_t)sizeof(*out) && out->kind == kind;
}

static const char *domain_of(struct nvtx *n, struct file *f, uint32_t domain)
{
	struct nvtx_record note;

	if (!f->domains[domain] && domain > 0 && note_get(f, domain, NVTX_DOMAIN, &note))
		f->domains[domain] = string_of(n, f, note.name);
	return f->domains[domain] ? f->domains[domain] : "";
}

/* Names of threads and categories that came since. */
static void notes_read(struct nvtx *n, struct file *f, uint32_t used)
{
	struct nvtx_record note;

	for (; f->notes < used && f->notes < NVTX_NOTES; f->notes++) {
		bool thread = note_get(f, f->notes, NVTX_THREAD, &note);

		if (!thread && !note_get(f, f->notes, NVTX_CATEGORY, &note))
			return;
		f->named[f->n_named].kind = thread ? NVTX_THREAD : NVTX_CATEGORY;
		f->named[f->n_named].domain = note.domain;
		f->named[f->n_named].number = note.tid;
		f->named[f->n_named++].name = string_of(n, f, note.name);
		for (size_t i = 0; i < sizeof(f->slots) / sizeof(*f->slots) && thread; i++)
			for (struct lane *l = f->slots[i]; l; l = l->next)
				l->about = l->tid == note.tid ? NULL : l->about;
	}
}

/* The last name of a thread or category; NULL: it has none. */
static const char *name_of(const struct file *f, enum nvtx_kind kind, uint32_t domain, uint32_t number)
{
	for (size_t i = f->n_named; i-- > 0;)
		if (f->named[i].number == number && f->named[i].domain == domain && f->named[i].kind == kind)
			return f->named[i].name;
	return NULL;
}

static const char *category_of(struct nvtx *n, const struct file *f, const struct nvtx_record *r, uint32_t number)
{
	const char *name = number ? name_of(f, NVTX_CATEGORY, r->domain, number) : NULL;
	char text[16];

	if (name || !number)
		return name;
	snprintf(text, sizeof(text), "%u", number);
	return ranges_name(n->store, text);
}

/* The name that the kernel has for the thread. */
static void kernel_name(const struct file *f, uint32_t tid, char *out, size_t size)
{
	char path[64], text[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", f->about.pid, tid);
	fd = f->ours ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	got = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
	if (fd >= 0)
		close(fd);
	if (got > 1)
		text_printable(out, size, text, (size_t)got - 1);
}

/* --- lanes --- */

static void copy(char *out, size_t size, const char *text)
{
	text_printable(out, size, text ? text : "", text ? strlen(text) : 0);
}

static void lane_describe(struct nvtx *n, struct file *f, struct lane *l)
{
	struct range_lane about = {.pid = f->about.pid, .tid = l->tid};
	struct nvtx_record note;
	const char *thread = name_of(f, NVTX_THREAD, 0, l->tid);

	if (!f->process && note_get(f, 0, NVTX_PROCESS, &note))
		f->process = string_of(n, f, note.name);
	copy(about.process, sizeof(about.process), f->process);
	copy(about.domain, sizeof(about.domain), domain_of(n, f, l->domain));
	if (thread)
		copy(about.thread, sizeof(about.thread), thread);
	else if (l->tid)
		kernel_name(f, l->tid, about.thread, sizeof(about.thread));
	l->about = ranges_lane(n->store, &about);
}

/* NULL: there are too many. */
static struct lane *lane_of(struct nvtx *n, struct file *f, uint32_t tid, uint16_t domain)
{
	struct lane **slot = &f->slots[(tid * 31 + domain) % 256], *l = *slot;

	while (l && (l->tid != tid || l->domain != domain))
		l = l->next;
	if (!l && f->n_lanes < LANES && (l = calloc(1, sizeof(*l))) != NULL) {
		*l = (struct lane) {.next = *slot, .tid = tid, .domain = domain};
		*slot = l;
		f->n_lanes++;
	}
	if (l && !l->about)
		lane_describe(n, f, l);
	return l && l->about ? l : NULL;
}

/* --- records --- */

static uint64_t payload_of(const struct nvtx_record *r, uint8_t *type)
{
	uint32_t low = (uint32_t)r->value;
	uint64_t value = r->value;
	float small;
	double wide;

	switch ((enum nvtx_payload)r->payload) {
	case NVTX_U64:
		*type = RANGE_UNSIGNED;
		return value;
	case NVTX_I64:
		*type = RANGE_SIGNED;
		return value;
	case NVTX_DOUBLE:
		*type = RANGE_DOUBLE;
		return value;
	case NVTX_U32:
		*type = RANGE_UNSIGNED;
		return low;
	case NVTX_I32:
		*type = RANGE_SIGNED;
		return (uint64_t)(int64_t)(int32_t)low;
	case NVTX_FLOAT:
		*type = RANGE_DOUBLE;
		memcpy(&small, &low, sizeof(small));
		wide = (double)small;
		memcpy(&value, &wide, sizeof(value));
		return value;
	default:
		*type = RANGE_NO_PAYLOAD;
		return 0;
	}
}

static struct range begun(struct nvtx *n, struct file *f, const struct nvtx_record *r, const struct lane *l)
{
	const struct nvtx_record *more = &f->more[f->ring];
	struct range out = {
		.begin_ns = r->t, .name = string_of(n, f, r->name), .lane = l->about, .colour = r->colour};

	out.category = category_of(n, f, r, more->tid);
	out.value = payload_of(r->kind == NVTX_START ? more : r, &out.payload);
	return out;
}

static void take_push(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	struct lane *l = lane_of(n, f, r->tid, r->domain);
	struct range *more;

	if (l && l->depth == l->room && l->room < DEPTH) {
		more = reallocarray(l->open, l->room ? 2 * l->room : 8, sizeof(*more));
		if (more) {
			l->open = more;
			l->room = l->room ? 2 * l->room : 8;
		}
	}
	if (l && l->depth < l->room) {
		l->open[l->depth] = begun(n, f, r, l);
		l->open[l->depth].depth = (uint16_t)l->depth;
	}
	n->own += !l || l->depth >= l->room;
	if (l)
		l->depth++;
}

static void give_ended(struct nvtx *n, struct range *r, int64_t t_ns)
{
	if (t_ns < n->before_ns - LATE_NS)
		return;
	r->end_ns = t_ns > r->begin_ns ? t_ns : r->begin_ns;
	n->count++;
	give(n, r);
}

/* What began before the recorder came is not known. */
static void take_pop(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	struct lane *l = lane_of(n, f, r->tid, r->domain);

	if (l && l->depth > 0 && --l->depth < l->room)
		give_ended(n, &l->open[l->depth], r->t);
}

static void take_start(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	struct lane *l = lane_of(n, f, 0, r->domain);

	if (!l || f->n_starts == STARTS) {
		n->own++;
		return;
	}
	f->starts[f->n_starts].id = r->value;
	f->starts[f->n_starts++].r = begun(n, f, r, l);
}

static void take_more(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	(void)n;
	f->more[f->ring] = *r;
}

static bool end_start(struct nvtx *n, struct file *f, uint64_t id, int64_t t_ns)
{
	for (size_t i = f->n_starts; i-- > 0;) {
		struct range r = f->starts[i].r;

		if (f->starts[i].id != id)
			continue;
		f->starts[i] = f->starts[--f->n_starts];
		give_ended(n, &r, t_ns);
		return true;
	}
	return false;
}

static void take_end(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	if (end_start(n, f, r->value, r->t) || f->n_ends == ENDS)
		return;
	f->ends[f->n_ends].id = r->value;
	f->ends[f->n_ends].t_ns = r->t;
	f->ends[f->n_ends++].again = false;
}

/* All rings were read: an end whose start was not seen then may find it now, or after the next time. */
static void ends_again(struct nvtx *n, struct file *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->n_ends; i++) {
		if (end_start(n, f, f->ends[i].id, f->ends[i].t_ns) || f->ends[i].again)
			continue;
		f->ends[i].again = true;
		f->ends[kept++] = f->ends[i];
	}
	f->n_ends = kept;
}

static void take_mark(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	const char *name = string_of(n, f, r->name), *domain = domain_of(n, f, r->domain);
	char label[2 * NVTX_NAME];

	if (n->now_ns - n->marks_ns >= NS_PER_S) {
		n->marks_ns = n->now_ns;
		n->marks = 0;
	}
	if (!name || n->marks++ >= MARKS) {
		n->own++;
		return;
	}
	snprintf(label, sizeof(label), "%s%s%s", domain, *domain ? ": " : "", name);
	n->ops->mark(n->to, r->t, label);
}

static void take(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	static void (*const take[])(struct nvtx * n, struct file * f, struct nvtx_record *r) = {
		[NVTX_PUSH] = take_push, [NVTX_POP] = take_pop,	  [NVTX_START] = take_start,
		[NVTX_END] = take_end,	 [NVTX_MARK] = take_mark, [NVTX_MORE] = take_more,
	};

	if (r->kind >= sizeof(take) / sizeof(*take) || !take[r->kind] || r->domain >= NVTX_DOMAINS ||
	    r->t < 0)
		return;
	r->t = r->t < n->now_ns ? r->t : n->now_ns;
	f->last_ns = r->t > f->last_ns ? r->t : f->last_ns;
	take[r->kind](n, f, r);
	if (r->kind != NVTX_MORE)
		f->more[f->ring] = (struct nvtx_record) {.payload = NVTX_NO_PAYLOAD};
}

/* --- rings --- */

static bool put(const struct file *f, size_t at, const void *from, size_t size)
{
	atomic_thread_fence(memory_order_seq_cst);
	return pwrite(f->fd, from, size, (off_t)at) == (ssize_t)size;
}

static void put_read(const struct file *f, uint32_t ring)
{
	put(f,
	    offsetof(struct nvtx_head, ring) + ring * sizeof(struct nvtx_ring) +
		    offsetof(struct nvtx_ring, read),
	    &f->read[ring], sizeof(f->read[ring]));
}

/* Reads at most `most` records. Returns their number. */
static size_t ring_read(struct nvtx *n, struct file *f, uint32_t ring, size_t most)
{
	uint64_t written = atomic_load_explicit(&n->head.ring[ring].written, memory_order_relaxed);
	size_t done = 0;

	f->ring = ring;
	if (written - f->read[ring] > NVTX_RECORDS) {
		f->read[ring] = written;
		put_read(f, ring);
	}
	while (f->read[ring] != written && done < most) {
		size_t at = (size_t)(f->read[ring] % NVTX_RECORDS), size;
		size_t count = written - f->read[ring] < CHUNK ? (size_t)(written - f->read[ring]) : CHUNK;

		count = count < NVTX_RECORDS - at ? count : NVTX_RECORDS - at;
		size = count * sizeof(*n->records);
		if (read_all(f->fd, n->records, size,
			     NVTX_RINGS_AT + (ring * (uint64_t)NVTX_RECORDS + at) * sizeof(*n->records)) !=
		    (ssize_t)size)
			memset(n->records, 0, size);
		f->read[ring] += count;
		put_read(f, ring);
		n->now_ns = clock_now_ns();
		for (size_t i = 0; i < count; i++)
			take(n, f, &n->records[i]);
		done += count;
	}
	return done;
}

/* Gets the head without its notes. */
static bool head_read(struct nvtx *n, struct file *f)
{
	size_t size = offsetof(struct nvtx_head, note), rings;

	if (read_all(f->fd, &n->head, size, 0) != (ssize_t)size)
		return false;
	f->n_rings = atomic_load_explicit(&n->head.rings, memory_order_relaxed);
	f->n_rings = f->n_rings < NVTX_RINGS ? f->n_rings : NVTX_RINGS;
	rings = f->n_rings * sizeof(struct nvtx_ring);
	if (read_all(f->fd, n->head.ring, rings, offsetof(struct nvtx_head, ring)) != (ssize_t)rings)
		return false;
	atomic_thread_fence(memory_order_seq_cst);
	return true;
}

/* Counts what the program dropped since the last time. */
static void count_lost(struct nvtx *n, struct file *f, bool tell)
{
	uint64_t full = atomic_load_explicit(&n->head.ringless, memory_order_relaxed), rate = 0;

	for (uint32_t i = 0; i < f->n_rings; i++)
		full += atomic_load_explicit(&n->head.ring[i].dropped, memory_order_relaxed);
	for (size_t i = 0; i < NVTX_DOMAINS; i++)
		rate += atomic_load_explicit(&n->head.left_out[i], memory_order_relaxed);
	if (tell && full > f->full)
		n->full += full - f->full;
	if (tell && rate > f->rate)
		n->rate += rate - f->rate;
	f->full = full;
	f->rate = rate;
}

/* Returns the number of records that were read, at most `most`. */
static size_t file_read(struct nvtx *n, struct file *f, size_t most)
{
	size_t done = 0;
	uint32_t i;

	if (!head_read(n, f)) {
		f->gone = true;
		return 0;
	}
	f->gone |= atomic_load_explicit(&n->head.ended, memory_order_relaxed) != 0;
	notes_read(n, f, atomic_load_explicit(&n->head.notes, memory_order_relaxed));
	for (i = 0; i < f->n_rings && done < most; i++)
		done += ring_read(n, f, (f->first + i) % f->n_rings, most - done);
	f->first = done < most ? 0 : f->first + i;
	if (done < most)
		ends_again(n, f);
	count_lost(n, f, true);
	return done;
}

/* --- files --- */

/* The time at which a process started, as in its file; 0: it is gone. */
static uint64_t started(uint32_t pid)
{
	char path[32], text[1024], *p;
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
	p = strrchr(text, ')');
	for (int i = 2; p && i < 22; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

/* Whether the process still has the file.  One of another PID namespace is not seen, but while it maps the file,
 * the kernel gives no lease of it. */
static bool is_alive(const struct file *f)
{
	if (f->ours)
		return started(f->about.pid) == f->about.start;
	fcntl(f->fd, F_SETSIG, SIGURG); /* if it is opened meanwhile: SIGIO would end the program */
	if (fcntl(f->fd, F_SETLEASE, F_WRLCK) < 0)
		return true;
	fcntl(f->fd, F_SETLEASE, F_UNLCK);
	return false;
}

static void file_free(struct file *f)
{
	for (size_t i = 0; i < sizeof(f->slots) / sizeof(*f->slots); i++)
		for (struct lane *l = f->slots[i], *next; l; l = next) {
			next = l->next;
			free(l->open);
			free(l);
		}
	if (f->fd >= 0)
		close(f->fd);
	free(f->window);
	free(f);
}

/* What an earlier recorder left is not for this one. */
static bool file_begin(struct nvtx *n, struct file *f)
{
	const uint32_t one = 1;

	if (!head_read(n, f))
		return false;
	f->notes = NVTX_DOMAINS;
	f->last_ns = f->opened_ns = f->looked_ns = n->now_ns;
	count_lost(n, f, false);
	for (uint32_t i = 0; i < f->n_rings; i++)
		f->read[i] = atomic_load_explicit(&n->head.ring[i].read, memory_order_relaxed);
	if (atomic_load_explicit(&n->head.reading, memory_order_relaxed)) {
		f->full = f->rate = 0;
		return true;
	}
	for (uint32_t i = 0; i < f->n_rings; i++) {
		f->read[i] = atomic_load_explicit(&n->head.ring[i].written, memory_order_relaxed);
		put_read(f, i);
	}
	return put(f, offsetof(struct nvtx_head, reading), &one, sizeof(one));
}

static bool file_valid(const struct nvtx *n, struct file *f)
{
	const struct nvtx_process *p = &f->about;
	struct stat st;

	return fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == geteuid() || n->asked) &&
	       pread(f->fd, &f->about, sizeof(f->about), 0) == (ssize_t)sizeof(f->about) &&
	       p->magic == NVTX_MAGIC && p->version == NVTX_VERSION && p->size == sizeof(n->head) &&
	       p->pid <= INT32_MAX;
}

static void file_take(struct nvtx *n, const char *name)
{
	struct file *f = n->n_files < FILES ? calloc(1, sizeof(*f)) : NULL;

	if (!f)
		return;
	memcpy(f->name, name, strnlen(name, sizeof(f->name) - 1));
	f->fd = openat(n->dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0 || !file_valid(n, f) || flock(f->fd, LOCK_EX | LOCK_NB) < 0 || !file_begin(n, f)) {
		file_free(f);
		return;
	}
	f->ours = f->about.pid_ns == n->pid_ns;
	n->files[n->n_files++] = f;
	n->loaded = true;
}

/* Lets the file go; that of a process that is gone is removed. */
static void file_drop(struct nvtx *n, size_t i)
{
	struct file *f = n->files[i];
	const uint32_t none = 0;

	if (f->gone)
		unlinkat(n->dir, f->name, 0);
	else
		put(f, offsetof(struct nvtx_head, reading), &none, sizeof(none));
	file_free(f);
	n->files[i] = n->files[--n->n_files];
}

static bool is_taken(const struct nvtx *n, const char *name)
{
	for (size_t i = 0; i < n->n_files; i++)
		if (!strcmp(n->files[i]->name, name))
			return true;
	return false;
}

/* --- the folder --- */

int nvtx_folder(char *out, size_t size, int *asked, struct err *e)
{
	if (nvtx_ring_folder(out, size, asked))
		return 0;
	return err_set(e, ERR_FAILED, _("cannot record NVTX ranges: NVMTOP_NVTX_DIR is not an absolute path, or too long"));
}

static int folder_open(struct nvtx *n, struct err *e)
{
	char shown[sizeof(n->folder)];
	struct stat st;

	if (nvtx_folder(n->folder, sizeof(n->folder), &n->asked, e) < 0)
		return -1;
	mkdir(n->folder, 0700);
	n->dir = open(n->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (n->dir >= 0 && fstat(n->dir, &st) == 0 &&
	    (n->asked || (st.st_uid == geteuid() && !(st.st_mode & 077))))
		return 0;
	text_printable(shown, sizeof(shown), n->folder, strlen(n->folder));
	if (n->dir < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot record NVTX ranges: %s"), shown);
	close(n->dir);
	n->dir = -1;
	return err_set(e, ERR_FAILED,
		       _("cannot record NVTX ranges: %s is not a folder that only you can access (chmod 700, "
			 "or remove it)"),
		       shown);
}

static int try_take(struct nvtx *n, struct err *e)
{
	if (n->lock >= 0)
		return 0;
	if (n->dir < 0 && folder_open(n, e) < 0)
		return -1;
	n->lock = openat(n->dir, NVTX_RECORDER, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (n->lock >= 0 && flock(n->lock, LOCK_EX | LOCK_NB) == 0) {
		n->changed_ns = n->now_ns; /* the files are free again, which the folder does not show */
		return 0;
	}
	if (n->lock < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot record NVTX ranges: %s"), n->folder);
	close(n->lock);
	n->lock = -1;
	n->busy = true;
	return err_set(e, ERR_FAILED,
		       _("another nvmtop records NVTX ranges: end it, or give each a folder of its own in "
			 "NVMTOP_NVTX_DIR"));
}

int nvtx_take(struct nvtx *n, struct err *e)
{
	int64_t until = clock_now_ns() + TAKE_NS;
	int r = try_take(n, e), fd;

	if (r == 0 || !n->busy)
		return r;
	fd = openat(n->dir, WANTED, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	while (fd >= 0 && r < 0 && clock_now_ns() < until) {
		nanosleep(&(struct timespec) {.tv_nsec = BUSY_NS}, NULL);
		r = try_take(n, e);
	}
	unlinkat(n->dir, WANTED, 0);
	if (fd >= 0)
		close(fd);
	return r;
}

/* For another nvmtop that wants the folder. */
static void let_go(struct nvtx *n)
{
	while (n->n_files > 0)
		file_drop(n, 0);
	unlinkat(n->dir, WANTED, 0);
	close(n->lock);
	n->lock = -1;
}

/* Looks for files of new processes, for a second after a change: some may not be complete at first. */
static void folder_look(struct nvtx *n)
{
	struct stat st;
	struct dirent *d;
	bool wanted = false;
	DIR *list;
	int fd;

	if (fstat(n->dir, &st) == 0 && memcmp(&st.st_mtim, &n->changed, sizeof(n->changed)) != 0) {
		n->changed = st.st_mtim;
		n->changed_ns = n->now_ns;
	}
	if (n->now_ns - n->changed_ns > NS_PER_S)
		return;
	fd = openat(n->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	list = fd >= 0 ? fdopendir(fd) : NULL;
	if (!list && fd >= 0)
		close(fd);
	while (list && (d = readdir(list))) {
		wanted |= !strcmp(d->d_name, WANTED);
		if (!strncmp(d->d_name, "nvtx-", 5) && strcmp(d->d_name, NVTX_RECORDER) &&
		    strcmp(d->d_name, WANTED) && strlen(d->d_name) < sizeof(n->files[0]->name) &&
		    !is_taken(n, d->d_name))
			file_take(n, d->d_name);
	}
	if (list)
		closedir(list);
	if (wanted && n->yields)
		let_go(n);
}

/* --- the calls --- */

/* Returns whether anything came; *more: there is more. */
static bool files_read(struct nvtx *n, bool *more)
{
	size_t left = PASS, all = n->n_files;

	for (size_t i = 0; i < all && left > 0; i++)
		left -= file_read(n, n->files[n->turn++ % all], left);
	*more = left == 0;
	return left < PASS;
}

static void files_look(struct nvtx *n, bool more)
{
	for (size_t i = n->n_files; i-- > 0;) {
		struct file *f = n->files[i];

		if (!more && f->gone) {
			give_all_open(n, f, f->last_ns, true);
			file_drop(n, i);
			continue;
		}
		if (n->now_ns - f->looked_ns >= NS_PER_S / 4) {
			f->looked_ns = n->now_ns;
			f->gone |= !is_alive(f);
			f->last_ns = f->gone ? f->last_ns : n->now_ns;
		}
		if (n->now_ns - f->opened_ns >= OPEN_NS) {
			f->opened_ns = n->now_ns;
			give_all_open(n, f, n->now_ns, false);
		}
	}
}

int64_t nvtx_poll(struct nvtx *n, bool last)
{
	int64_t now = clock_now_ns(), next;
	bool busy, more;
	struct err e;

	n->now_ns = now;
	if (last || now >= n->folder_ns) {
		if (try_take(n, &e) == 0)
			folder_look(n);
		n->folder_ns = now + (n->lock >= 0 ? FOLDER_NS : NS_PER_S);
	}
	do
		busy = files_read(n, &more);
	while (last && more && clock_now_ns() - now < NS_PER_S);
	n->now_ns = clock_now_ns();
	files_look(n, more);
	for (size_t i = 0; last && i < n->n_files; i++)
		give_all_open(n, n->files[i], n->now_ns, true);
	flush(n);
	if (last)
		tell_lost(n);
	if (!more)
		n->before_ns = now;
	next = now + (more ? 0 : busy ? BUSY_NS : CALM_NS);
	return n->n_files > 0 && next < n->folder_ns ? next : n->folder_ns;
}

struct nvtx *nvtx_new(const struct nvtx_ops *ops, void *to, bool yields, struct err *e)
{
	struct nvtx *n = calloc(1, sizeof(*n));
	struct stat st;

	if (!n || !(n->store = ranges_new(0, e))) {
		free(n);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	n->ops = ops;
	n->to = to;
	n->yields = yields;
	n->dir = n->lock = -1;
	n->pid_ns = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
	n->before_ns = n->now_ns = clock_now_ns();
	return n;
}

void nvtx_free(struct nvtx *n)
{
	if (!n)
		return;
	while (n->n_files > 0)
		file_drop(n, 0);
	if (n->lock >= 0)
		close(n->lock);
	if (n->dir >= 0)
		close(n->dir);
	ranges_free(n->store);
	free(n);
}

/* --- the engine --- */

static void to_engine(void *g, const struct range *list, size_t n)
{
	engine_ranges(g, list, n);
}

static void mark_engine(void *g, int64_t t_ns, const char *label)
{
	engine_mark(g, t_ns, label);
}

static void change_engine(void *g, const struct change *c)
{
	engine_change(g, c);
}

static int64_t poll_engine(void *n, bool last)
{
	return nvtx_poll(n, last);
}

struct nvtx *nvtx_attach(struct engine *g, bool yields, struct err *e)
{
	static const struct nvtx_ops ops = {to_engine, mark_engine, change_engine};
	struct nvtx *n = nvtx_new(&ops, g, yields, e);

	if (n && !yields && nvtx_take(n, e) < 0) {
		nvtx_free(n);
		return NULL;
	}
	if (n)
		engine_set_poll(g, poll_engine, n);
	return n;
}

bool nvtx_had_domain(const struct nvtx *n, const char *domain)
{
	const struct range_lane *lanes[LANES];
	size_t all = ranges_lanes(n->store, lanes, LANES);

	for (size_t i = 0; i < all && i < LANES; i++)
		if (!strcmp(range_domain(lanes[i]->domain), domain))
			return true;
	return false;
}

bool nvtx_news(const struct nvtx *n, bool *any, char *out, size_t size)
{
	uint64_t lost = n->full + n->rate + n->own;
	size_t used;

	*any = n->count > 0;
	if (n->count == 0 && lost == 0)
		return snprintf(out, size, "%s",
				n->loaded ? _("no NVTX ranges came: the program loaded libnvmtop-nvtx.so, but marked none, or "
					      "only in domains that --nvtx leaves out")
					  : _("no NVTX ranges came: the program does not use NVTX, or did not load "
					      "libnvmtop-nvtx.so")) > 0;
	if (lost == 0)
		return false;
	used = (size_t)snprintf(
		out, size,
		P_("%llu NVTX range or mark is missing", "%llu NVTX ranges and marks are missing", lost),
		(unsigned long long)lost);
	if (n->full && used < size)
		used += (size_t)snprintf(out + used, size - used,
					 _("; %llu came faster than they could be taken"),
					 (unsigned long long)n->full);
	if (n->rate && used < size)
		used += (size_t)snprintf(
			out + used, size - used,
			_("; %llu were beyond %d a second of a domain, which --nvtx=all lifts"),
			(unsigned long long)n->rate, (int)NVTX_RATE);
	if (n->own && used < size)
		snprintf(out + used, size - used, _("; %llu were too many at a time"),
			 (unsigned long long)n->own);
	return true;
}
