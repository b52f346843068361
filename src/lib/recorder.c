/* The recorder for other programs: a writer, and an engine that it may share with live values. A FILE.bin is made at
 * the end of FILE.bin.nvmt, the log, which is then removed. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/lib.h"
#include "board/board.h"
#include "util/clock.h"
#include "engine/engine.h"
#include "util/intl.h"
#include "util/text.h"
#include "record/marks.h"
#include "record/naming.h"
#include "record/summary.h"
#include "nvmtop/nvmtop.h"
#include "trace/trace.h"

#define LOOK_NS   (2 * NS_PER_MS) /* interval of polling whether it is warm */
#define WARM_ROWS 10              /* fast rows of a warm recording; programs of this format rely on it */

struct nvmtop_recorder {
	pid_t owner; /* after fork() a child has none of the threads, and locks may be held forever */
	pthread_mutex_t lock; /* not held while the engine is waited for: a callback on its thread may set a mark */
	pthread_mutex_t stopping; /* the second nvmtop_stop() waits for the first */
	struct shared *shared;
	struct log *log;
	struct log_out *writer; /* of it */
	struct inbox *inbox; /* marks of other programs; NULL: not accepted */
	uint64_t warm_rows;  /* number of fast rows after which it counts as warm */
	bool stopped;
	int status; /* result of nvmtop_stop() */
	char *bin, *bin_log; /* a FILE.bin, and the log that it is made of at the end; or NULL */
	bool force;
	struct err err;
};

/* Translations are used only if the program has set a locale. */
static void begin_once(void)
{
#if ENABLE_NLS
	bindtextdomain(PACKAGE, LOCALEDIR);
#endif
}

void lib_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin_once);
}

int lib_error(nvmtop_error *out, const struct err *e)
{
	if (out && out->size >= sizeof(*out)) {
		out->code = (int)e->code;
		out->number = e->code == ERR_NONE ? 0 : e->num;
		snprintf(out->text, sizeof(out->text), "%s", e->code == ERR_NONE ? "" : e->text);
	}
	return e->code == ERR_NONE ? 0 : -1;
}

const char *lib_sysroot(void)
{
	const char *set = getenv("NVMTOP_SYSROOT");

	return set && *set ? set : "/";
}

int nvmtop_api_version(void)
{
	return NVMTOP_API_VERSION;
}

const char *nvmtop_version(void)
{
	return PACKAGE_VERSION;
}

void text_out(char *out, size_t size, const char *text)
{
	if (out && size > 0)
		snprintf(out, size, "%s", text);
}

int nvmtop_detect_board(char *name, size_t name_size, char *title, size_t title_size, char *why,
			size_t why_size, nvmtop_error *error)
{
	struct err e = {.code = ERR_NONE};
	char reason[256] = "";
	struct board *board = NULL;

	lib_begin();
	struct root *root = root_open(lib_sysroot(), &e);
	if (root)
		board = board_detect(root, reason, sizeof(reason), &e);
	if (board) {
		text_out(name, name_size, board->name);
		text_out(title, title_size, board->title);
		text_out(why, why_size, reason);
		e.code = ERR_NONE;
	}
	board_free(board);
	root_close(root);
	return lib_error(error, &e);
}

/* Options of a program built for an older version are shorter. */
int options_of(nvmtop_options *o, const nvmtop_options *given, struct err *e)
{
	*o = (nvmtop_options)NVMTOP_OPTIONS_INIT;
	/* The size of every version is a multiple of a pointer's. */
	if (given && (given->size > sizeof(*o) || given->size < sizeof(given->size) ||
		      given->size % sizeof(given->board) != 0))
		return err_set(e, ERR_USAGE,
			       _("options of %zu bytes are unknown to this version of the library; "
				 "initialise them with NVMTOP_OPTIONS_INIT"),
			       given->size);
	if (given)
		memcpy(o, given, given->size);
	return 0;
}

static int rate_of(double *hz, double given, double otherwise, struct err *e)
{
	*hz = given == 0 ? otherwise : given;
	if (*hz >= 0.1 && *hz <= 10000)
		return 0;
	return err_set(e, ERR_USAGE, _("a rate of %g per second is not within 0.1 .. 10000"), *hz);
}

