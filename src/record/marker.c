/* To look for a board and to wait for the first figures takes a moment, in which a script
 * that began the recorder may have marked something already.  A thread hears signals until
 * the recording begins, because the main thread is busy; the socket has one of its own. */
#include "record/marker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/thread.h"

struct waiting {
	int64_t t_ns;
	char label[MARK_LABEL];
	struct waiting *next;
};

struct marker {
	pthread_mutex_t lock; /* for what follows */
	struct engine *engine; /* NULL: marks wait */
	bool drops;
	struct waiting *first, **end;

	struct inbox *inbox; /* NULL: other programs are not heard */
	pthread_t ear;
	bool hears;
	int signals, quit;
};

void marker_take(void *marker, int64_t t_ns, const char *label)
{
	struct marker *m = marker;
	struct waiting *w;

	pthread_mutex_lock(&m->lock);
	if (m->engine) {
		engine_mark(m->engine, t_ns, label);
	} else if (!m->drops && (w = calloc(1, sizeof *w))) {
		w->t_ns = t_ns;
		strncpy(w->label, label, sizeof w->label - 1);
		*m->end = w;
		m->end = &w->next;
	}
	pthread_mutex_unlock(&m->lock);
}

static void *ear_main(void *arg)
{
	struct marker *m = arg;
	struct pollfd p[2] = {{.fd = m->signals, .events = POLLIN}, {.fd = m->quit, .events = POLLIN}};
	struct signalfd_siginfo si;

	prctl(PR_SET_NAME, "nvmtop-ear");
	while (!p[1].revents) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		while (read(m->signals, &si, sizeof si) == (ssize_t)sizeof si)
			marker_take(m, clock_now_ns(), "");
	}
	return NULL;
}

/* Without it a signal waits until the recording begins. */
static void hear(struct marker *m)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	m->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	m->quit = eventfd(0, EFD_CLOEXEC);
	m->hears = m->signals >= 0 && m->quit >= 0 && thread_start(&m->ear, ear_main, m) == 0;
}

static void hear_no_more(struct marker *m)
{
	const uint64_t one = 1;

	if (m->hears) {
		while (write(m->quit, &one, sizeof one) < 0 && errno == EINTR)
			continue;
		pthread_join(m->ear, NULL);
	}
	m->hears = false;
	if (m->signals >= 0)
		close(m->signals);
	if (m->quit >= 0)
		close(m->quit);
	m->signals = m->quit = -1;
}

struct marker *marker_open(struct err *told)
{
	struct marker *m = calloc(1, sizeof *m);

	if (!m) {
		err_set(told, ERR_FAILED, "%s", _("out of memory"));
		return NULL;
	}
	pthread_mutex_init(&m->lock, NULL);
	m->end = &m->first;
	m->inbox = inbox_open(marker_take, m, told);
	if (m->inbox)
		told->code = ERR_NONE;
	hear(m);
	return m;
}

/* With the lock held: what waits goes there, or nowhere. */
static void empty(struct marker *m, struct engine *to)
{
	while (m->first) {
		struct waiting *w = m->first;

		m->first = w->next;
		if (to)
			engine_mark(to, w->t_ns, w->label);
		free(w);
	}
	m->end = &m->first;
}

void marker_drop(struct marker *m)
{
	pthread_mutex_lock(&m->lock);
	m->drops = true;
	m->engine = NULL;
	empty(m, NULL);
	pthread_mutex_unlock(&m->lock);
}

void marker_begin(struct marker *m, struct engine *g)
{
	hear_no_more(m);
	pthread_mutex_lock(&m->lock);
	empty(m, g);
	m->engine = g;
	pthread_mutex_unlock(&m->lock);
}

void marker_end(struct marker *m, struct inbox_stats *out)
{
	*out = (struct inbox_stats) {0, 0};
	hear_no_more(m);
	if (m->inbox)
		inbox_stats(m->inbox, out);
	inbox_close(m->inbox);
	m->inbox = NULL;
	marker_drop(m);
}

void marker_free(struct marker *m)
{
	struct inbox_stats unheard;

	if (!m)
		return;
	marker_end(m, &unheard);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
