/* nvmtop sweep: records a command in every combination of settings, power modes, clocks and fan, and says what each costs.
 * All settings are made by one control session that puts back what it changed when this process ends, however that is. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder.h"
#include "cli/sweep.h"
#include "cli/verb.h"
#include "record/naming.h"
#include "util/clock.h"
#include "util/intl.h"

#define NOT_ALLOWED   4 /* exit status, as of nvmtop control */
#define SETTLE_NS     (120 * NS_PER_S)
#define SETTLED_C     0.5
#define SETTLED_ZOOM  30 /* columns of 1.07 s, whose means are less noisy than readings */
#define SETTLED_COLUMNS 10
#define CHANGES       64 /* that a setting may make */

struct sweep {
	const struct options *o;
	struct root *root;
	struct control_list list;
	struct sweep_axis axes[SWEEP_AXES];
	struct sweep_table table;
	struct control_session *control;
	struct sweep_row *row; /* that is being set */
	unsigned ids[CHANGES]; /* of the changes to be reverted before the next setting */
	size_t n_ids;
	bool left; /* something could not be put back */
	int signals;
	int asked; /* to end: the exit status for it */
	char folder[PATH_MAX - 300], csv[PATH_MAX];
	int64_t since_ns;
	size_t done, ran; /* runs */
};

/* --- the plan --- */

static int choice_add(struct sweep_axis *a, const char *text, struct err *e)
{
	char *shown = a->list[a->n].shown, *sent = a->list[a->n].sent;
	bool mode = a->item->kind == CONTROL_MODE, now = !strcmp(text, "now");

	if (a->n == SWEEP_CHOICES)
		return err_set(e, ERR_USAGE, _("%s: more than %d values"), a->word, SWEEP_CHOICES);
	if (!now && control_value(a->item, text, sent, sizeof a->list->sent, e) < 0)
		return -1;
	snprintf(shown, sizeof a->list->shown, "%s", !mode ? text : now ? a->item->value : sent);
	a->n++;
	return 0;
}

static void take_refusal(void *why, const struct control_change *c)
{
	if (c->result == CONTROL_REFUSED)
		snprintf(why, sizeof c->why, "%s", c->why);
}

/* modes=all: those that can be chosen without a reboot. */
static int choices_all(struct sweep *s, struct sweep_axis *a, struct err *e)
{
	struct control_session *control = control_open(s->root, CONTROL_PLAIN, false, e);
	char words[sizeof a->item->allowed], *rest = words, *word;
	int r = control ? 0 : -1;

	snprintf(words, sizeof words, "%s", a->item->allowed);
	while (r == 0 && (word = strsep(&rest, " "))) {
		const char *name = strchr(word, ':') ? strchr(word, ':') + 1 : word;
		char why[sizeof((struct control_change *)NULL)->why] = "";

		if (control_ask(control, (const char *const[]){"mode", name, "--dry-run", NULL}, take_refusal, why, e) < 0)
			r = -1;
		else if (*why)
			fprintf(stderr, _("nvmtop: mode %s is left out: %s\n"), name, why);
		else
			r = choice_add(a, name, e);
	}
	if (control)
		control_close(control, NULL, NULL, e);
	return r < 0 || a->n > 0 ? r : err_set(e, ERR_FAILED, "%s", _("no power mode can be set here without a reboot"));
}

/* "gpu=306M,612M" */
static int axis_parse(struct sweep *s, const char *text, struct err *e)
{
	struct sweep_axis *a = &s->axes[s->table.n_axes];
	size_t length = strcspn(text, "="), n;
	char name[sizeof a->item->name + 8], value[sizeof a->list->sent];

	if (!text[length] || length >= sizeof a->word)
		return err_set(e, ERR_USAGE, _("\"%s\" is no setting: write, for example, modes=all or gpu=306M,612M"),
			       shown_word(text));
	if (s->table.n_axes == SWEEP_AXES)
		return err_set(e, ERR_USAGE, _("more than %d settings"), SWEEP_AXES);
	snprintf(a->word, sizeof a->word, "%.*s", (int)length, text);
	if (!strcmp(a->word, "modes"))
		snprintf(name, sizeof name, "mode");
	else
		snprintf(name, sizeof name, "%s%s", strncmp(a->word, "fan", 3) ? "clocks." : "", a->word);
	for (size_t i = 0; i < s->table.n_axes; i++)
		if (!strcmp(s->axes[i].word, a->word))
			return err_set(e, ERR_USAGE, _("%s= is given twice"), a->word);
	a->item = control_find(&s->list, name);
	if (!a->item)
		return err_set(e, ERR_USAGE, _("\"%s\" cannot be set here; nvmtop control list says what can"), shown_word(a->word));
	if (a->item->refused[0])
		return err_set(e, ERR_FAILED, _("%s cannot be set here: %s"), name, a->item->refused);
	if (control_value(a->item, a->item->value, a->now, sizeof a->now, e) < 0)
		a->now[0] = '\0';
	for (const char *p = text + length + 1;; p += n + 1) {
		n = strcspn(p, ",");
		snprintf(value, sizeof value, "%.*s", (int)n, p);
		bool all = a->item->kind == CONTROL_MODE && !strcmp(value, "all");
		if ((all ? choices_all(s, a, e) : choice_add(a, value, e)) < 0)
			return -1;
		if (!p[n])
			break;
	}
	s->table.n_axes++;
	return 0;
}

