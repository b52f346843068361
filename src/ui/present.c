/* present: the settings of the machine at the playhead, and sensors that do not answer.
 *
 * The session has the facts at its beginning. Changes are read from newest to oldest, so the
 * first change of a name wins. */
#include "ui/rows.h"
#include "ui/screen.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 64

/* Mark entry i as settled: facts first, then channels. */
static bool settle(unsigned char *settled, size_t i)
{
	bool was = settled[i];

	settled[i] = 1;
	return !was;
}

static void take(struct ui *u, const struct ui_scene *s, unsigned char *settled, const struct change *c)
{
	const struct session *about = u->about;
	struct present *p = &u->present;
	size_t channel;

	for (size_t i = 0; i < about->n_facts; i++)
		if (!strcmp(p->facts[i].key, c->what)) {
			if (settle(settled, i))
				memcpy(p->facts[i].value, c->to, sizeof(c->to));
			return;
		}
	/* A change of a limit has both values. */
	if (c->from[0] && c->to[0])
		return;
	channel = channel_find(about->channels, about->n_channels, c->what);
	if (channel < about->n_channels && settle(settled, about->n_facts + channel) && !c->to[0] && p->n_dead < DEAD_MAX) {
		p->dead[p->n_dead].channel = channel;
		screen_moment(u, s, c->t_ns, p->dead[p->n_dead++].since);
	}
}

/* Take the changes before to_ns. The oldest time of a page can continue on the next page. */
static void take_all(struct ui *u, const struct ui_scene *s, unsigned char *settled, int64_t to_ns)
{
	struct change page[PAGE];
	size_t n;

	do {
		n = s->timeline->ops->changes(s->timeline, INT64_MIN, to_ns, page, PAGE);
		for (size_t i = n; i-- > 0;)
			take(u, s, settled, &page[i]);
		u->present.count += n;
		if (n == PAGE)
			to_ns = page[0].t_ns < page[n - 1].t_ns ? page[0].t_ns + 1 : page[0].t_ns;
	} while (n == PAGE);
}

void present_forget(struct ui *u)
{
	free(u->present.facts);
	memset(&u->present, 0, sizeof(u->present));
}

bool present_read(struct ui *u, const struct ui_scene *s)
{
	struct present *p = &u->present;
	const struct session *about = u->about;
	int64_t to_ns = u->vp.follow || !u->extent.any ? INT64_MAX : u->vp.head_ns + 1;
	struct change newest;
	size_t before = p->count;
	int64_t before_ns = p->newest_ns;
	unsigned char *settled;

	if (!about || !s->timeline->ops->changes || (p->facts && !rows_due(u, &p->tick)))
		return false;
	settled = calloc(about->n_facts + about->n_channels + 1, 1);
	if (!settled)
		return false;
	if (!p->facts || p->n_facts != about->n_facts) { /* a new session can reuse the address */
		free(p->facts);
		p->facts = calloc(about->n_facts + 1, sizeof(*p->facts));
		p->n_facts = about->n_facts;
	}
	p->about = about;
	if (p->facts) {
		if (about->n_facts)
			memcpy(p->facts, about->facts, about->n_facts * sizeof(*p->facts));
		p->n_dead = p->count = 0;
		p->newest_ns = s->timeline->ops->changes(s->timeline, INT64_MIN, to_ns, &newest, 1)
				       ? newest.t_ns
				       : 0;
		take_all(u, s, settled, to_ns);
	}
	free(settled);
	return p->facts && (p->count != before || p->newest_ns != before_ns);
}

const struct fact *present_facts(const struct present *p, const struct session *about)
{
	return p->facts && about == p->about && about->n_facts == p->n_facts ? p->facts : about->facts;
}
