/* control: sets the machine from the Board view.
 *
 * Nothing is changed here: a choice is asked about, the answer becomes a request, and what came of it is in the scene. A
 * key counts as an answer only if the last frame showed the question. */
#include "ui/control.h"
#include "ui/draw.h"
#include "ui/screen.h"

#include "util/clock.h"
#include "util/intl.h"

#include <ctype.h>
#include <string.h>

#define CHOICE_W 46

/* A line of the choice: a value, or a range to type one of. */
struct choice {
	char value[96];
	bool typed;
};

static struct control_lines *state_of(const struct ui *u)
{
	return ui_state(u, &view_board);
}

void control_title(char out[CONTROL_TITLE], const char *name)
{
	static const struct {
		const char *name, *title;
	} titles[] = {
		{"fan", N_("Fan")},		  {"mode", N_("Power mode")}, {"clocks", N_("Clocks")},
		{"3d-scaling", N_("3D scaling")}, {"swap", N_("Swap")},	      {"drop-caches", N_("Caches")},
	};
	const char *dot = strchr(name, '.');
	char unit[16] = "";
	size_t n;

	for (n = 0; dot && dot[n + 1] && n + 1 < sizeof(unit); n++)
		unit[n] = (char)toupper((unsigned char)dot[n + 1]);
	if (dot) {
		snprintf(out, CONTROL_TITLE, *name == 'c' ? _("%.16s clock") : _("%.16s governor"), unit);
		return;
	}
	text_join(out, CONTROL_TITLE, name);
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (!strncmp(name, titles[i].name, n = strlen(titles[i].name)))
			text_join(out, CONTROL_TITLE, _(titles[i].title), name + n); /* "fan1" */
}

/* The item of the chosen line, or NULL. */
static const struct control_item *chosen(const struct ui *u, const struct ui_scene *s)
{
	return s->control ? control_find(s->control, state_of(u)->chosen) : NULL;
}

/* Gets the nth line of the choice: of a clock all of its range, or a part of it. Returns false past the last. */
static bool choice_nth(const struct control_item *it, int n, struct choice *out)
{
	const char *p = it->allowed, *last = strrchr(p, ' ');
	size_t len = strcspn(p, " ");

	if (it->kind == CONTROL_CLOCK) {
		out->typed = n > 0;
		text_join(out->value, sizeof(out->value), p);
		if (!strstr(p, ".."))
			snprintf(out->value, sizeof(out->value), "%.*s..%.40s", (int)(len < 40 ? len : 40), p, last ? last + 1 : p);
		return n < 2 && *p;
	}
	for (; *p && n-- > 0; len = strcspn(p, " ")) {
		p += len;
		p += strspn(p, " ");
	}
	if (it->kind == CONTROL_MODE && memchr(p, ':', len)) {
		len -= (size_t)(strchr(p, ':') + 1 - p);
		p = strchr(p, ':') + 1;
	}
	snprintf(out->value, sizeof(out->value), "%.*s", (int)len, p);
	out->typed = strstr(out->value, "..") != NULL;
	return *p;
}

/* The number of lines, and which has the present value; -1: none. */
static int choices(const struct control_item *it, int *now)
{
	struct choice line;
	int n = 0, typed = -1;

	for (*now = -1; choice_nth(it, n, &line); n++) {
		if (line.typed)
			typed = n;
		else if (!strcmp(line.value, it->value))
			*now = n;
	}
	*now = *now < 0 ? typed : *now;
	return n;
}

/* "Fan: 40% -> 80%" */
static void change_line(char *out, size_t size, const char *name, const char *from, const char *to)
{
	char title[CONTROL_TITLE], a[128], b[128];

	control_title(title, name);
	control_shown(name, from, a, sizeof(a));
	control_shown(name, to, b, sizeof(b));
	snprintf(out, size, "%s: %s -> %s", title, a[0] ? a : "--", b);
}

static bool question_key(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	const struct control_lines *l = state_of(u);

	if (ev->pasted || (ev->mods & (MOD_CTRL | MOD_ALT)) || (ev->key != 'y' && ev->key != 'Y'))
		return true;
	r->kind = REQUEST_CONTROL;
	snprintf(r->label, sizeof(r->label), "%s", l->chosen);
	snprintf(r->path, sizeof(r->path), "%s", l->wanted);
	return true;
}

