/* The recorder for other programs: a board, an engine and a writer that start and stop together. */
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
#include "record/marks.h"
#include "nvmtop/nvmtop.h"
#include "trace/trace.h"

#define LOOK_NS   (2 * NS_PER_MS) /* interval of polling whether it is warm */
#define WARM_ROWS 10              /* fast rows of a warm recording; programs of this format rely on it */

struct nvmtop_recorder {
	pid_t owner; /* after fork() a child has none of the threads, and locks may be held forever */
	pthread_mutex_t lock; /* only one thread at a time may call the engine */
	struct root *root;
	struct engine *engine;
	struct log_writer *writer;
	struct inbox *inbox; /* marks of other programs; NULL: not accepted */
	uint64_t warm_rows;  /* number of fast rows after which it counts as warm */
	bool stopped;
	int status; /* result of nvmtop_stop() */
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
	struct root *root = root_open("/", &e);
	if (root)
		board = board_detect(root, reason, sizeof(reason), &e);
	if (board) {
		text_out(name, name_size, board_name(board));
		text_out(title, title_size, board_title(board));
		text_out(why, why_size, reason);
		e.code = ERR_NONE;
	}
	board_free(board);
	root_close(root);
	return lib_error(error, &e);
}

/* Fills in the given options, or the defaults. Options of a program built for an older version are
 * shorter. */
static int options_of(nvmtop_options *o, const nvmtop_options *given, struct err *e)
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

static struct probe_set *probe_set_of(nvmtop_recorder *r, const nvmtop_options *o, const double hz[TIERS],
				      struct err *e)
{
	char why[256] = "";
	struct probe_set *probes = NULL;
	struct board *board;

	r->root = root_open(o->sysroot ? o->sysroot : "/", e);
	if (!r->root)
		return NULL;
	if (o->board)
		snprintf(why, sizeof(why), "%s", _("chosen by the program"));
	board = o->board ? board_load(o->board, e) : board_detect(r->root, why, sizeof(why), e);
	if (board)
		probes = board_resolve(board, r->root, hz, why, e);
	if (probes)
		e->code = ERR_NONE; /* missing signals give their own reason */
	board_free(board);
	if (probes && o->gentle)
		probe_set_be_gentle(probes);
	return probes;
}

static bool usable(const nvmtop_recorder *r)
{
	return r && r->owner == getpid();
}

static bool running(nvmtop_recorder *r)
{
	struct log_writer_stats s;

	if (r->stopped)
		return false;
	log_writer_stats(r->writer, &s);
	return !s.failed;
}

static uint64_t mark(nvmtop_recorder *r, int64_t t_ns, const char *label)
{
	uint64_t id = 0;

	pthread_mutex_lock(&r->lock);
	if (running(r))
		id = engine_mark(r->engine, t_ns, label);
	pthread_mutex_unlock(&r->lock);
	return id;
}

static void take_mark(void *to, int64_t t_ns, const char *label)
{
	mark(to, t_ns, label);
}

/* Marks that arrive meanwhile are kept for the recording. The file is created last, so that a failed
 * start leaves none. */
static int start(nvmtop_recorder *r, bool marks, struct err *e)
{
	int status;

	pthread_mutex_lock(&r->lock);
	if (marks)
		r->inbox = inbox_open(take_mark, r, -1, e);
	status = marks && !r->inbox ? -1 : 0;
	if (status == 0)
		status = engine_start(r->engine, e);
	if (status == 0)
		status = engine_attach(r->engine, log_writer_sink(r->writer), true, e);
	r->stopped = status < 0;
	pthread_mutex_unlock(&r->lock);
	return status;
}

/* The inbox thread may be waiting for the lock. */
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
	double hz[TIERS];
	struct probe_set *probes;

	if (!path || !*path)
		return err_set(e, ERR_USAGE, "%s", _("a recording needs a file name"));
	if (options_of(&o, given, e) < 0 || rate_of(&hz[TIER_FAST], o.fast_hz, 1000, e) < 0 ||
	    rate_of(&hz[TIER_MEDIUM], o.medium_hz, 100, e) < 0 ||
	    rate_of(&hz[TIER_SLOW], o.slow_hz, 10, e) < 0)
		return -1;
	r->writer = log_writer_new(path, o.force != 0, e);
	if (!r->writer)
		return e->num == EEXIST && !o.force ? say_exists(path, e) : -1;
	probes = probe_set_of(r, &o, hz, e);
	if (!probes)
		return -1;
	/* CPU use, late ticks and lost rows of nvmtop are channels, as in recordings of the command line. */
	if (engine_own_channels(probes, e) < 0) {
		probe_set_free(probes);
		return -1;
	}
	if (probes->width[TIER_FAST] > 0)
		r->warm_rows = hz[TIER_FAST] >= 100 ? WARM_ROWS : 1;
	r->engine = engine_new(probes, hz, e);
	if (!r->engine)
		return -1;
	engine_unwatched(r->engine, LOG_CELL_ZOOM);
	return start(r, o.marks != 0, e);
}

static void end(nvmtop_recorder *r)
{
	close_inbox(r);
	engine_free(r->engine);
	root_close(r->root);
	log_writer_free(r->writer);
	pthread_mutex_destroy(&r->lock);
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
			warm = engine_wait_warm(r->engine, 0) && engine_recorded(r->engine) >= r->warm_rows;
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
	struct log_writer_stats s;
	uint64_t n = 0;

	if (!usable(r))
		return 0;
	pthread_mutex_lock(&r->lock);
	log_writer_stats(r->writer, &s);
	/* While it runs, the number of sampled rows; after it, or if the disk lost rows, the number in
	 * the file. */
	if (!r->stopped && !s.failed && s.lost_rows == 0)
		n = engine_recorded(r->engine);
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

int nvmtop_stop(nvmtop_recorder *r, nvmtop_error *error)
{
	int status;

	if (!usable(r))
		return refuse(r, error);
	close_inbox(r);
	pthread_mutex_lock(&r->lock);
	if (!r->stopped) {
		r->status = engine_detach(r->engine, log_writer_sink(r->writer), &r->err);
		if (r->status == 0)
			r->status = log_writer_convert(r->writer, NULL, NULL, &r->err);
		if (r->status == 0)
			r->err.code = ERR_NONE;
		engine_stop(r->engine);
		r->stopped = true;
	}
	status = lib_error(error, &r->err);
	pthread_mutex_unlock(&r->lock);
	return status;
}

void nvmtop_free(nvmtop_recorder *r)
{
	if (!usable(r))
		return;
	nvmtop_stop(r, NULL);
	end(r);
}
