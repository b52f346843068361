/* The files of the programs are read with pread(), which copies: a program can change or truncate its file at any
 * time, and what was checked here must stay so. They stay open, as many as may be: what else a file needs is
 * allocated when it is used. A range that is lost on the way is counted by its cause: made = recorded + lost. */
#include "record/nvtx-file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/io.h"

#define DEPTH        32768     /* deeper ranges are lost */
#define OPEN         (1 << 18) /* open ranges of a file */
#define STARTS       1024      /* start and end ranges of a file that are open at a time */
#define ENDS         256
#define OPEN_NS      NS_PER_S
#define LATE_NS      NS_PER_S /* a range that ended so long before the last call that left nothing is invalid */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LOAD(x)      atomic_load_explicit(&(x), memory_order_relaxed)

/* A domain in a thread; thread 0: the ranges by start and end. */
struct nvtx_lane {
	struct nvtx_lane *next; /* in its slot */
	uint32_t tid;
	uint16_t domain;
	const struct range_lane *about; /* NULL: to be described again */
	struct nvtx_stack stack;
};

struct nvtx_end {
	uint64_t id;
	int64_t t_ns;
	bool again;
};

struct nvtx_named {
	enum nvtx_kind kind;
	uint16_t domain;
	uint32_t number;
	const char *name;
};

/* --- passing on --- */

void nvtx_reader_flush(struct nvtx_reader *r)
{
	if (r->n_batch > 0)
		r->ops->ranges(r->to, r->batch, r->n_batch);
	r->n_batch = 0;
}

static void give(struct nvtx_reader *r, const struct range *range)
{
	r->batch[r->n_batch++] = *range;
	r->any = r->came = true;
	if (r->n_batch == COUNT(r->batch))
		nvtx_reader_flush(r);
}

static void give_open(struct nvtx_reader *r, struct nvtx_stack *s, int64_t end_ns, bool all)
{
	for (size_t i = 0; i < s->n; i++) {
		struct range *range = &s->open[i].range, out = *range;

		if (!all && (end_ns - range->begin_ns < OPEN_NS || end_ns - range->end_ns < OPEN_NS))
			continue;
		range->end_ns = out.end_ns = end_ns > range->begin_ns ? end_ns : range->begin_ns;
		out.flags = RANGE_OPEN;
		give(r, &out);
	}
}

void nvtx_file_open_ranges(struct nvtx_reader *r, struct nvtx_file *f, bool all)
{
	int64_t end_ns = f->gone ? f->last_ns : r->now_ns;

	f->opened_ns = r->now_ns;
	for (size_t i = 0; i < COUNT(f->slots); i++)
		for (struct nvtx_lane *l = f->slots[i]; l; l = l->next)
			give_open(r, &l->stack, end_ns, all);
	give_open(r, &f->starts, end_ns, all);
}

/* There may be so many in a second. */
static void give_mark(struct nvtx_reader *r, int64_t t_ns, const char *label)
{
	if (r->now_ns - r->marks_ns >= NS_PER_S) {
		r->marks_ns = r->now_ns;
		r->marks = 0;
	}
	r->came = true;
	if (label && r->marks++ < NVTX_FILE_MARKS)
		r->ops->mark(r->to, t_ns, label);
	else
		r->lost[NVTX_LOST_MARKS]++;
}

void nvtx_lost_since(uint64_t *lost, uint64_t before[NVTX_CAUSES], const _Atomic uint64_t now[NVTX_CAUSES])
{
	for (size_t i = NVTX_NOT_LOST + 1; i < NVTX_CAUSES; i++) {
		lost[i] += LOAD(now[i]) > before[i] ? LOAD(now[i]) - before[i] : 0;
		before[i] = LOAD(now[i]);
	}
}

/* --- names --- */

