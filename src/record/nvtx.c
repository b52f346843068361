/* The recorder of NVTX ranges: it holds the folder, takes the files that programs make in it, reads them when the engine
 * calls, and says what was lost. There is no limit on the number of programs but that of open files. */
#include "record/nvtx.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/nvtx-file.h"
#include "util/array.h"
#include "util/intl.h"
#include "util/io.h"

#define PASS    65536 /* records in one call: the rows of the engine wait meanwhile */
#define BUSY_NS (10 * NS_PER_MS)
#define CALM_NS (25 * NS_PER_MS) /* ranges come before the rows of their time, which the engine holds back longer */
#define FOLDER_NS (50 * NS_PER_MS)
#define TAKE_TRIES 100 /* BUSY_NS apart; not a time, in which a busy machine may not let both sides run */
#define OPEN_NS   NS_PER_S

struct nvtx {
	struct engine_feed feed;
	char folder[256];
	int lock;
	bool yields, loaded;           /* loaded: a program had the library */
	int64_t folder_ns, changed_ns; /* the next look at the folder; the last one that found it changed */
	struct timespec changed;
	struct nvtx_file **files;
	size_t n_files, turn, n_left_out;
	uint64_t page[NVTX_CAUSES]; /* of our own file, so far */
	uint64_t told[NVTX_ALL_CAUSES];
	struct nvtx_reader reader;
};

_Static_assert(NVTX_RATE == 200000 && NVTX_RINGS == 256 && NVTX_DOMAINS == 4096 && NVTX_FILE_MARKS == 1000 &&
		       NVTX_FILE_LANES == 4096,
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
	struct change c = {.t_ns = n->reader.now_ns, .what = CHANGE_RANGES_LOST};

	for (int i = NVTX_NOT_LOST + 1; i < NVTX_ALL_CAUSES; i++) {
		uint64_t lost = n->reader.lost[i] - n->told[i];

		if (nvtx_causes[i].part || lost == 0)
			continue;
		snprintf(c.to, sizeof(c.to), "%llu %s", (unsigned long long)lost, nvtx_causes[i].word);
		n->told[i] = n->reader.lost[i];
		n->reader.ops->change(n->reader.to, &c);
	}
}

/* --- our own file --- */

/* Begins to count; 0: not any more. */
static int page_write(struct nvtx *n, uint32_t number)
{
	struct nvtx_recorder page = {.magic = NVTX_MAGIC, .version = NVTX_VERSION, .reading = number};

	n->reader.number = number;
	memset(n->page, 0, sizeof(n->page));
	errno = ENOSPC;
	return pwrite(n->lock, &page, number ? sizeof(page) : offsetof(struct nvtx_recorder, lost), 0) > 0
		       ? 0
		       : -1;
}

/* What programs without a file lost. Returns whether another recorder wants the folder. */
static bool page_read(struct nvtx *n)
{
	struct nvtx_recorder page;

	if (n->lock < 0 || read_all(n->lock, &page, sizeof(page), 0) != (ssize_t)sizeof(page))
		return false;
	nvtx_lost_since(n->reader.lost, n->page, page.lost);
	return atomic_load_explicit(&page.wanted, memory_order_relaxed) != 0;
}

/* --- files --- */

static void file_drop(struct nvtx *n, size_t i)
{
	nvtx_file_close(&n->reader, n->files[i]);
	n->files[i] = n->files[--n->n_files];
}

