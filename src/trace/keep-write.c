/* The thread that writes a stretch as soon as all of it is there. */
#include <stdlib.h>
#include <string.h>

#include "util/thread.h"
#include "trace/keep-state.h"

#define COMING_NS NS_PER_S /* how long rows are waited for that do not come */

/* A name that nothing has yet: neither a trace nor what is left of one. */
static bool name_next(struct keep *k, struct keep_file *f)
{
	bool over = k->o.force && k->path[0]; /* what was there before, not its own files */
	char now[64] = "";

	if (!k->path[0])
		k->o.name(now, sizeof(now));
	k->number = over ? k->name + 1 : 1;
	return kept_name(f, k->path[0] ? k->path : now, &k->number, over);
}

/* With the lock: are all rows of the wanted stretch there? */
static bool complete(const struct keep *k)
{
	if (k->quit || clock_now_ns() >= k->wanted.to_ns + COMING_NS)
		return true;
	for (int t = 0; t < TIERS; t++)
		if (k->about->width[t] && k->newest_ns[t] <= k->wanted.to_ns)
			return false;
	return true;
}

/* With the lock: until there is something to write; false: there never will be. */
static bool wait_for_stretch(struct keep *k)
{
	while (!(k->wanted.is && complete(k))) {
		if (k->quit && !k->wanted.is)
			return false;
		if (k->wanted.is)
			thread_wait(&k->wake, &k->lock, clock_now_ns() + NS_PER_S / 4);
		else
			pthread_cond_wait(&k->wake, &k->lock);
	}
	return true;
}

/* With the lock. */
static void file_add(struct keep *k, const struct keep_file *f)
{
	k->n_failed += f->err.code != ERR_NONE;
	if (k->n_files < KEEP_FILES) {
		struct keep_file *more = reallocarray(k->files, k->n_files + 1, sizeof(*more));

		if (!more)
			return;
		k->files = more;
	}
	k->files[k->n_files++ % KEEP_FILES] = *f;
}

/* With the lock: where the stretch ends, which may be the end of the stream.  What
 * triggered it may be newer than all rows. */
static int64_t wanted_until(const struct keep *k)
{
	int64_t newest = k->wanted.from_ns;

	for (size_t i = k->hold.n_marks; i-- > 0 && k->hold.marks[i].t_ns > newest;)
		if (k->hold.marks[i].t_ns <= k->wanted.to_ns)
			newest = k->hold.marks[i].t_ns;
	for (int t = 0; t < TIERS; t++)
		if (k->newest_ns[t] > newest)
			newest = k->newest_ns[t];
	return k->quit && newest < k->wanted.to_ns ? newest : k->wanted.to_ns;
}

void *keep_main(void *arg)
{
	struct keep *k = arg;
	struct kept kept = {
		.about = k->about, .facts = k->facts, .hold = &k->hold, .lock = &k->lock, .force = k->o.force && k->path[0]};
	struct keep_file *f = calloc(1, sizeof(*f));

	pthread_mutex_lock(&k->lock);
	while (f && wait_for_stretch(k)) {
		memset(f, 0, sizeof(*f));
		f->from_ns = k->wanted.from_ns;
		f->to_ns = wanted_until(k);
		k->wanted.is = false;
		k->writing = true;
		pthread_mutex_unlock(&k->lock);
		while (name_next(k, f) && !kept_write(&kept, f))
			;
		if (f->err.code == ERR_NONE)
			k->name = k->number;
		pthread_mutex_lock(&k->lock);
		k->writing = false;
		file_add(k, f);
	}
	pthread_mutex_unlock(&k->lock);
	free(f);
	return NULL;
}