/* NULL: out of memory. */
static const char *string_of(struct nvtx_reader *r, const struct nvtx_file *f, uint32_t at)
{
	struct nvtx_known *s = &r->strings[(at / 4 + f->serial) * UINT32_C(2654435761) % COUNT(r->strings)];
	char text[NVTX_NAME + 1] = "";
	uint32_t length;
	ssize_t got;
	size_t i;

	if (s->text && s->file == f->serial && s->at == at)
		return s->text;
	for (int tries = 0; tries < 2 && at > 0 && at < NVTX_STRINGS; tries++) {
		if (tries > 0) { /* it is not there, or was not complete when that was read */
			got = pread(f->fd, r->window, sizeof(r->window), NVTX_STRINGS_AT + (off_t)at);
			r->window_of = f->serial;
			r->window_at = at;
			r->window_n = got > 0 ? (size_t)got : 0;
		}
		i = at - r->window_at + sizeof(length);
		if (r->window_of != f->serial || at < r->window_at || i > r->window_n)
			continue;
		memcpy(&length, r->window + i - sizeof(length), sizeof(length));
		if (length > 0 && length <= NVTX_NAME && i + length < r->window_n &&
		    !memchr(r->window + i, 0, length)) {
			text_printable(text, sizeof(text), (const char *)r->window + i, length);
			break;
		}
	}
	*s = (struct nvtx_known) {f->serial, at, ranges_name(r->store, text)};
	return s->text;
}

/* Those that came since. */
static void notes_read(struct nvtx_reader *r, struct nvtx_file *f)
{
	struct nvtx_named *named;
	struct nvtx_note note;

	for (; f->n_notes < NVTX_NOTES; f->n_notes++) {
		if (read_all(f->fd, &note, sizeof(note), NVTX_NOTES_AT + f->n_notes * sizeof(note)) !=
			    sizeof(note) ||
		    note.kind == NVTX_NONE || !(named = array_add(&f->named, &f->n_named, sizeof(*named))))
			return;
		*named = (struct nvtx_named) {(enum nvtx_kind)note.kind, note.domain, note.number,
					      string_of(r, f, note.name)};
		for (size_t i = 0; i < COUNT(f->slots) && note.kind == NVTX_THREAD; i++)
			for (struct nvtx_lane *l = f->slots[i]; l; l = l->next)
				l->about = l->tid == note.number ? NULL : l->about;
	}
}

/* The last name of a domain, thread or category; NULL: it has none. */
static const char *name_of(const struct nvtx_file *f, enum nvtx_kind kind, uint32_t domain, uint32_t number)
{
	for (size_t i = f->n_named; i-- > 0;)
		if (f->named[i].number == number && f->named[i].domain == domain && f->named[i].kind == kind)
			return f->named[i].name;
	return NULL;
}

/* "": it has none. Its name may have come after the head was read. */
static const char *domain_of(struct nvtx_reader *r, struct nvtx_file *f, uint32_t domain)
{
	const char *name = domain ? name_of(f, NVTX_DOMAIN, domain, 0) : "";

	if (!name) {
		notes_read(r, f);
		name = name_of(f, NVTX_DOMAIN, domain, 0);
	}
	return name ? name : "";
}

static const char *category_of(struct nvtx_reader *r, const struct nvtx_file *f,
			       const struct nvtx_record *record)
{
	const char *name =
		record->category ? name_of(f, NVTX_CATEGORY, record->domain, record->category) : NULL;
	char text[16];

	if (name || !record->category)
		return name;
	snprintf(text, sizeof(text), "%u", record->category);
	return ranges_name(r->store, text);
}

/* --- lanes --- */

static void lane_describe(struct nvtx_reader *r, struct nvtx_file *f, struct nvtx_lane *l)
{
	struct range_lane about = {.pid = (uint32_t)f->process.pid, .tid = l->tid};
	const char *thread = l->tid ? name_of(f, NVTX_THREAD, 0, l->tid) : NULL,
		   *domain = domain_of(r, f, l->domain);
	char path[64], *comm;
	size_t n;

	if (!f->program)
		f->program = string_of(r, f, r->head.name);
	if (f->program)
		text_printable(about.process, sizeof(about.process), f->program, strlen(f->program));
	text_printable(about.domain, sizeof(about.domain), domain, strlen(domain));
	/* Or the name that the kernel has for it. */
	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", about.pid, l->tid);
	comm = l->tid && !thread && f->ours ? read_file(path, sizeof(about.thread), &n, NULL) : NULL;
	if (thread)
		text_printable(about.thread, sizeof(about.thread), thread, strlen(thread));
	else if (comm && n > 1)
		text_printable(about.thread, sizeof(about.thread), comm, n - 1);
	free(comm);
	l->about = ranges_lane(r->store, &about);
}