int wish_of(struct wish *w, const nvmtop_options *o, struct err *e)
{
	w->board = o->board;
	w->sysroot = o->sysroot ? o->sysroot : lib_sysroot();
	w->gentle = o->gentle != 0;
	return rate_of(&w->hz[TIER_FAST], o->fast_hz, 1000, e) < 0 || rate_of(&w->hz[TIER_MEDIUM], o->medium_hz, 100, e) < 0 ||
			       rate_of(&w->hz[TIER_SLOW], o->slow_hz, 10, e) < 0
		       ? -1
		       : 0;
}

static bool usable(const nvmtop_recorder *r)
{
	return r && r->owner == getpid();
}

static bool running(nvmtop_recorder *r)
{
	struct log_out_stats s;

	if (r->stopped)
		return false;
	log_out_stats(r->writer, &s);
	return !s.failed;
}

static uint64_t mark(nvmtop_recorder *r, int64_t t_ns, const char *label)
{
	uint64_t id = 0;

	pthread_mutex_lock(&r->lock);
	if (running(r))
		id = engine_mark(shared_engine(r->shared), t_ns, label);
	pthread_mutex_unlock(&r->lock);
	return id;
}

/* Marks of other programs that arrive meanwhile wait for the recording. The file is created last, so that a failed
 * start leaves none. */
static int start(nvmtop_recorder *r, bool marks, struct err *e)
{
	if (marks && (!(r->inbox = inbox_open(e)) || e->code != ERR_NONE))
		return -1;
	if (log_out_begin(r->writer, r->log, INT64_MIN, INT64_MAX, e) < 0 ||
	    shared_attach(r->shared, log_sink(r->log), true, false, e) < 0) {
		log_out_discard(r->writer);
		return -1;
	}
	if (r->inbox)
		inbox_attach(r->inbox, shared_engine(r->shared));
	return 0;
}

static void close_inbox(nvmtop_recorder *r)
{
	struct inbox *inbox;

	pthread_mutex_lock(&r->lock);
	inbox = r->inbox;
	r->inbox = NULL;
	pthread_mutex_unlock(&r->lock);
	inbox_close(inbox);
}

/* As the command line's message, but without options that a program does not have. */
static int say_exists(const char *path, struct err *e)
{
	char shown[256];

	text_printable(shown, sizeof(shown), path, strlen(path));
	return err_num(e, ERR_FAILED, EEXIST,
		       _("%s already exists: choose another name, or set \"force\" to overwrite it"), shown);
}

static int begin(nvmtop_recorder *r, const char *path, const nvmtop_options *given, struct err *e)
{
	nvmtop_options o;
	struct wish w = {.recorder = true};

	if (!path || !*path)
		return err_set(e, ERR_USAGE, "%s", _("a recording needs a file name"));
	if (options_of(&o, given, e) < 0 || wish_of(&w, &o, e) < 0)
		return -1;
	r->force = o.force != 0;
	if (text_ends_in(path, ".bin")) {
		r->bin = strdup(path);
		if (!r->bin || asprintf(&r->bin_log, "%s.nvmt", path) < 0) {
			r->bin_log = NULL;
			return err_set(e, ERR_FAILED, "%s", _("out of memory"));
		}
		if (log_file_check(path, r->force, e) < 0)
			return e->num == EEXIST && !r->force ? say_exists(path, e) : -1;
		path = r->bin_log;
	}
	r->writer = log_out_new(path, r->force, e);
	if (!r->writer)
		return e->num == EEXIST && !o.force ? say_exists(path, e) : -1;
	r->log = log_new(&(struct log_bound) {.now = true}, e);
	r->shared = r->log ? shared_open(&w, e) : NULL;
	if (!r->shared)
		return -1;
	if (engine_session(shared_engine(r->shared))->width[TIER_FAST] > 0)
		r->warm_rows = w.hz[TIER_FAST] >= 100 ? WARM_ROWS : 1;
	return start(r, o.marks != 0, e);
}

static void end(nvmtop_recorder *r)
{
	close_inbox(r);
	if (r->shared)
		shared_close(r->shared, true);
	log_out_free(r->writer);
	log_free(r->log);
	pthread_mutex_destroy(&r->stopping);
	pthread_mutex_destroy(&r->lock);
	free(r->bin);
	free(r->bin_log);
	free(r);
}

nvmtop_recorder *nvmtop_start(const char *path, const nvmtop_options *options, nvmtop_error *error)
{
	struct err e = {.code = ERR_NONE};
	nvmtop_recorder *r = calloc(1, sizeof(*r));

	lib_begin();
	if (!r) {
		err_set(&e, ERR_FAILED, "%s", _("out of memory"));
		lib_error(error, &e);
		return NULL;
	}
	r->owner = getpid();
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->stopping, NULL);
	if (begin(r, path, options, &e) == 0) {
		e.code = ERR_NONE;
	} else {
		end(r);
		r = NULL;
	}
	lib_error(error, &e);
	return r;
}