/* All combinations; the last setting changes first. */
static int rows_make(struct sweep *s, struct err *e)
{
	struct sweep_table *t = &s->table;

	t->n_rows = 1;
	for (size_t k = 0; k < t->n_axes && t->n_rows <= SWEEP_ROWS; k++)
		t->n_rows *= s->axes[k].n;
	if (t->n_rows > SWEEP_ROWS)
		return err_set(e, ERR_USAGE, _("more than %d combinations of settings"), SWEEP_ROWS);
	t->rows = calloc(t->n_rows, sizeof *t->rows);
	if (!t->rows)
		return err_set(e, ERR_FAILED, "%s", _("out of memory"));
	for (size_t i = 0; i < t->n_rows; i++) {
		struct sweep_row *row = &t->rows[i];
		size_t rest = i, length = 0;

		*row = (struct sweep_row){.now = true, .within = NAN, .hottest = NAN, .events = NAN, .mark = ' '};
		for (size_t k = t->n_axes; k-- > 0;) {
			size_t at = rest % s->axes[k].n;

			row->value[k] = s->axes[k].list[at].shown;
			row->sent[k] = s->axes[k].list[at].sent;
			row->now &= !*row->sent[k] || !strcmp(row->sent[k], s->axes[k].now);
			rest /= s->axes[k].n;
		}
		for (size_t k = 0; k < t->n_axes && length < sizeof row->name; k++) {
			bool mode = s->axes[k].item->kind == CONTROL_MODE;

			length += (size_t)snprintf(row->name + length, sizeof row->name - length, "%s%s%s%s", k ? " " : "",
						   mode ? "" : s->axes[k].word, mode ? "" : "=", row->value[k]);
		}
		snprintf(row->file, sizeof row->file, "%02zu-%s", i + 1, row->name);
		for (char *p = row->file; *p; p++)
			*p = strchr("%/ ", *p) || (*p & 0x80) ? '_' : *p;
	}
	return 0;
}

static int plan_make(struct sweep *s, struct err *e)
{
	struct board *board;
	char why[256];
	int r;

	s->root = root_open(s->o->sysroot, e);
	if (!s->root)
		return -1;
	board = board_detect(s->root, why, sizeof why, e); /* as the helper does, also where another one is recorded */
	if (!board)
		return -1;
	r = control_list(board, s->root, &s->list, e);
	board_free(board);
	for (size_t i = 0; r == 0 && i < s->o->n_files; i++)
		r = axis_parse(s, s->o->files[i], e);
	return r < 0 ? -1 : rows_make(s, e);
}

static void plan_print(const struct sweep *s, FILE *f)
{
	const struct sweep_table *t = &s->table;

	fprintf(f, P_("plan: %zu setting, runs of it: %d\n", "plan: %zu settings, runs of each: %d\n", t->n_rows), t->n_rows,
		s->o->repeat);
	for (size_t i = 0; i < t->n_rows; i++)
		fprintf(f, "%4zu  %s%s\n", i + 1, t->rows[i].name, t->rows[i].now ? _(" (now)") : "");
	for (size_t k = 0; k < t->n_axes; k++) {
		const struct control_item *item = s->axes[k].item;
		char value[120];

		control_shown(item->name, item->value, value, sizeof value);
		fprintf(f, _("now: %s %s\n"), item->name, *value ? value : item->missing);
	}
}

/* --- a setting --- */

static void take_signals(struct sweep *s)
{
	int sig;

	while ((sig = signals_next(s->signals, NULL))) {
		if (sig == SIGTSTP)
			raise(SIGSTOP);
		else if (signal_ends(sig))
			s->asked = 128 + sig;
	}
}