/* NULL: there are too many. */
static struct nvtx_lane *lane_of(struct nvtx_reader *r, struct nvtx_file *f, uint32_t tid, uint16_t domain)
{
	struct nvtx_lane **slot = &f->slots[(tid * 31 + domain) % COUNT(f->slots)], *l = *slot;

	while (l && (l->tid != tid || l->domain != domain))
		l = l->next;
	if (!l && f->n_lanes < NVTX_FILE_LANES && (l = calloc(1, sizeof(*l))) != NULL) {
		*l = (struct nvtx_lane) {.next = *slot, .tid = tid, .domain = domain};
		*slot = l;
		f->n_lanes++;
	}
	if (l && !l->about)
		lane_describe(r, f, l);
	return l && l->about ? l : NULL;
}

/* --- records --- */

_Static_assert((int)NVTX_UNSIGNED == RANGE_UNSIGNED && (int)NVTX_SIGNED == RANGE_SIGNED &&
		       (int)NVTX_FLOATING == RANGE_DOUBLE,
	       "payloads");

static uint64_t id_of(const struct nvtx_record *record)
{
	return (uint64_t)record->tid << 32 | record->id;
}

static void take_begin(struct nvtx_reader *r, struct nvtx_file *f, const struct nvtx_record *record)
{
	bool push = record->kind == NVTX_PUSH;
	struct nvtx_lane *l = lane_of(r, f, push ? record->tid : 0, record->domain);
	struct nvtx_stack *s = l && push ? &l->stack : &f->starts;
	struct nvtx_open *open = NULL;

	if (l && s->n == s->depth && s->n < (push ? DEPTH : STARTS) && f->n_open < OPEN)
		open = array_grow(s->open, s->n + 1, &s->room, sizeof(*open));
	s->depth += open || (l && push);
	if (!open) {
		r->lost[l ? NVTX_LOST_OPEN : NVTX_LOST_LANES]++;
		return;
	}
	s->open = open;
	open += s->n++;
	f->n_open++;
	*open = (struct nvtx_open) {.range = {.begin_ns = record->t,
					      .name = string_of(r, f, record->name),
					      .lane = l->about,
					      .colour = record->colour,
					      .depth = push ? (uint16_t)(s->n - 1) : 0,
					      .category = category_of(r, f, record)},
				    .id = id_of(record)};
	if (record->payload <= RANGE_DOUBLE) {
		open->range.payload = record->payload;
		open->range.value = record->payload ? record->value : 0;
	}
	/* Outermost ranges of one domain are phases: each begins with a mark. */
	if (open->range.depth == 0 && r->phases_from &&
	    !strcmp(range_domain(l->about->domain), r->phases_from)) {
		r->phases = true;
		give_mark(r, record->t, open->range.name ? open->range.name : "");
	}
}

/* Passes on the i-th, which the last one replaces. */
static void take_ended(struct nvtx_reader *r, struct nvtx_file *f, struct nvtx_stack *s, size_t i,
		       int64_t t_ns)
{
	struct range range = s->open[i].range;

	s->open[i] = s->open[--s->n];
	f->n_open--;
	range.end_ns = t_ns > range.begin_ns ? t_ns : range.begin_ns;
	if (t_ns < r->before_ns - LATE_NS)
		r->lost[NVTX_LOST_LATE]++;
	else
		give(r, &range);
}

static bool take_end(struct nvtx_reader *r, struct nvtx_file *f, uint64_t id, int64_t t_ns)
{
	for (size_t i = f->starts.n; i-- > 0;)
		if (f->starts.open[i].id == id) {
			f->starts.depth--;
			take_ended(r, f, &f->starts, i, t_ns);
			return true;
		}
	return false;
}

/* All rings were read: an end whose start was not seen then may find it now, or after the next time. */
static void ends_again(struct nvtx_reader *r, struct nvtx_file *f)
{
	size_t n = f->n_ends;

	f->n_ends = 0;
	for (size_t i = 0; i < n; i++)
		if (!take_end(r, f, f->ends[i].id, f->ends[i].t_ns) && !f->ends[i].again) {
			f->ends[f->n_ends] = f->ends[i];
			f->ends[f->n_ends++].again = true;
		}
}