int nvmtop_wait_for_warmup(nvmtop_recorder *r, int timeout_ms)
{
	int64_t until = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * NS_PER_MS;
	bool warm = false, more;

	if (!usable(r))
		return 0;
	/* Sleep without the lock: taking it again at once would starve other threads, and a mark would be
	 * delayed for the whole wait. */
	for (;;) {
		pthread_mutex_lock(&r->lock);
		if (!r->stopped)
			warm = engine_wait_warm(shared_engine(r->shared), 0) &&
			       shared_recorded(r->shared) >= r->warm_rows;
		more = running(r) && clock_now_ns() < until;
		pthread_mutex_unlock(&r->lock);
		if (warm || !more)
			return warm;
		nanosleep(&(struct timespec) {.tv_nsec = LOOK_NS}, NULL);
	}
}

uint64_t nvmtop_sync(nvmtop_recorder *r, const char *label)
{
	int64_t now = clock_now_ns();
	char text[64] = "";

	if (!usable(r))
		return 0;
	if (label)
		text_printable(text, sizeof(text), label, strlen(label));
	return mark(r, now, text);
}

uint64_t nvmtop_sample_count(nvmtop_recorder *r)
{
	struct log_out_stats s;
	uint64_t n = 0;

	if (!usable(r))
		return 0;
	pthread_mutex_lock(&r->lock);
	log_out_stats(r->writer, &s);
	/* While it runs, the number of sampled rows; after it, or if the disk lost rows, the number in
	 * the file. */
	if (!r->stopped && !s.failed && s.lost_rows == 0)
		n = shared_recorded(r->shared);
	pthread_mutex_unlock(&r->lock);
	return n > s.rows[TIER_FAST] ? n : s.rows[TIER_FAST];
}

int nvmtop_is_running(nvmtop_recorder *r)
{
	bool is;

	if (!usable(r))
		return 0;
	pthread_mutex_lock(&r->lock);
	is = running(r);
	pthread_mutex_unlock(&r->lock);
	return is;
}

static int refuse(const nvmtop_recorder *r, nvmtop_error *error)
{
	struct err e;

	err_set(&e, ERR_USAGE, "%s",
		r ? _("this recorder belongs to the process that started it, and does nothing after fork()")
		  : _("the recorder to stop is NULL"));
	return lib_error(error, &e);
}

/* The log was needed only to make the file of. */
static int make_bin(const nvmtop_recorder *r, struct err *e)
{
	char shown[512];

	if (bin_make(r->bin_log, r->bin, r->force, NULL, NULL, e) < 0)
		return -1;
	text_printable(shown, sizeof(shown), r->bin_log, strlen(r->bin_log));
	if (unlink(r->bin_log) < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot remove %s"), shown);
	log_file_list(r->bin_log);
	return 0;
}

int nvmtop_stop(nvmtop_recorder *r, nvmtop_error *error)
{
	struct log_out_stats s;
	char lost[512];
	struct err e;
	bool first;

	if (!usable(r))
		return refuse(r, error);
	if (shared_refused(&e) < 0)
		return lib_error(error, &e);
	close_inbox(r);
	pthread_mutex_lock(&r->stopping);
	pthread_mutex_lock(&r->lock);
	first = !r->stopped;
	r->stopped = true;
	pthread_mutex_unlock(&r->lock);
	if (first) {
		r->status = shared_detach(r->shared, log_sink(r->log), false, &r->err);
		if (r->status == 0)
			r->status = log_out_end(r->writer, &r->err);
		if (r->status == 0 && r->bin)
			r->status = make_bin(r, &r->err);
		log_out_stats(r->writer, &s);
		if (r->status == 0 && lost_text(&s, lost, sizeof(lost)))
			r->status = err_set(&r->err, ERR_FAILED, "%s", lost);
		if (r->status == 0)
			r->err.code = ERR_NONE;
		shared_close(r->shared, true);
		r->shared = NULL;
	}
	pthread_mutex_unlock(&r->stopping);
	return lib_error(error, &r->err);
}

void nvmtop_free(nvmtop_recorder *r)
{
	if (!usable(r) || shared_refused(NULL) < 0)
		return;
	nvmtop_stop(r, NULL);
	end(r);
}
