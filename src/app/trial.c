/* A trial: a setting that is changed from the screen, and put back after a time unless it is kept. The helper puts it back
 * itself, so that a screen that ends or hangs keeps nothing. It is asked in a job, because a password agent, NVIDIA's
 * programs or another helper may let it wait. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/loop.h"
#include "ui/control.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/job.h"

#define TRIAL_FOR " --for 15s"
#define BACK_NS   (30 * NS_PER_S) /* how long the helper may take to put it back: nvpmodel is tried several times */
#define CHANGES   8

struct trial {
	struct job job;
	bool runs; /* the members up to `err` are the job's */
	struct root *root;
	struct control_session *session; /* NULL: none yet, or it is gone */
	char words[256];                 /* of the request; or "keep", "revert" */
	unsigned ids[CHANGES];           /* what is kept or put back */
	int n_ids;
	struct control_change changes[CHANGES]; /* the answer */
	int n_changes;
	int status; /* as of control_ask() */
	struct err err;

	bool failed; /* and told; what did take is put back */
	int64_t back_until_ns;
	struct ui_trial shown;
};

static void take_change(void *trial, const struct control_change *c)
{
	struct trial *t = trial;

	if (t->n_changes < CHANGES)
		t->changes[t->n_changes++] = *c;
}

static void trial_run(struct job *j)
{
	struct trial *t = (struct trial *)j;
	char line[sizeof t->words + 12 * CHANGES], *rest = line;
	const char *words[CHANGES + 4] = {NULL};

	t->n_changes = 0;
	t->status = -1;
	t->err = (struct err) {.code = ERR_NONE};
	if (!t->session && !(t->session = control_open(t->root, CONTROL_SILENT, false, &t->err)))
		return;
	text_join(line, sizeof line, t->words);
	for (int i = 0; i < t->n_ids; i++)
		snprintf(line + strlen(line), sizeof line - strlen(line), " %u", t->ids[i]);
	for (size_t i = 0; rest; i++)
		words[i] = strsep(&rest, " ");
	t->status = control_ask(t->session, words, take_change, t, &t->err);
	if (t->status < 0) {
		control_close(t->session, take_change, t, &(struct err) {.code = ERR_NONE});
		t->session = NULL;
	}
}

static void trial_drop(struct job *j)
{
	struct trial *t = (struct trial *)j;

	if (t->session)
		control_close(t->session, take_change, t, &(struct err) {.code = ERR_NONE});
	root_close(t->root);
	free(t);
}

void trial_free(struct trial *t)
{
	if (t && t->runs)
		job_cancel(&t->job);
	else if (t)
		trial_drop(&t->job);
}

/* Tells "Fan: back to 40%". */
static void __attribute__((format(printf, 3, 4))) say(struct top *t, enum style style, const char *format, ...)
{
	const struct ui_trial *shown = &t->trial->shown;
	char line[sizeof t->message];
	va_list args;

	control_title(line, shown->name);
	strcat(line, ": ");
	va_start(args, format);
	vsnprintf(line + strlen(line), sizeof line - strlen(line), format, args);
	va_end(args);
	top_say(t, style, line);
}

static void start(struct top *t, const char *words, enum ui_trial_state state)
{
	struct trial *a = t->trial;
	struct err e;

	text_join(a->words, sizeof a->words, words);
	a->shown.state = state;
	a->runs = job_start(&a->job, trial_run, trial_drop, &e) == 0;
	if (!a->runs) {
		a->shown.name[0] = '\0';
		top_say(t, STYLE_ALERT, e.text);
	}
}

void trial_request(struct top *t, const struct request *r)
{
	const struct control_item *item = t->scene.control ? control_find(t->scene.control, r->label) : NULL;
	char words[sizeof t->trial->words];
	struct trial *a = t->trial;

	if (a && !r->path[0] && !r->label[0]) { /* the helper goes on alone */
		a->shown.name[0] = '\0';
		if (a->runs) {
			trial_free(a);
			t->trial = NULL;
		}
	} else if (a && !r->label[0] && !a->runs) {
		start(t, r->path, !strcmp(r->path, "keep") ? TRIAL_ASKED : TRIAL_BACK);
	} else if (item && (!a || !a->shown.name[0])) {
		const char *dot = strchr(item->name, '.');

		if (!a && !(a = t->trial = calloc(1, sizeof *a)))
			return;
		if (!a->root)
			a->root = root_hold(t->source.live.root);
		a->n_ids = 0;
		a->failed = false;
		a->shown = (struct ui_trial) {.until_ns = 0};
		memcpy(a->shown.name, item->name, sizeof a->shown.name);
		memcpy(a->shown.from, item->value, sizeof a->shown.from);
		text_join(a->shown.to, sizeof a->shown.to, r->path);
		if (dot)
			snprintf(words, sizeof words, "%.*s %s=%s" TRIAL_FOR, (int)(dot - item->name), item->name, dot + 1,
				 a->shown.to);
		else if (a->shown.to[0])
			snprintf(words, sizeof words, "%s %s" TRIAL_FOR, item->name, a->shown.to);
		else
			snprintf(words, sizeof words, "%s", item->name);
		start(t, words, TRIAL_ASKED);
	}
}