static void take_change(void *to, const struct control_change *c)
{
	struct sweep *s = to;

	if (c->id && s->n_ids < CHANGES)
		s->ids[s->n_ids++] = c->id;
	if (c->result == CONTROL_DONE || c->result == CONTROL_AS_IS)
		return;
	if (s->row->result < SWEEP_NOT)
		s->row->result = c->result == CONTROL_NOT       ? SWEEP_NOT
				 : c->result == CONTROL_REFUSED ? SWEEP_REFUSED
								: SWEEP_UNSET;
	if (c->why[0])
		sweep_say(s->row, "%s: %s", c->name, c->why);
	else
		sweep_say(s->row, _("%s: wanted %s, is %s"), c->name, c->wanted, c->after);
}

static void take_return(void *to, const struct control_change *c)
{
	struct sweep *s = to;

	if (c->result == CONTROL_DONE || c->result == CONTROL_AS_IS)
		return;
	fprintf(stderr, _("nvmtop: %s was not put back to %s: %s\n"), c->name, c->wanted, c->why[0] ? c->why : c->after);
	s->left = true;
}

/* Every setting begins with the machine as it was: a mode does not take where clocks are pinned above it. */
static int put_back(struct sweep *s, struct err *e)
{
	const char *words[CHANGES + 2] = {"revert"};
	char ids[CHANGES][12];
	size_t n = 1;

	if (s->n_ids == 0)
		return 0;
	while (s->n_ids > 0) { /* the newest first */
		snprintf(ids[n - 1], sizeof *ids, "%u", s->ids[--s->n_ids]);
		words[n] = ids[n - 1];
		n++;
	}
	return control_ask(s->control, words, take_return, s, e) < 0 ? -1 : 0;
}

/* Returns -1 and sets *e if the helper is gone. */
static int set(struct sweep *s, struct sweep_row *row, struct err *e)
{
	s->row = row;
	row->result = SWEEP_RAN;
	if (put_back(s, e) < 0)
		return -1;
	for (size_t k = 0; k < s->table.n_axes && row->result < SWEEP_NOT; k++) {
		const struct control_item *item = s->axes[k].item;
		const char *verb = item->kind == CONTROL_CLOCK ? "clocks" : item->name;
		char value[160];
		int status;

		if (!*row->sent[k])
			continue;
		snprintf(value, sizeof value, "%s%s%s", item->kind == CONTROL_CLOCK ? s->axes[k].word : "",
			 item->kind == CONTROL_CLOCK ? "=" : "", row->sent[k]);
		status = control_ask(s->control, (const char *const[]){verb, value, NULL}, take_change, s, e);
		if (status < 0)
			return -1;
		if (status > 0 && row->result < SWEEP_NOT) { /* the request as a whole */
			row->result = status == NOT_ALLOWED ? SWEEP_REFUSED : SWEEP_UNSET;
			sweep_say(row, "%s", e->text);
		}
	}
	return 0;
}

/* How far the hottest zone moved in the last columns; NaN: it is not known for all of them. *now is its temperature. */
static double moved(struct timeline *t, size_t hottest, double *now)
{
	struct bin bins[SETTLED_COLUMNS];
	int64_t first, last;
	double least = INFINITY, most = -INFINITY;

	*now = NAN;
	if (!t->ops->extent(t, &first, &last))
		return NAN;
	t->ops->columns(t, hottest, SETTLED_ZOOM, (last >> SETTLED_ZOOM) - SETTLED_COLUMNS, SETTLED_COLUMNS, bins);
	for (size_t i = 0; i < SETTLED_COLUMNS; i++) {
		double mean = bins[i].n > 0 ? bins[i].sum / (double)bins[i].n : NAN;

		*now = isnan(mean) ? *now : mean;
		least = mean < least || isnan(mean) ? mean : least;
		most = mean > most || isnan(mean) ? mean : most;
		if (isnan(mean))
			return NAN;
	}
	return most - least;
}