static bool question_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.bar.y, right = c->w - x;
	const struct control_item *it = chosen(u, s);
	const char *keys = _("y: set   any other key: cancel");
	char text[360];

	if (!it)
		return false;
	if (it->kind == CONTROL_CACHES)
		snprintf(text, sizeof(text), "%s", _("Drop the caches of files?"));
	else
		change_line(text, sizeof(text) - 1, it->name, it->value, state_of(u)->wanted), strcat(text, "?");
	x += screen_cut(u, c, x, y, right - x - text_width(keys) - 2, STYLE_WARN, text) + 2;
	canvas_text(c, x, y, right - x, STYLE_KEY_TEXT, keys);
	return true;
}

static void ask(struct ui *u, const char *value)
{
	static const struct modal question = {question_key, question_draw, true};

	snprintf(state_of(u)->wanted, sizeof(state_of(u)->wanted), "%s", value);
	modal_open(u, &question, &view_board);
}

static bool typed_enter(struct ui *u, const struct ui_scene *s, struct request *r)
{
	const struct control_item *it = chosen(u, s);
	char value[96];
	struct err e;

	if (it && control_value(it, u->line.text, value, sizeof(value), &e) < 0) {
		text_join(u->line.wrong, sizeof(u->line.wrong), e.text);
		return false;
	}
	modal_close(u); /* the choice */
	if (it)
		ask(u, value);
	return true;
}

static bool choice_bar(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x;

	canvas_text(c, x, u->at.bar.y, c->w - 2 * x, STYLE_KEY_TEXT, _("Enter: choose   Esc: cancel"));
	return true;
}

bool control_is_choosing(const struct ui *u)
{
	for (int i = 0; i < u->modals.n; i++)
		if (u->modals.stack[i].modal->draw == choice_bar)
			return true;
	return false;
}

/* arg: the line of the choice. */
static void choose(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct prompt prompts[] = {
		{.title = N_("MIN..MAX:"), .room = 64, .hint = N_("Enter: ask   Esc: back"), .enter = typed_enter},
		{.title = N_("percent:"), .room = 64, .hint = N_("Enter: ask   Esc: back"), .enter = typed_enter},
		{.title = N_("size:"), .room = 64, .hint = N_("Enter: ask   Esc: back"), .enter = typed_enter},
	};
	const struct control_item *it = chosen(u, s);
	char now[128];
	struct choice line;

	if (!it || !control_is_choosing(u) || !choice_nth(it, arg, &line))
		return;
	while (modal_top(u)->draw != choice_bar) /* a click beside the prompt */
		modal_close(u);
	state_of(u)->at = arg;
	control_shown(it->name, it->value, now, sizeof(now));
	if (line.typed)
		prompt_open(u, &prompts[it->kind == CONTROL_CLOCK ? 0 : it->kind == CONTROL_FAN ? 1 : 2],
			    it->kind == CONTROL_CLOCK ? now : "", r->t_ns, &view_board);
	else
		modal_close(u), ask(u, line.value);
}

static bool choice_key(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	if (ev->pasted || (ev->key != K_ESC && ev->key != K_ENTER))
		return false;
	if (ev->key == K_ESC || !chosen(u, s))
		modal_close(u);
	else
		choose(u, s, r, state_of(u)->at);
	return true;
}

