/* What the log in memory takes, by a clock of its own, and for how long its lock is held.
 *
 *   memory RECORDING [HOURS [RANGES]]
 *
 * The rows of a recording (a minute or more, as by `nvmtop record --demo`) come again and again, 33 ms at a time, with
 * RANGES ranges a second, while one view draws all channels at all zooms and another thread takes all chunks. Prints
 * what is kept of each kind, and what malloc and the process have, after 1, 10 and 60 minutes and each six hours. */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "rows.h"
#include "trace/log-view.h"
#include "trace/trace.h"

#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2 mallinfo
#endif

#define STEP_NS	 (33 * NS_PER_MS)
#define FRAME_NS NS_PER_S
#define COLUMNS	 120
#define BATCH	 20000

static atomic_bool done;

/* --- how long locks are held, in CPU time --- */

static _Thread_local int64_t locked_ns;
static _Atomic int64_t held_most_ns;
static _Atomic uint64_t n_held, n_long; /* long: more than 50 us */
static pthread_mutex_t *timed; /* the log's */
static bool learning;

static int64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*next)(pthread_mutex_t *);
	int r;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	r = next(m);
	if (learning)
		timed = m;
	if (m == timed)
		locked_ns = thread_ns();
	return r;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	static int (*next)(pthread_mutex_t *);
	int64_t held = m == timed ? thread_ns() - locked_ns : 0;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	n_held += m == timed;
	n_long += held > 50000;
	for (int64_t most = held_most_ns; held > most && !atomic_compare_exchange_weak(&held_most_ns, &most, held);)
		continue;
	return next(m);
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	int r;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	r = next(c, m, until);
	locked_ns = thread_ns(); /* meanwhile it was not locked */
	return r;
}

/* --- */

/* Rows up to t_ns; at the end of the recording it begins again, later by its length. */
static void push(struct sink *s, enum tier tier, int64_t t_ns, int64_t length_ns)
{
	struct tier_rows *r = &tiers[tier];

	rows_push(s, tier, t_ns);
	if (r->next < r->n)
		return;
	for (size_t i = 0; i < r->n; i++)
		r->t_ns[i] += length_ns;
	r->next = 0;
}

static void frame(struct timeline *t, int64_t to_ns, int zoom)
{
	struct bin bins[COLUMNS];

	for (size_t c = 0; c < t->ops->session(t)->n_channels; c++)
		t->ops->columns(t, c, zoom, (to_ns >> zoom) - COLUMNS + 1, COLUMNS, bins);
}

static void *other(void *arg)
{
	struct log_queue *q = arg;
	struct log_skipped skipped = {.chunks = 0};
	bool ended = false;

	while (!done && !ended) {
		log_queue_wait(q, clock_now_ns() + 10 * NS_PER_MS);
		log_chunk_free(log_queue_take(q, &skipped, &ended));
	}
	return NULL;
}

static void tell(struct log_view *v, int64_t ns)
{
	const struct log_now *now = &log_view_state(v)->now;
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	struct mallinfo2 m = mallinfo2();

	if (f && fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	printf("%8.0f s:", (double)ns / 1e9);
	for (int s = 0; s < LOG_SHELVES; s++)
		printf(" %7.2f", (double)now->bytes[s] / 1e6);
	printf(" | malloc %7.2f of %7.2f, mapped %6.2f, resident %7.2f MB; lock at most %.1f us, %llu of %llu times above 50\n", (double)m.uordblks / 1e6,
	       (double)m.arena / 1e6, (double)m.hblkhd / 1e6, (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6,
	       (double)held_most_ns / 1e3, (unsigned long long)n_long, (unsigned long long)n_held);
	fflush(stdout);
}

static void push_ranges(struct sink *s, int64_t from_ns, int64_t to_ns, double a_second)
{
	static const struct range_lane lane = {.pid = 1, .tid = 1, .process = "p", .thread = "t"};
	static struct range list[BATCH];
	static char names[256][8];
	size_t n = (size_t)(a_second * (double)(to_ns - from_ns) / 1e9);

	n = n < BATCH ? n : BATCH;
	for (size_t i = 0; i < n; i++) {
		int64_t begin = from_ns + (int64_t)i * (to_ns - from_ns) / (int64_t)n;

		snprintf(names[i % 256], sizeof(names[0]), "r%zu", i % 256);
		list[i] = (struct range) {.begin_ns = begin, .end_ns = begin + 1 + random() % 1000, .name = names[i % 256], .lane = &lane};
	}
	if (n > 0)
		s->ops->ranges(s, list, n);
}

int main(int argc, char **argv)
{
	double hours = argc > 2 ? atof(argv[2]) : 1, a_second = argc > 3 ? atof(argv[3]) : 0;
	int64_t length_ns, start_ns, told_ns = 0;
	struct log_queue *q;
	struct log_view *v;
	pthread_t thread;
	struct trace *t;
	struct log *l;
	struct err e;
	int zoom = 20;

	if (argc < 2 || !(t = trace_open(argv[1], &e))) {
		fprintf(stderr, "%s\n", argc > 1 ? e.text : "usage: memory RECORDING [HOURS [RANGES]]");
		return 1;
	}
	about = *trace_session(t);
	for (enum tier k = 0; k < TIERS; k++)
		load(t, k);
	start_ns = tiers[0].t_ns[0];
	length_ns = tiers[0].t_ns[tiers[0].n - 1] - start_ns;
	for (int k = 0; k < TIERS; k++)
		while (tiers[k].n > 0 && tiers[k].t_ns[tiers[k].n - 1] >= start_ns + length_ns)
			tiers[k].n--;
	l = log_new(&(struct log_bound) {.rows_ns = LOG_ROWS_NS, .bytes = LOG_ROWS_BYTES}, &e);
	v = log_view_new(l, &e);
	if (!l || !v || log_sink(l)->ops->begin(log_sink(l), &about, &e) < 0 || !(q = log_queue_new(l, SIZE_MAX, true, &e)) ||
	    pthread_create(&thread, NULL, other, q))
		return 1;
	learning = true;
	log_known(l);
	learning = false;
	printf("MB of        ranges   rows    fine  middle  coarse     day   notes\n");
	tell(v, 0);
	for (int64_t ns = 0; ns <= (int64_t)(hours * 3600e9); ns += STEP_NS) {
		int64_t now_ns = start_ns + ns;

		push_ranges(log_sink(l), now_ns - STEP_NS, now_ns, a_second);
		for (enum tier k = 0; k < TIERS; k++)
			push(log_sink(l), k, now_ns, length_ns);
		log_run(l, now_ns);
		if (ns / FRAME_NS != (ns - STEP_NS) / FRAME_NS) {
			log_view_look(v);
			frame(log_view_timeline(v), now_ns, zoom);
			zoom = zoom < 40 ? zoom + 1 : 20;
		}
		if ((told_ns < 60 * NS_PER_S && ns >= 60 * NS_PER_S) || (told_ns < 600 * NS_PER_S && ns >= 600 * NS_PER_S) ||
		    (told_ns < 3600 * NS_PER_S && ns >= 3600 * NS_PER_S) || ns - told_ns >= 6 * 3600 * NS_PER_S) {
			tell(v, ns);
			told_ns = ns;
		}
	}
	tell(v, (int64_t)(hours * 3600e9));
	done = true;
	pthread_join(thread, NULL);
	log_queue_free(q);
	log_view_free(v);
	log_free(l);
	trace_close(t);
	return 0;
}