/* Waits until the temperature is that of the setting. */
static void settle(struct sweep *s, struct sweep_row *row)
{
	const int64_t until = clock_now_ns() + s->o->settle_ns;
	const bool tells = isatty(STDERR_FILENO);
	const struct session *about;
	double now, by = NAN;
	size_t hottest = 0;
	struct live l;
	struct err e;

	if (s->o->settle_ns == 0)
		return;
	row->result = SWEEP_UNSETTLED;
	if (live_open(&l, s->o, NULL, &e) < 0) {
		sweep_say(row, _("not settled: %s"), e.text);
		return;
	}
	engine_wait_warm(l.engine, -1);
	about = engine_session(l.engine);
	while (hottest < about->n_channels && about->channels[hottest].kind != CHANNEL_HOTTEST)
		hottest++;
	if (hottest == about->n_channels || about->channels[hottest].missing[0])
		sweep_say(row, "%s", _("not settled: no temperature is known here"));
	else
		while (!(by < SETTLED_C) && !s->asked && clock_now_ns() < until) {
			struct pollfd p = {.fd = s->signals, .events = POLLIN};
			int64_t left = until - clock_now_ns();

			poll(&p, 1, (int)((left < NS_PER_S ? left : NS_PER_S) / NS_PER_MS) + 1);
			take_signals(s);
			by = moved(history_timeline(l.history), hottest, &now);
			if (tells && !isnan(by))
				fprintf(stderr, _("\rnvmtop: %s: settling at %.1f C, moved by %.1f C "), row->name, now, by);
		}
	if (tells)
		fputs("\r\033[K", stderr);
	if (by < SETTLED_C)
		row->result = SWEEP_RAN;
	else if (!isnan(by))
		sweep_say(row, _("not settled in %.0f s: the temperature still moved by %.1f C in 10 s"), (double)s->o->settle_ns / 1e9, by);
	else if (!*row->why)
		sweep_say(row, _("not settled: the temperature was not known for 10 s in %.0f s"), (double)s->o->settle_ns / 1e9);
	live_close(&l);
}

/* Records a run of the command. Returns false if there is no use in going on. */
static bool record_one(struct sweep *s, struct sweep_row *row, int run)
{
	struct options o = *s->o;
	struct recorder r = {.o = &o, .kill_ns = INT64_MAX, .go = -1, .signals = s->signals};
	size_t runs = s->table.n_rows * (size_t)s->o->repeat;
	char name[PATH_MAX], left[32] = "--:--";
	struct err e;
	int status;

	if (s->ran > 0)
		text_elapsed(left, sizeof left, (clock_now_ns() - s->since_ns) / (int64_t)s->ran * (int64_t)(runs - s->done));
	fprintf(stderr, _("nvmtop: run %zu of %zu: %s, %d of %d; about %s left\n"), s->done + 1, runs, row->name, run, s->o->repeat, left);
	s->done++;
	s->ran++;

	snprintf(name, sizeof name, "%s/%s-%d.nvmt", s->folder, row->file, run);
	o.out = name;
	o.repeat = 0;
	o.per = 0;
	o.quiet = true;
	status = record_run(&r, 0);
	if (r.asked) {
		s->asked = status > 128 ? status : 128 + SIGINT;
		sweep_say(row, _("run %d was stopped"), run);
		row->result = SWEEP_UNRECORDED > row->result ? SWEEP_UNRECORDED : row->result;
	} else if (r.child_status) {
		row->exit_status = r.child_status;
		row->failed++;
		row->result = SWEEP_FAILED > row->result ? SWEEP_FAILED : row->result;
	} else if (status) {
		sweep_say(row, _("run %d was not recorded as a whole"), run);
		row->result = SWEEP_UNRECORDED;
		return *r.file && !r.parts; /* else the next one would not be, either */
	} else if (sweep_add(&s->table, row, name, &e) < 0) {
		sweep_say(row, "%s", e.text);
		row->result = SWEEP_UNRECORDED;
	}
	return !r.asked;
}

/* --- the sweep --- */

static int sweep_all(struct sweep *s, struct err *e)
{
	struct sweep_table *t = &s->table;
	bool go_on = true;

	s->since_ns = clock_now_ns();
	for (size_t i = 0; go_on && i < t->n_rows; i++) {
		struct sweep_row *row = &t->rows[i];

		take_signals(s);
		if (s->asked)
			break;
		if (set(s, row, e) < 0) {
			row->result = SWEEP_LEFT;
			return -1;
		}
		if (row->result >= SWEEP_NOT) {
			fprintf(stderr, _("nvmtop: %s is left out: %s\n"), row->name, row->why);
			s->done += (size_t)s->o->repeat;
		} else {
			settle(s, row);
		}
		for (int run = 1; go_on && run <= s->o->repeat && row->result < SWEEP_NOT; run++) {
			take_signals(s);
			if (s->asked)
				break;
			go_on = record_one(s, row, run);
		}
		if (s->asked && row->seconds.n == 0 && row->result < SWEEP_FAILED)
			row->result = SWEEP_LEFT;
		if (row->failed > 0)
			sweep_say(row, P_("the command failed in %zu run, with status %d", "the command failed in %zu runs, with status %d", row->failed),
				  row->failed, row->exit_status);
		sweep_compare(t);
		if (sweep_csv(t, s->csv, e) < 0)
			complain(e);
	}
	return 0;
}