void control_choice_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *line)
{
	const struct control_item *it = chosen(u, s);
	struct control_lines *l = state_of(u);
	struct rect box = {.x = line->x, .y = line->y + 1, .w = CHOICE_W < c->w ? CHOICE_W : c->w};
	int n, now, room, steps = 0, top;
	char text[CONTROL_TITLE + 1024];
	struct choice v;

	if (!it || !control_is_choosing(u))
		return;
	n = choices(it, &now);
	l->at = l->at < 0 ? 0 : l->at >= n ? n - 1 : l->at;
	control_shown(it->name, it->allowed, text, sizeof(text));
	if (it->kind == CONTROL_CLOCK && !strstr(it->allowed, ".."))
		steps = text_lines(text, box.w - 4);
	room = u->at.body.h - 2 - steps;
	room = room < 1 ? 1 : room < n ? room : n;
	box.h = room + steps + 2;
	if (box.y + box.h > u->at.body.y + u->at.body.h) /* above the line, or as far down as it fits */
		box.y = line->y - box.h >= u->at.body.y ? line->y - box.h : u->at.body.y + u->at.body.h - box.h;
	if (box.x + box.w > c->w)
		box.x = c->w - box.w;
	box_draw(u, c, &box);
	text_draw(u, c, box.x + 2, box.y + 1 + room, box.w - 4, steps, STYLE_DIM, text);
	control_title(text, it->name);
	canvas_textf(c, box.x + 2, box.y, box.w - 4, STYLE_STRONG, " %s ", text);
	top = l->at < room ? 0 : l->at - room + 1;
	for (int i = 0; i < room && choice_nth(it, top + i, &v); i++) {
		int x = box.x + 1, y = box.y + 1 + i, w = box.w - 2;
		bool here = top + i == l->at;
		enum style style = here ? STYLE_SELECTED : STYLE_TEXT;

		for (int k = 0; here && k < w; k++)
			canvas_put(c, x + k, y, style, L' ');
		canvas_put(c, x, y, style, here ? L'>' : L' ');
		control_shown(it->name, v.value, text, sizeof(text));
		if (v.typed) /* TRANSLATORS: a range of numbers, of which one is to be typed. */
			screen_cut(u, c, x + 2, y, w - 8, style, it->kind == CONTROL_CLOCK ? _("another range ...") : strcat(text, it->kind == CONTROL_FAN ? " % ..." : " ..."));
		else
			screen_cut(u, c, x + 2, y, w - 8, style, text);
		if (top + i == now)
			canvas_right(c, x, y, w - 1, here ? style : STYLE_DIM, _("now"));
		hit_add(u, x, y, w, choose, top + i);
	}
}

void act_set(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	const struct control_item *it = chosen(u, s);
	static const struct modal choice = {choice_key, choice_bar, false};
	int now;

	if (s->record_done || (!it && !s->control_kept)) {
		act_about(u, s, r, arg);
	} else if (!it) {
		screen_say(u, STYLE_DIM, "%s", s->control_kept);
	} else if (it->refused[0]) {
		screen_say(u, STYLE_WARN, "%s", it->refused);
	} else if (s->trial.name[0]) {
		screen_say(u, STYLE_WARN, "%s", _("One change at a time: keep the last one or put it back first."));
	} else if (!choices(it, &now)) {
		ask(u, "");
	} else if (modal_open(u, &choice, &view_board)) {
		state_of(u)->at = now < 0 ? 0 : now;
	}
}

bool control_trial_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.bar.y, right = c->w - x;
	const struct ui_trial *t = &s->trial;
	char text[360], back[64];
	const char *keys;
	long left;

	if (!t->name[0])
		return false;
	change_line(text, sizeof(text), t->name, t->from, t->to);
	left = (long)((t->until_ns - s->now_ns + NS_PER_S - 1) / NS_PER_S);
	u->frame.trial = t->state == TRIAL_KEEP;
	if (t->state == TRIAL_KEEP) {
		snprintf(back, sizeof(back), P_("back in %ld s", "back in %ld s", left), left > 0 ? left : 0);
		keys = _("keep?  y: yes   n: no");
	} else {
		snprintf(back, sizeof(back), "%s", t->state == TRIAL_ASKED ? _("asking...") : _("putting back..."));
		keys = _("Esc: leave it");
	}
	canvas_right(c, x, y, right - x, STYLE_STRONG, back);
	right -= text_width(back) + 3;
	x += screen_cut(u, c, x, y, right - x - text_width(keys) - 2, STYLE_WARN, text) + 2;
	canvas_text(c, x, y, right - x, STYLE_KEY_TEXT, keys);
	return true;
}

bool control_trial_key(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	bool keeps = ev->key == 'y' || ev->key == 'Y', ends = ev->key == 'n' || ev->key == 'N' || ev->key == K_ESC;

	if (!s->trial.name[0] || ev->pasted || (ev->mods & (MOD_CTRL | MOD_ALT)))
		return false;
	if (s->trial.state != TRIAL_KEEP ? ev->key != K_ESC : !u->frame.trial || (!keeps && !ends))
		return false;
	r->kind = REQUEST_CONTROL;
	snprintf(r->path, sizeof(r->path), "%s", s->trial.state != TRIAL_KEEP ? "" : keeps ? "keep" : "revert");
	return true;
}
