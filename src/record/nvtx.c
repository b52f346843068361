/* A program's file has what it called; the ranges are made of it here, and each that is lost on the way is counted by its
 * cause: made = recorded + lost. There is no limit on the number of programs but that of open files. */
#include "record/nvtx.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nvmtop/mark.h"
#include "record/nvtx-file.h"
#include "util/array.h"
#include "util/intl.h"
#include "util/io.h"

#define WANTED  "nvtx-wanted"
#define LANES   4096      /* of a file */
#define SLOTS   256       /* of lanes */
#define DEPTH   32768     /* deeper ranges are lost */
#define OPEN    (1 << 18) /* open ranges of a file */
#define STARTS  1024      /* start and end ranges that are open at a time */
#define ENDS    256
#define PASS    65536 /* records in one call: the rows of the engine wait meanwhile */
#define BATCH   512
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

/* A program. */
struct file {
	const char *key; /* its name; first: the tree of names looks there */
	struct nvtx_file *from;
	bool left_out;
	struct lane *slots[SLOTS];
	size_t n_lanes, n_open;
	struct start {
		struct range r;
		uint64_t id;
	} * starts;
	size_t n_starts;
	struct end {
		uint64_t id;
		int64_t t_ns;
		bool again;
	} * ends; /* that came before their start, which is in another ring */
	size_t n_ends;
	int64_t last_ns, opened_ns, looked_ns; /* last_ns: its process still ran */
};

struct nvtx {
	struct engine_feed feed;
	const struct nvtx_ops *ops;
	struct engine *to;
	char folder[256];
	int lock, asked;   /* asked: the folder need not be private */
	uint64_t since;    /* programs that started before are left out */
	const char *phases_from; /* a domain whose outermost ranges begin phases; or NULL */
	bool yields, busy; /* busy: another nvmtop had the folder */
	bool loaded;       /* a program had the library */
	int64_t folder_ns, changed_ns;
	struct timespec changed;
	uint64_t pid_ns;
	uint32_t number; /* of this recorder */
	struct file **files;
	void *names; /* a tree of them */
	size_t n_files, turn;
	struct nvtx_reader reader;                    /* of names and lanes */
	struct range batch[BATCH];
	size_t n_batch;
	int64_t now_ns, before_ns, marks_ns;
	unsigned marks;
	bool any, came; /* ranges; anything */
	size_t n_left_out;
	uint64_t lost[NVTX_ALL_CAUSES], page[NVTX_CAUSES]; /* page: of our own file, so far */
	uint64_t told[NVTX_ALL_CAUSES];
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
	n->any = n->came = true;
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
	for (size_t i = 0; i < SLOTS; i++)
		for (struct lane *l = f->slots[i]; l; l = l->next)
			for (uint32_t k = 0; k < l->depth && k < l->room; k++)
				give_open(n, &l->open[k], end_ns, all);
	for (size_t i = 0; i < f->n_starts; i++)
		give_open(n, &f->starts[i].r, end_ns, all);
}

_Static_assert(NVTX_RATE == 200000 && NVTX_RINGS == 256 && NVTX_DOMAINS == 4096 && MARKS == 1000 && LANES == 4096,
	       "the sentences below");