/* Takes the answer of the helper to what was asked. */
static void take_answer(struct top *t)
{
	struct trial *a = t->trial;
	struct ui_trial *shown = &a->shown;
	const struct control_change *bad = NULL, *own = NULL;
	bool set = !a->n_ids, keeps = !set && !strcmp(a->words, "keep");
	char from[128], to[128];

	for (int i = 0; i < a->n_changes; i++) {
		const struct control_change *c = &a->changes[i];

		if (c->result != CONTROL_DONE && c->result != CONTROL_AS_IS && !bad)
			bad = c;
		if (!own || !strcmp(c->name, shown->name))
			own = c;
		if (!set || !c->id)
			continue;
		a->ids[a->n_ids++] = c->id;
		shown->until_ns = clock_now_ns() + c->left_ns;
	}
	if (set && own) {
		memcpy(shown->from, own->before, sizeof shown->from);
		memcpy(shown->to, own->wanted, sizeof shown->to);
	}
	control_shown(shown->name, shown->from, from, sizeof from);
	control_shown(shown->name, bad ? bad->after : shown->to, to, sizeof to);
	if (bad || a->status != 0) {
		if (bad ? bad->why[0] : a->err.text[0])
			say(t, STYLE_ALERT, bad && bad->result == CONTROL_NOT ? _("did not take: %s") : "%s", bad ? bad->why : a->err.text);
		else
			say(t, STYLE_ALERT, _("did not take: it is %s"), to);
		a->failed = true;
		if (set && a->n_ids)
			start(t, "revert", TRIAL_BACK);
		else
			shown->name[0] = '\0';
	} else if (set && a->n_ids) {
		shown->state = TRIAL_KEEP;
	} else if (keeps || set) {
		if (!shown->to[0])
			say(t, STYLE_TEXT, "%s", _("dropped"));
		else
			say(t, STYLE_TEXT, keeps ? _("stays %s") : _("is %s already"), to);
		shown->name[0] = '\0';
	} else {
		if (!a->failed)
			say(t, STYLE_TEXT, _("back to %s"), from);
		shown->name[0] = '\0';
	}
}

void trial_watch(struct top *t)
{
	struct trial *a = t->trial;
	const struct control_item *item;
	char from[128], now[128];

	if (a && a->runs && job_done(&a->job, 0)) {
		a->runs = false;
		t->redraw = true;
		machine_reader_hurry(t->machine);
		take_answer(t);
	}
	if (!a || a->runs || !a->shown.name[0])
		return;
	if (a->shown.state == TRIAL_KEEP && clock_now_ns() >= a->shown.until_ns) {
		a->shown.state = TRIAL_BACK;
		a->back_until_ns = a->shown.until_ns + BACK_NS;
		machine_reader_hurry(t->machine);
	}
	if (a->shown.state != TRIAL_BACK || !t->scene.control)
		return;
	/* It was put back by the helper, of which nothing is heard: its file says so. */
	item = control_find(t->scene.control, a->shown.name);
	control_shown(a->shown.name, a->shown.from, from, sizeof from);
	if (item && !strcmp(item->value, a->shown.from)) {
		say(t, STYLE_TEXT, _("back to %s"), from);
		a->shown.name[0] = '\0';
	} else if (clock_now_ns() >= a->back_until_ns) {
		control_shown(a->shown.name, item ? item->value : "", now, sizeof now);
		say(t, STYLE_ALERT, _("should be back to %s, but is %s: nvmtop control restore"), from, now[0] ? now : "--");
		a->shown.name[0] = '\0';
	}
}

void trial_scene(const struct trial *t, struct ui_scene *s)
{
	s->trial = t ? t->shown : (struct ui_trial) {.name = ""};
}
