/* key-lookup: searches the tables of keys, for the key bar, the help page and a pressed key. */
#include "ui/view.h"

#include "util/intl.h"

static const char *const groups[KEYS_GROUPS] = {
	[KEYS_VIEWS] = N_("Views"),
	[KEYS_MARKS] = N_("Marks and recordings"),
	[KEYS_TIME] = N_("Time"),
	[KEYS_STRETCH] = N_("Selections and phases"),
	[KEYS_ROWS] = N_("Rows"),
	[KEYS_PROCESSES] = N_("Processes"),
	[KEYS_SCREEN] = N_("Screen"),
};

/* The i-th entry of the common keys and those of view v, or of all views. */
static const struct key_entry *entry(const struct view *v, bool all, size_t i)
{
	for (const struct key_entry *c = keys_common; c->group != KEYS_GROUPS; c++) {
		if (c->handler && i-- == 0)
			return c;
		for (size_t n = 0; !c->handler && views_at(n); n++)
			for (const struct key_entry *k = views_at(n)->keys; k && k->handler; k++)
				if ((all || v == views_at(n)) && i-- == 0)
					return k;
	}
	return NULL;
}

const struct key_entry *keys_entry(const struct view *v, size_t i)
{
	return entry(v, false, i);
}

const struct key_entry *keys_help(size_t i)
{
	const struct key_entry *k;

	if (i-- == 0)
		return &keys_views;
	for (enum key_group group = 0; group < KEYS_GROUPS; group++)
		for (size_t n = 0; (k = entry(NULL, true, n)) != NULL; n++)
			if (k->group == group && k->shown && i-- == 0)
				return k;
	return NULL;
}

const char *keys_group(enum key_group group)
{
	return groups[group];
}

static bool matches(const struct key_entry *k, unsigned when, uint32_t key, unsigned mods, int *arg)
{
	for (int i = 0; i < KEYS_MAX && k->keys[i].key; i++)
		if ((k->when & when) && k->keys[i].key == key && k->keys[i].mods == mods)
			return *arg = k->keys[i].arg, true;
	return false;
}

const struct key_entry *keys_find(const struct view *v, unsigned when, uint32_t key, unsigned mods, int *arg)
{
	const struct key_entry *k;

	/* The case of a character already includes Shift. */
	if (key < K_UP && key > ' ')
		mods &= ~(unsigned)MOD_SHIFT;
	if ((mods & MOD_CTRL) && key >= 'A' && key <= 'Z')
		key += 'a' - 'A';
	if (key == K_NONE)
		return NULL;
	for (k = v->keys; k && k->handler; k++)
		if (matches(k, when, key, mods, arg))
			return k;
	for (size_t i = 0; (k = keys_entry(NULL, i)) != NULL; i++)
		if (matches(k, when, key, mods, arg))
			return k;
	/* The key of a tab is a member of its view. */
	for (size_t i = 0; !mods && views_at(i); i++)
		if (views_at(i)->key == key)
			return *arg = (int)i, &keys_views;
	return NULL;
}