/* Each cause in a word, as a trace has it, and in a sentence. */
static const struct nvtx_cause {
	const char *word, *said;
	bool part; /* the range is there, without a part */
} nvtx_causes[NVTX_ALL_CAUSES] = {
	[NVTX_LOST_RATE] = {"rate", N_("were beyond 200000 a second of a domain, which --nvtx=all lifts"), false},
	[NVTX_LOST_THREADS] = {"threads", N_("were of more than 256 threads of a program at a time"), false},
	[NVTX_LOST_DOMAINS] = {"domains", N_("were of more than 4093 domains of a program"), false},
	[NVTX_LOST_DEPTH] = {"depth", N_("were nested too deeply"), false},
	[NVTX_LOST_BUSY] = {"busy", N_("came in a signal handler, or while the program created its file"), false},
	[NVTX_LOST_SPACE] = {"space", N_("were lost because the directory of the ranges was full"), false},
	[NVTX_LOST_FSIZE] = {"file size", N_("were lost to the program's limit of file size (ulimit -f)"), false},
	[NVTX_LOST_MEMORY] = {"memory", N_("were lost to the program's limit of memory (ulimit -v)"), false},
	[NVTX_LOST_NOFILE] = {"open files", N_("were lost to the program's limit of open files (ulimit -n)"), false},
	[NVTX_LOST_FILE] = {"file", N_("were lost because the program could not create its file"), false},
	[NVTX_LOST_NAME] = {"name", N_("have no name: there was no place for it"), true},
	[NVTX_LOST_END] = {"end", N_("have no end: it was not recorded"), true},
	[NVTX_LOST_FULL] = {"full", N_("came faster than they could be taken"), false},
	[NVTX_LOST_OPEN] = {"open", N_("were too many open at a time"), false},
	[NVTX_LOST_LANES] = {"lanes", N_("were of more than 4096 lanes (domains of threads)"), false},
	[NVTX_LOST_LATE] = {"late", N_("were read more than a second late"), false},
	[NVTX_LOST_MARKS] = {"marks", N_("were marks beyond 1000 a second"), false},
};

static void tell_lost(struct nvtx *n)
{
	struct change c = {.t_ns = n->now_ns, .what = "ranges.lost"};

	for (int i = 0; i < NVTX_ALL_CAUSES; i++) {
		if (nvtx_causes[i].part || n->lost[i] == n->told[i])
			continue;
		snprintf(c.to, sizeof(c.to), "%llu %s", (unsigned long long)(n->lost[i] - n->told[i]), nvtx_causes[i].word);
		n->told[i] = n->lost[i];
		n->ops->change(n->to, &c);
	}
}

/* --- lanes --- */

static const char *category_of(struct nvtx *n, const struct file *f, const struct nvtx_record *r,
			       uint32_t number)
{
	const char *name = number ? nvtx_file_name(f->from, NVTX_CATEGORY, r->domain, number) : NULL;
	char text[16];

	if (name || !number)
		return name;
	snprintf(text, sizeof(text), "%u", number);
	return ranges_name(n->reader.store, text);
}