static int cmd_sweep(const struct options *o)
{
	struct sweep *s = calloc(1, sizeof *s);
	struct err e = {.code = ERR_NONE};
	char date[64];
	int status;

	if (!s) {
		err_set(&e, ERR_FAILED, "%s", _("out of memory"));
		return complain(&e);
	}
	s->o = o;
	s->table = (struct sweep_table){.axes = s->axes, .per = o->per};
	s->signals = signals_open(&e);
	if (s->signals < 0 || plan_make(s, &e) < 0)
		return complain(&e);
	plan_print(s, o->dry_run ? stdout : stderr);
	if (o->dry_run)
		return 0;
	if ((status = command_check(o->command[0])))
		return status;
	name_now(date, sizeof date);
	snprintf(s->folder, sizeof s->folder, "%s%s", o->out ? "" : "sweep", o->out ? o->out : date + strlen("nvmtop"));
	snprintf(s->csv, sizeof s->csv, "%s/sweep.csv", s->folder);
	if (mkdir(s->folder, 0777) < 0) {
		err_sys(&e, ERR_FAILED, errno, _("cannot create the folder %s"), s->folder);
		return complain(&e);
	}
	if (sweep_csv(&s->table, s->csv, &e) < 0 || !(s->control = control_open(s->root, CONTROL_ASK, true, &e))) {
		unlink(s->csv);
		rmdir(s->folder);
		complain(&e);
		return e.num == EACCES ? NOT_ALLOWED : ERR_FAILED;
	}
	if (sweep_all(s, &e) < 0) {
		complain(&e);
		s->left = true;
	}
	if (control_close(s->control, take_return, s, &e) != 0)
		s->left = true;
	if (s->left)
		fputs(_("nvmtop: not all is as it was before the sweep; \"nvmtop control restore\" tries again\n"), stderr);
	sweep_print(&s->table, stderr);
	fprintf(stderr, _("recordings: %s; as CSV: %s\n"), s->folder, s->csv);
	status = s->asked ? s->asked : s->left;
	for (size_t i = 0; i < s->table.n_rows && !status; i++)
		status = s->table.rows[i].result != SWEEP_RAN && s->table.rows[i].result != SWEEP_UNSETTLED;
	root_close(s->root);
	control_list_free(&s->list);
	free(s->table.rows);
	free(s);
	return status;
}

static int finish(struct options *o, struct err *e)
{
	const struct option_rule rules[] = {
		{o->n_files == 0, N_("nvmtop sweep needs settings, such as modes=all or gpu=306M,612M")},
		{!o->command && !o->dry_run, N_("nvmtop sweep needs a command to record: -- COMMAND")},
		{o->out && strchr(o->out, '%'), N_("the name of the FOLDER cannot have a %")},
		{o->board && !strcmp(o->board, "demo"), N_("a demo has no settings: nvmtop sweep changes those of this machine")},
	};

	o->repeat = o->repeat ? o->repeat : 3;
	o->settle_ns = o->has_settle ? o->settle_ns : SETTLE_NS;
	return RULES(rules, e);
}

static const struct option_entry own[] = {
	{"repeat", "N", N_("record the COMMAND N times in each setting (3)"), COUNT(repeat, 1, 100),
	 .wants = N_("a whole number from 1 to 100")},
	{"settle", "SEC", N_("wait at most SEC seconds until the temperature has settled (120); 0: do not wait"),
	 TIME(settle_ns), HAS(has_settle)},
	{"per", "N", N_("each run has N items: print energy per item"), NUMBER(per), .least = 5e-324, .most = 1e300,
	 .wants = N_("a number of items above 0")},
	{"output", "FOLDER", N_("create FOLDER for the recordings and sweep.csv (default: sweep-DATE-TIME)"), .letter = 'o', .take = value_output},
	{"dry-run", NULL, N_("only print which settings would be made"), FLAG(dry_run)},
};
static const struct option_group options = {NULL, OPTIONS(own)};

const struct verb verb_sweep = {
	.name = "sweep",
	.operands = "NAME=VALUE,... -- COMMAND",
	.summary = N_("record a command in every power mode, clock or fan setting, and compare them"),
	.groups = {&options, &group_sampling, &group_priority},
	.runs_as = MODE_RECORD,
	.takes_signals = true,
	.runs_command = true,
	.finish = finish,
	.run = cmd_sweep,
};