/* What began before the recorder came is not known. */
static void take(struct nvtx_reader *r, struct nvtx_file *f, struct nvtx_record *record)
{
	const char *name, *domain;
	struct nvtx_stack *s;
	struct nvtx_lane *l;
	struct nvtx_end *end;
	char label[2 * NVTX_NAME];

	if (record->domain >= NVTX_DOMAINS || record->t < 0)
		return;
	record->t = record->t < r->now_ns ? record->t : r->now_ns;
	f->last_ns = record->t > f->last_ns ? record->t : f->last_ns;
	switch (record->kind) {
	case NVTX_PUSH:
	case NVTX_START:
		take_begin(r, f, record);
		break;
	case NVTX_POP:
		l = lane_of(r, f, record->tid, record->domain);
		s = l ? &l->stack : NULL;
		if (s && s->depth > 0 && --s->depth < s->n)
			take_ended(r, f, s, s->depth, record->t);
		break;
	case NVTX_END:
		if (!take_end(r, f, id_of(record), record->t) && f->n_ends < ENDS &&
		    (end = array_add(&f->ends, &f->n_ends, sizeof(*end))) != NULL)
			*end = (struct nvtx_end) {id_of(record), record->t, false};
		break;
	case NVTX_MARK:
		name = string_of(r, f, record->name);
		domain = domain_of(r, f, record->domain);
		snprintf(label, sizeof(label), "%s%s%s", domain, *domain ? ": " : "", name ? name : "");
		give_mark(r, record->t, name ? label : NULL);
		break;
	}
}

/* --- the file --- */

static bool put(const struct nvtx_file *f, size_t at, const void *from, size_t size)
{
	atomic_thread_fence(memory_order_seq_cst);
	return pwrite(f->fd, from, size, (off_t)at) == (ssize_t)size;
}

/* Tells the program which recorder reads; 0: none. */
static bool tell(const struct nvtx_file *f, uint32_t recorder)
{
	return put(f, offsetof(struct nvtx_head, reading), &recorder, sizeof(recorder));
}

/* Gets the head of the file, with its rings. Returns false with errno 0 if its program truncated it. */
static bool head_read(struct nvtx_reader *r, struct nvtx_file *f)
{
	const size_t fixed = offsetof(struct nvtx_head, ring);
	size_t size;
	uint32_t n;

	errno = 0;
	if (read_all(f->fd, &r->head, fixed, 0) != (ssize_t)fixed)
		return false;
	n = LOAD(r->head.rings) > f->n_rings ? LOAD(r->head.rings) : f->n_rings;
	n = n < NVTX_RINGS ? n : NVTX_RINGS;
	size = n * sizeof(r->head.ring[0]);
	if (read_all(f->fd, r->head.ring, size, fixed) != (ssize_t)size)
		return false;
	for (; f->n_rings < n; f->n_rings++)
		f->read[f->n_rings] = LOAD(r->head.ring[f->n_rings].read);
	atomic_thread_fence(memory_order_seq_cst);
	return true;
}

static bool begin(struct nvtx_reader *r, struct nvtx_file *f)
{
	uint64_t before[NVTX_CAUSES] = {0};

	if (f->left_out)
		return tell(f, 0);
	if (!head_read(r, f))
		return false;
	if (LOAD(r->head.reading) == r->number)
		return true;
	nvtx_lost_since(before, f->lost, r->head.lost);
	for (uint32_t i = 0; i < f->n_rings; i++) {
		f->read[i] = LOAD(r->head.ring[i].written);
		put(f, offsetof(struct nvtx_head, ring[i].read), &f->read[i], sizeof(f->read[i]));
	}
	return tell(f, r->number);
}

static void file_free(struct nvtx_file *f)
{
	for (size_t i = 0; i < COUNT(f->slots); i++)
		for (struct nvtx_lane *l = f->slots[i], *next; l; l = next) {
			next = l->next;
			free(l->stack.open);
			free(l);
		}
	if (f->fd >= 0)
		close(f->fd);
	free(f->starts.open);
	free(f->ends);
	free(f->named);
	free(f);
}

struct nvtx_file *nvtx_file_open(struct nvtx_reader *r, const char *name)
{
	struct nvtx_file *f = calloc(1, sizeof(*f));
	struct nvtx_process *p;
	struct stat st;
	int error;