/* The name that the kernel has for the thread. */
static void kernel_name(const struct file *f, uint32_t tid, char *out, size_t size)
{
	char path[64], text[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", f->from->about.pid, tid);
	fd = f->from->ours ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	got = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
	if (fd >= 0)
		close(fd);
	if (got > 1)
		text_printable(out, size, text, (size_t)got - 1);
}

static void copy(char *out, size_t size, const char *text)
{
	text_printable(out, size, text ? text : "", text ? strlen(text) : 0);
}

static void lane_describe(struct nvtx *n, struct file *f, struct lane *l)
{
	struct range_lane about = {.pid = f->from->about.pid, .tid = l->tid};
	const char *thread = nvtx_file_name(f->from, NVTX_THREAD, 0, l->tid);

	copy(about.process, sizeof(about.process), nvtx_file_process(&n->reader, f->from));
	copy(about.domain, sizeof(about.domain), nvtx_file_domain(&n->reader, f->from, l->domain));
	if (thread)
		copy(about.thread, sizeof(about.thread), thread);
	else if (l->tid)
		kernel_name(f, l->tid, about.thread, sizeof(about.thread));
	l->about = ranges_lane(n->reader.store, &about);
}

/* After a thread got another name. */
static void lanes_renew(struct file *f)
{
	for (size_t i = 0; i < SLOTS && f->from->renamed; i++)
		for (struct lane *l = f->slots[i]; l; l = l->next)
			l->about = NULL;
	f->from->renamed = false;
}

/* NULL: there are too many. */
static struct lane *lane_of(struct nvtx *n, struct file *f, uint32_t tid, uint16_t domain)
{
	struct lane **slot = &f->slots[(tid * 31 + domain) % SLOTS], *l = *slot;

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
	static const uint8_t types[] = {[NVTX_U64] = RANGE_UNSIGNED, [NVTX_I64] = RANGE_SIGNED, [NVTX_DOUBLE] = RANGE_DOUBLE,
					[NVTX_U32] = RANGE_UNSIGNED, [NVTX_I32] = RANGE_SIGNED, [NVTX_FLOAT] = RANGE_DOUBLE};
	uint32_t low = (uint32_t)r->value;
	uint64_t value = r->value;
	float small;
	double wide;

	*type = r->payload < sizeof(types) ? types[r->payload] : RANGE_NO_PAYLOAD;
	if (r->payload == NVTX_FLOAT) {
		memcpy(&small, &low, sizeof(small));
		wide = (double)small;
		memcpy(&value, &wide, sizeof(value));
	} else if (r->payload == NVTX_U32 || r->payload == NVTX_I32) {
		value = r->payload == NVTX_U32 ? low : (uint64_t)(int64_t)(int32_t)low;
	}
	return *type == RANGE_NO_PAYLOAD ? 0 : value;
}

static struct range begun(struct nvtx *n, struct file *f, const struct nvtx_record *r, const struct lane *l)
{
	const struct nvtx_record *more = &f->from->rings[f->from->ring].more;
	struct range out = {.begin_ns = r->t,
			    .name = nvtx_file_string(&n->reader, f->from, r->name),
			    .lane = l->about,
			    .colour = r->colour};

	out.category = category_of(n, f, r, more->tid);
	out.value = payload_of(r->kind == NVTX_START ? more : r, &out.payload);
	return out;
}

/* There may be so many in a second. */
static bool mark_has_room(struct nvtx *n)
{
	if (n->now_ns - n->marks_ns >= NS_PER_S) {
		n->marks_ns = n->now_ns;
		n->marks = 0;
	}
	n->came = true;
	return n->marks++ < MARKS;
}

static void take_mark(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	const char *name, *domain;
	char label[2 * NVTX_NAME];

	if (!mark_has_room(n) || !(name = nvtx_file_string(&n->reader, f->from, r->name))) {
		n->lost[NVTX_LOST_MARKS]++;
		return;
	}
	domain = nvtx_file_domain(&n->reader, f->from, r->domain);
	snprintf(label, sizeof(label), "%s%s%s", domain, *domain ? ": " : "", name);
	n->ops->mark(n->to, r->t, label);
}

/* Outermost ranges of one domain are phases: each begins with a mark. */
static void begin_phase(struct nvtx *n, const struct range *r)
{
	if (!n->phases_from || strcmp(range_domain(r->lane->domain), n->phases_from) != 0)
		return;
	if (mark_has_room(n))
		n->ops->mark(n->to, r->begin_ns, r->name ? r->name : "");
	else
		n->lost[NVTX_LOST_MARKS]++;
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
	if (l && l->depth < l->room && f->n_open < OPEN) {
		l->open[l->depth] = begun(n, f, r, l);
		l->open[l->depth].depth = (uint16_t)l->depth;
		f->n_open++;
		if (l->depth == 0)
			begin_phase(n, &l->open[0]);
	} else {
		n->lost[l ? NVTX_LOST_OPEN : NVTX_LOST_LANES]++;
		if (l && l->depth < l->room)
			l->room = l->depth; /* what is deeper is not there, either */
	}
	if (l)
		l->depth++;
}

static void give_ended(struct nvtx *n, struct range *r, int64_t t_ns)
{
	if (t_ns < n->before_ns - LATE_NS) {
		n->lost[NVTX_LOST_LATE]++;
		return;
	}
	r->end_ns = t_ns > r->begin_ns ? t_ns : r->begin_ns;
	give(n, r);
}

/* What began before the recorder came is not known. */
static void take_pop(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	struct lane *l = lane_of(n, f, r->tid, r->domain);

	if (!l || l->depth == 0 || --l->depth >= l->room)
		return;
	f->n_open--;
	give_ended(n, &l->open[l->depth], r->t);
}

static void take_start(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	struct lane *l = lane_of(n, f, 0, r->domain);

	if (!f->starts)
		f->starts = calloc(STARTS, sizeof(*f->starts));
	if (!l || !f->starts || f->n_starts == STARTS) {
		n->lost[l ? NVTX_LOST_OPEN : NVTX_LOST_LANES]++;
		return;
	}
	f->starts[f->n_starts].id = r->value;
	f->starts[f->n_starts].r = begun(n, f, r, l);
	begin_phase(n, &f->starts[f->n_starts++].r);
}

static void take_more(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	(void)n;
	f->from->rings[f->from->ring].more = *r;
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
	if (!f->ends)
		f->ends = calloc(ENDS, sizeof(*f->ends));
	if (end_start(n, f, r->value, r->t) || !f->ends || f->n_ends == ENDS)
		return;
	f->ends[f->n_ends++] = (struct end) {.id = r->value, .t_ns = r->t};
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

static void take(struct nvtx *n, struct file *f, struct nvtx_record *r)
{
	static void (*const take[])(struct nvtx * n, struct file * f, struct nvtx_record * r) = {
		[NVTX_PUSH] = take_push, [NVTX_POP] = take_pop,   [NVTX_START] = take_start,
		[NVTX_END] = take_end,   [NVTX_MARK] = take_mark, [NVTX_MORE] = take_more,
	};

	if (r->kind >= sizeof(take) / sizeof(*take) || !take[r->kind] || r->domain >= NVTX_DOMAINS ||
	    r->t < 0)
		return;
	r->t = r->t < n->now_ns ? r->t : n->now_ns;
	f->last_ns = r->t > f->last_ns ? r->t : f->last_ns;
	take[r->kind](n, f, r);
	if (r->kind != NVTX_MORE)
		f->from->rings[f->from->ring].more = (struct nvtx_record) {.payload = NVTX_NO_PAYLOAD};
}

/* --- files --- */

/* Returns the number of records that were read, at most `most`. */
static size_t file_read(struct nvtx *n, struct file *f, size_t most)
{
	struct nvtx_file *from = f->from;
	size_t done = 0, got;
	uint32_t i;

	if (f->left_out)
		return 0;
	if (!nvtx_file_head(&n->reader, from)) {
		from->gone = true;
		return 0;
	}
	if (from->notes < atomic_load_explicit(&n->reader.head.notes, memory_order_relaxed))
		nvtx_file_notes(&n->reader, from);
	for (i = 0; i < from->n_rings && done < most; i++)
		do {
			got = nvtx_file_ring(&n->reader, from, (from->first + i) % from->n_rings,
					     most - done);
			n->now_ns = clock_now_ns();
			for (size_t k = 0; k < got; k++) {
				lanes_renew(f);
				take(n, f, &n->reader.records[k]);
			}
			done += got;
		} while (got > 0 && done < most);
	from->first = done < most ? 0 : from->first + i;
	if (done < most)
		ends_again(n, f);
	nvtx_file_lost(&n->reader, from, n->lost);
	return done;
}

static void file_free(struct nvtx *n, struct file *f)
{
	for (size_t i = 0; i < SLOTS; i++)
		for (struct lane *l = f->slots[i], *next; l; l = next) {
			next = l->next;
			free(l->open);
			free(l);
		}
	nvtx_file_free(&n->reader, f->from);
	free(f->starts);
	free(f->ends);
	free(f);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void file_take(struct nvtx *n, const char *name)
{
	struct file *f = calloc(1, sizeof(*f)), **place;

	if (!f || !(f->from = nvtx_file_new(&n->reader, name, n->asked, n->pid_ns))) {
		if (f && (errno == EMFILE || errno == ENFILE))
			n->changed_ns = n->now_ns; /* it is tried again */
		free(f);
		return;
	}
	f->left_out = f->from->about.start < n->since;
	f->last_ns = f->opened_ns = f->looked_ns = n->now_ns;
	f->key = f->from->name;
	bool begun = f->left_out ? nvtx_file_tell(f->from, 0) : nvtx_file_begin(&n->reader, f->from, n->number);
	place = begun ? array_add(&n->files, &n->n_files, sizeof(*place)) : NULL;
	if (!place || !tsearch(f, &n->names, by_name)) {
		n->n_files -= place != NULL;
		file_free(n, f);
		return;
	}
	*place = f;
	n->loaded |= !f->left_out;
	n->n_left_out += f->left_out && nvtx_file_is_alive(f->from);
}

/* Lets the file go; that of a process that is gone is removed. */
static void file_drop(struct nvtx *n, size_t i)
{
	struct file *f = n->files[i];

	if (f->from->gone)
		unlinkat(n->reader.dir, f->from->name, 0);
	else
		nvtx_file_tell(f->from, 0);
	tdelete(f, &n->names, by_name);
	file_free(n, f);
	n->files[i] = n->files[--n->n_files];
}

/* Finds out whether its process is gone. */
static void file_look(struct nvtx *n, struct file *f)
{
	f->looked_ns = n->now_ns;
	f->from->gone = f->from->gone || f->from->ended == NVTX_EXECED || !nvtx_file_is_alive(f->from);
	f->last_ns = f->from->gone ? f->last_ns : n->now_ns;
}

/* --- our own file --- */

/* Begins to count; 0: not any more. */
static int page_write(struct nvtx *n, uint32_t number)
{
	struct nvtx_recorder page = {.magic = NVTX_MAGIC, .version = NVTX_VERSION, .reading = number};

	n->number = number;
	memset(n->page, 0, sizeof(n->page));
	errno = ENOSPC;
	return pwrite(n->lock, &page, number ? sizeof(page) : offsetof(struct nvtx_recorder, lost), 0) > 0
		       ? 0
		       : -1;
}

/* What programs without a file lost. */
static void page_read(struct nvtx *n)
{
	struct nvtx_recorder page;
	uint64_t now[NVTX_CAUSES];

	if (n->lock < 0 || read_all(n->lock, &page, sizeof(page), 0) != (ssize_t)sizeof(page))
		return;
	memcpy(now, page.lost, sizeof(now));
	nvtx_lost_since(n->lost, n->page, now, NVTX_CAUSES);
}

/* --- the folder --- */

int nvtx_folder(char *out, size_t size, int *asked, struct err *e)
{
	if (nvtx_ring_folder(out, size, asked))
		return 0;
	return err_set(e, ERR_FAILED,
		       _("cannot record NVTX ranges: NVMTOP_NVTX_DIR is not an absolute path, or too long"));
}

static int folder_open(struct nvtx *n, struct err *e)
{
	char shown[sizeof(n->folder)];
	struct stat st;

	if (nvtx_folder(n->folder, sizeof(n->folder), &n->asked, e) < 0)
		return -1;
	mkdir(n->folder, 0700);
	n->reader.dir = open(n->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (n->reader.dir >= 0 && fstat(n->reader.dir, &st) == 0 &&
	    (n->asked || (st.st_uid == geteuid() && !(st.st_mode & 077))))
		return 0;
	text_printable(shown, sizeof(shown), n->folder, strlen(n->folder));
	if (n->reader.dir < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot record NVTX ranges: %s"), shown);
	close(n->reader.dir);
	n->reader.dir = -1;
	return err_set(e, ERR_FAILED,
		       _("cannot record NVTX ranges: %s is not a folder that only you can access (chmod 700, "
			 "or remove it)"),
		       shown);
}

static int try_take(struct nvtx *n, struct err *e)
{
	int error;

	if (n->lock >= 0)
		return 0;
	if (n->reader.dir < 0 && folder_open(n, e) < 0)
		return -1;
	n->lock = openat(n->reader.dir, NVTX_RECORDER, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
			 0600);
	if (n->lock < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot record NVTX ranges: %s"), n->folder);
	if (flock(n->lock, LOCK_EX | LOCK_NB) == 0) {
		n->changed_ns = n->now_ns; /* the files are free again, which the folder does not show */
		if (page_write(n, (uint32_t)n->now_ns | 1) == 0)
			return 0;
		error = errno;
		close(n->lock);
		n->lock = -1;
		return err_sys(e, ERR_FAILED, error, _("cannot record NVTX ranges: %s"), n->folder);
	}
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
	fd = openat(n->reader.dir, WANTED, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	while (fd >= 0 && r < 0 && clock_now_ns() < until) {
		nanosleep(&(struct timespec) {.tv_nsec = BUSY_NS}, NULL);
		r = try_take(n, e);
	}
	unlinkat(n->reader.dir, WANTED, 0);
	if (fd >= 0)
		close(fd);
	return r;
}

/* For another nvmtop that wants the folder. */
static void let_go(struct nvtx *n)
{
	page_read(n);
	while (n->n_files > 0)
		file_drop(n, 0);
	unlinkat(n->reader.dir, WANTED, 0);
	page_write(n, 0);
	close(n->lock);
	n->lock = -1;
}

/* Looks for files of new processes, for a second after a change: some may not be complete at first. */
static void folder_look(struct nvtx *n)
{
	struct stat st;
	struct dirent *d;
	bool wanted = false;
	const char *name;
	DIR *list;
	int fd;

	if (fstat(n->reader.dir, &st) == 0 && memcmp(&st.st_mtim, &n->changed, sizeof(n->changed)) != 0) {
		n->changed = st.st_mtim;
		n->changed_ns = n->now_ns;
	}
	if (n->now_ns - n->changed_ns > NS_PER_S)
		return;
	fd = openat(n->reader.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	list = fd >= 0 ? fdopendir(fd) : NULL;
	if (!list && fd >= 0)
		close(fd);
	while (list && (d = readdir(list))) {
		wanted |= !strcmp(d->d_name, WANTED);
		if (!strncmp(d->d_name, "nvtx-", 5) && strcmp(d->d_name, NVTX_RECORDER) &&
		    strcmp(d->d_name, WANTED) && strlen(d->d_name) < sizeof(n->files[0]->from->name) &&
		    (name = d->d_name, !tfind(&name, &n->names, by_name)))
			file_take(n, name);
	}
	if (list)
		closedir(list);
	if (wanted && n->yields)
		let_go(n);
}

/* --- the calls --- */

/* Reads at most `left` records. Returns whether anything came; *more: there is more. */
static bool files_read(struct nvtx *n, size_t left, bool *more)
{
	size_t all = n->n_files, most = left;

	for (size_t i = 0; i < all && left > 0; i++)
		left -= file_read(n, n->files[n->turn++ % all], left);
	*more = left == 0;
	return left < most;
}

static void files_look(struct nvtx *n, bool more)
{
	for (size_t i = n->n_files; i-- > 0;) {
		struct file *f = n->files[i];

		if (!more && f->from->gone) {
			give_all_open(n, f, f->last_ns, true);
			file_drop(n, i);
			continue;
		}
		if (f->from->ended || n->now_ns - f->looked_ns >= NS_PER_S / 4)
			file_look(n, f);
		if (n->now_ns - f->opened_ns >= OPEN_NS) {
			f->opened_ns = n->now_ns;
			give_all_open(n, f, n->now_ns, false);
		}
	}
}

/* All that was written until now: who is gone is known before the last reading. */
static void read_last(struct nvtx *n)
{
	bool more;

	for (size_t i = 0; i < n->n_files; i++)
		file_look(n, n->files[i]);
	files_read(n, SIZE_MAX, &more);
	page_read(n);
	n->now_ns = clock_now_ns();
	for (size_t i = n->n_files; i-- > 0;) {
		struct file *f = n->files[i];

		give_all_open(n, f, f->from->gone ? f->last_ns : n->now_ns, true);
		if (f->from->gone)
			file_drop(n, i);
	}
	flush(n);
	tell_lost(n);
}

int64_t nvtx_poll(void *nvtx, bool last)
{
	struct nvtx *n = nvtx;
	int64_t now = clock_now_ns(), next;
	bool busy = false, more = false;
	struct err e;

	n->now_ns = now;
	if (last || now >= n->folder_ns) {
		if (try_take(n, &e) == 0)
			folder_look(n);
		n->folder_ns = now + (n->lock >= 0 ? FOLDER_NS : NS_PER_S);
	}
	if (last) {
		read_last(n);
	} else {
		busy = files_read(n, PASS, &more);
		n->now_ns = clock_now_ns();
		files_look(n, more);
		flush(n);
	}
	if (!more)
		n->before_ns = now;
	next = now + (more ? 0 : busy ? BUSY_NS : CALM_NS);
	return n->n_files > 0 && next < n->folder_ns ? next : n->folder_ns;
}

struct nvtx *nvtx_new(const struct nvtx_ops *ops, struct engine *to, bool yields, int since, const char *phases_from,
		      struct err *e)
{
	struct nvtx *n = calloc(1, sizeof(*n));
	struct stat st;

	if (!n || !nvtx_reader_new(&n->reader) || !(n->reader.store = ranges_new(0, e))) {
		if (n)
			nvtx_reader_free(&n->reader);
		free(n);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	n->ops = ops;
	n->to = to;
	n->yields = yields;
	n->since = since ? nvtx_started(since) : 0;
	n->phases_from = phases_from;
	n->reader.dir = n->lock = -1;
	n->pid_ns = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
	n->before_ns = n->now_ns = clock_now_ns();
	return n;
}

void nvtx_free(struct nvtx *n)
{
	if (!n)
		return;
	while (n->n_files > 0) {
		file_look(n, n->files[0]);
		file_drop(n, 0);
	}
	if (n->lock >= 0) {
		page_write(n, 0);
		close(n->lock);
	}
	if (n->reader.dir >= 0)
		close(n->reader.dir);
	ranges_free(n->reader.store);
	nvtx_reader_free(&n->reader);
	free(n->files);
	free(n);
}

/* --- the engine --- */

struct nvtx *nvtx_attach(struct engine *g, bool yields, int since, const char *phases_from, struct err *e)
{
	static const struct nvtx_ops ops = {engine_ranges, engine_mark, engine_change};
	struct nvtx *n = nvtx_new(&ops, g, yields, since, phases_from, e);

	if (n && !yields && nvtx_take(n, e) < 0) {
		nvtx_free(n);
		return NULL;
	}
	if (n) {
		n->feed = (struct engine_feed) {.poll = nvtx_poll, .fd = -1};
		engine_add_feed(g, &n->feed);
	}
	return n;
}

bool nvtx_had_domain(const struct nvtx *n, const char *domain)
{
	const struct range_lane *lanes[LANES];
	size_t all = ranges_lanes(n->reader.store, lanes, LANES);

	for (size_t i = 0; i < all && i < LANES; i++)
		if (!strcmp(range_domain(lanes[i]->domain), domain))
			return true;
	return false;
}

size_t nvtx_left_out(const struct nvtx *n)
{
	return n->n_left_out;
}

bool nvtx_news(const struct nvtx *n, bool *any, char *out, size_t size)
{
	uint64_t all = 0;
	size_t used = 0;

	*any = n->any;
	for (int i = 0; i < NVTX_ALL_CAUSES; i++)
		all += nvtx_causes[i].part ? 0 : n->lost[i];
	if (all > 0)
		used = (size_t)snprintf(out, size,
					P_("%llu NVTX range or mark is missing",
					   "%llu NVTX ranges and marks are missing", all),
					(unsigned long long)all);
	else if (!n->came)
		used = (size_t)snprintf(
			out, size, "%s",
			n->loaded ? _("no NVTX ranges were received: the program loaded libnvmtop-nvtx.so, "
				      "but marked none, or only in domains that --nvtx leaves out")
				  : _("no NVTX ranges were received: the program does not use NVTX, or did "
				      "not load libnvmtop-nvtx.so"));
	for (int i = 0; i < NVTX_ALL_CAUSES; i++)
		if (n->lost[i] && used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%llu %s", used ? "; " : "",
						 (unsigned long long)n->lost[i], _(nvtx_causes[i].said));
	return used > 0;
}
