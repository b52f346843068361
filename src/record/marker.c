/* Finding the board and waiting for the first samples takes a moment, in which a script that
 * started the recorder may have sent marks already: they wait here until the recording begins. */
#include "record/marker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

	struct inbox *inbox; /* NULL: no marks of other programs */
	int signals;
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

/* From now on; without it a signal waits until the recording begins. */
static int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
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
	m->signals = signals_open();
	m->inbox = inbox_open(marker_take, m, m->signals, told);
	if (m->inbox)
		told->code = ERR_NONE;
	return m;
}

/* With the lock held: pass waiting marks on, or discard them. */
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
	pthread_mutex_lock(&m->lock);
	empty(m, g);
	m->engine = g;
	pthread_mutex_unlock(&m->lock);
}

void marker_end(struct marker *m, struct inbox_stats *out)
{
	*out = (struct inbox_stats) {0, 0};
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
	if (m->signals >= 0)
		close(m->signals);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