static void file_take(struct nvtx *n, const char *name)
{
	struct nvtx_file *f = nvtx_file_open(&n->reader, name), **place;

	if (!f) {
		if (errno == EMFILE || errno == ENFILE)
			n->changed_ns = n->reader.now_ns; /* it is tried again */
		return;
	}
	place = array_add(&n->files, &n->n_files, sizeof(*place));
	if (!place) {
		nvtx_file_close(&n->reader, f);
		return;
	}
	*place = f;
	/* One of a process that had another before exec. */
	for (size_t i = 0; i + 1 < n->n_files; i++)
		if (memcmp(&n->files[i]->process, &f->process, sizeof(f->process)) == 0)
			(strverscmp(n->files[i]->name, f->name) < 0 ? n->files[i] : f)->gone = true;
	if (f->left_out)
		nvtx_file_look(&n->reader, f);
	n->loaded |= !f->left_out;
	n->n_left_out += f->left_out && !f->gone;
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

	if (nvtx_folder(n->folder, sizeof(n->folder), &n->reader.asked, e) < 0)
		return -1;
	mkdir(n->folder, 0700);
	n->reader.dir = open(n->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (n->reader.dir >= 0 && fstat(n->reader.dir, &st) == 0 &&
	    (n->reader.asked || (st.st_uid == geteuid() && !(st.st_mode & 077))))
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

/* Returns 1 and sets *e if another nvmtop has the folder. */
static int try_take(struct nvtx *n, struct err *e)
{
	int error, busy;

	if (n->lock >= 0)
		return 0;
	if (n->reader.dir < 0 && folder_open(n, e) < 0)
		return -1;
	n->lock = openat(n->reader.dir, NVTX_RECORDER, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	busy = n->lock >= 0 && flock(n->lock, LOCK_EX | LOCK_NB) < 0;
	if (busy && !n->yields) /* until it is taken, which writes all of it */
		(void)!pwrite(n->lock, &(uint32_t) {1}, sizeof(uint32_t), offsetof(struct nvtx_recorder, wanted));
	if (n->lock >= 0 && !busy && page_write(n, (uint32_t)n->reader.now_ns | 1) == 0) {
		n->changed_ns = n->reader.now_ns; /* the files are free again, which the folder does not show */
		return 0;
	}
	error = errno;
	if (n->lock >= 0)
		close(n->lock);
	n->lock = -1;
	if (!busy)
		return err_sys(e, ERR_FAILED, error, _("cannot record NVTX ranges: %s"), n->folder);
	err_set(e, ERR_FAILED,
		_("another nvmtop records NVTX ranges: end it, or give each a folder of its own in "
		  "NVMTOP_NVTX_DIR"));
	return 1;
}

int nvtx_take(struct nvtx *n, struct err *e)
{
	int r;

	for (int tries = 0; (r = try_take(n, e)) == 1 && tries < TAKE_TRIES; tries++)
		nanosleep(&(struct timespec) {.tv_nsec = BUSY_NS}, NULL);
	return r == 0 ? 0 : -1;
}

/* Lets all files go, and the folder. */
static void let_go(struct nvtx *n)
{
	while (n->n_files > 0) {
		nvtx_file_look(&n->reader, n->files[0]);
		file_drop(n, 0);
	}
	if (n->lock >= 0) {
		page_read(n);
		page_write(n, 0);
		close(n->lock);
	}
	n->lock = -1;
}

/* Looks for files of new processes, for a second after a change: some may not be complete at first. */
static void folder_look(struct nvtx *n)
{
	struct stat st;
	struct dirent *d;
	DIR *list;
	size_t i;
	int fd;

	if (fstat(n->reader.dir, &st) == 0 && memcmp(&st.st_mtim, &n->changed, sizeof(n->changed)) != 0) {
		n->changed = st.st_mtim;
		n->changed_ns = n->reader.now_ns;
	}
	if (n->reader.now_ns - n->changed_ns > NS_PER_S)
		return;
	fd = openat(n->reader.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	list = fd >= 0 ? fdopendir(fd) : NULL;
	if (!list && fd >= 0)
		close(fd);
	while (list && (d = readdir(list))) {
		if (strncmp(d->d_name, "nvtx-", 5) != 0 || !strcmp(d->d_name, NVTX_RECORDER) ||
		    strlen(d->d_name) >= sizeof(n->files[0]->name))
			continue;
		for (i = 0; i < n->n_files && strcmp(n->files[i]->name, d->d_name) != 0; i++)
			;
		if (i == n->n_files)
			file_take(n, d->d_name);
	}
	if (list)
		closedir(list);
}

/* --- the calls --- */

int64_t nvtx_poll(void *nvtx, bool last)
{
	struct nvtx *n = nvtx;
	struct nvtx_reader *r = &n->reader;
	size_t most = last ? SIZE_MAX : PASS, left = most, all;
	int64_t now = r->now_ns = clock_now_ns(), next;
	struct err e;

	if (last || now >= n->folder_ns) {
		if (try_take(n, &e) == 0)
			folder_look(n);
		if (page_read(n) && n->yields)
			let_go(n);
		n->folder_ns = now + (n->lock >= 0 ? FOLDER_NS : NS_PER_S);
	}
	/* Who is gone is known before what it has written is read. */
	for (size_t i = 0; i < n->n_files; i++)
		if (last || now - n->files[i]->looked_ns >= NS_PER_S / 4)
			nvtx_file_look(r, n->files[i]);
	all = n->n_files;
	for (size_t i = 0; i < all && left > 0; i++)
		left -= nvtx_file_read(r, n->files[n->turn++ % all], left);
	if (last)
		page_read(n);
	r->now_ns = clock_now_ns();
	for (size_t i = n->n_files; i-- > 0;) {
		struct nvtx_file *f = n->files[i];
		bool gone = f->gone && left > 0;

		if (last || gone || r->now_ns - f->opened_ns >= OPEN_NS)
			nvtx_file_open_ranges(r, f, last || gone);
		if (gone)
			file_drop(n, i);
	}
	nvtx_reader_flush(r);
	if (last)
		tell_lost(n);
	if (left > 0)
		r->before_ns = now;
	next = now + (left == 0 ? 0 : left < most ? BUSY_NS : CALM_NS);
	return n->n_files > 0 && next < n->folder_ns ? next : n->folder_ns;
}

struct nvtx *nvtx_new(const struct nvtx_ops *ops, struct engine *to, bool yields, int since, const char *phases_from,
		      struct err *e)
{
	struct nvtx *n = calloc(1, sizeof(*n));
	struct stat st;

	if (!n || !(n->reader.store = ranges_new(0, e))) {
		free(n);
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	n->reader.ops = ops;
	n->reader.to = to;
	n->reader.phases_from = phases_from;
	n->reader.before_ns = n->reader.now_ns = clock_now_ns();
	n->yields = yields;
	if (since)
		nvtx_started(since, &n->reader.since);
	n->reader.dir = n->lock = -1;
	n->reader.pid_ns = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
	return n;
}

void nvtx_free(struct nvtx *n)
{
	if (!n)
		return;
	n->reader.now_ns = clock_now_ns();
	let_go(n);
	if (n->reader.dir >= 0)
		close(n->reader.dir);
	ranges_free(n->reader.store);
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

bool nvtx_news(const struct nvtx *n, struct nvtx_news *about, char *out, size_t size)
{
	uint64_t all = 0;
	size_t used = 0;

	*about = (struct nvtx_news) {n->reader.any, n->reader.phases, n->n_left_out};
	for (int i = NVTX_NOT_LOST + 1; i < NVTX_ALL_CAUSES; i++)
		all += nvtx_causes[i].part ? 0 : n->reader.lost[i];
	if (all > 0)
		used = (size_t)snprintf(out, size,
					P_("%llu NVTX range or mark is missing",
					   "%llu NVTX ranges and marks are missing", all),
					(unsigned long long)all);
	else if (!n->reader.came)
		used = (size_t)snprintf(
			out, size, "%s",
			n->loaded ? _("no NVTX ranges were received: the program loaded libnvmtop-nvtx.so, "
				      "but marked none, or only in domains that --nvtx leaves out")
				  : _("no NVTX ranges were received: the program does not use NVTX, or did "
				      "not load libnvmtop-nvtx.so"));
	for (int i = NVTX_NOT_LOST + 1; i < NVTX_ALL_CAUSES; i++)
		if (n->reader.lost[i] && used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%llu %s", used ? "; " : "",
						 (unsigned long long)n->reader.lost[i], _(nvtx_causes[i].said));
	return used > 0;
}