	if (!f)
		return NULL;
	p = &f->process;
	memcpy(f->name, name, strnlen(name, sizeof(f->name) - 1));
	f->serial = ++r->serial;
	f->last_ns = f->opened_ns = f->looked_ns = r->now_ns;
	f->fd = openat(r->dir, f->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	error = f->fd < 0 ? errno : ENOENT;
	if (f->fd >= 0 && fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_uid == geteuid() || r->asked) && pread(f->fd, p, sizeof(*p), 0) == (ssize_t)sizeof(*p) &&
	    p->magic == NVTX_MAGIC && p->version == NVTX_VERSION && p->size == sizeof(r->head) &&
	    p->pid <= INT32_MAX) {
		f->ours = p->pid_ns == r->pid_ns;
		f->left_out = p->start < r->since;
		if (begin(r, f))
			return f;
	}
	file_free(f);
	errno = error;
	return NULL;
}

void nvtx_file_close(struct nvtx_reader *r, struct nvtx_file *f)
{
	if (f->gone)
		unlinkat(r->dir, f->name, 0);
	else
		tell(f, 0);
	file_free(f);
}

/* One of another PID namespace is not seen, but while it maps the file, the kernel gives no lease of it. What cannot be
 * known now is found out later. */
static bool is_alive(const struct nvtx_file *f)
{
	uint64_t start;

	if (f->ours)
		return nvtx_started((int)f->process.pid, &start) < 0 || start == f->process.start;
	fcntl(f->fd, F_SETSIG, SIGURG); /* if it is opened meanwhile: SIGIO would end the program */
	if (fcntl(f->fd, F_SETLEASE, F_WRLCK) < 0)
		return true;
	fcntl(f->fd, F_SETLEASE, F_UNLCK);
	return false;
}

void nvtx_file_look(struct nvtx_reader *r, struct nvtx_file *f)
{
	f->looked_ns = r->now_ns;
	f->gone = f->gone || !is_alive(f);
	f->last_ns = f->gone ? f->last_ns : r->now_ns;
}

/* Gets the next at most `most` records of the ring, of those that were there at the time of the head. */
static size_t ring_read(struct nvtx_reader *r, struct nvtx_file *f, uint32_t ring, size_t most)
{
	uint64_t written = LOAD(r->head.ring[ring].written), *read = &f->read[ring];
	size_t at = (size_t)(*read % NVTX_RECORDS), n = COUNT(r->records), size = sizeof(r->records[0]);
	uint64_t from = NVTX_RINGS_AT + (ring * (uint64_t)NVTX_RECORDS + at) * size;
	ssize_t got;

	if (written - *read > NVTX_RECORDS)
		*read = written;
	n = written - *read < n ? (size_t)(written - *read) : n;
	n = n < NVTX_RECORDS - at ? n : NVTX_RECORDS - at;
	n = n < most ? n : most;
	if (n == 0)
		return 0;
	size *= n;
	got = read_all(f->fd, r->records, size, from);
	if (got < 0) /* it is tried again */
		return 0;
	if ((size_t)got < size)
		memset(r->records, 0, size);
	*read += n;
	put(f, offsetof(struct nvtx_head, ring[ring].read), read, sizeof(*read));
	return n;
}

size_t nvtx_file_read(struct nvtx_reader *r, struct nvtx_file *f, size_t most)
{
	size_t done = 0, got;
	uint32_t i;

	if (f->left_out)
		return 0;
	if (!head_read(r, f)) {
		f->gone = errno == 0;
		return 0;
	}
	if (f->n_notes < LOAD(r->head.notes))
		notes_read(r, f);
	for (i = 0; i < f->n_rings && done < most; i++)
		do {
			got = ring_read(r, f, (f->first + i) % f->n_rings, most - done);
			r->now_ns = clock_now_ns();
			for (size_t k = 0; k < got; k++)
				take(r, f, &r->records[k]);
			done += got;
		} while (got > 0 && done < most);
	f->first = done < most ? 0 : f->first + i;
	if (done < most)
		ends_again(r, f);
	nvtx_lost_since(r->lost, f->lost, r->head.lost);
	return done;
}
