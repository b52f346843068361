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
	struct sweep_row *row;		 /* that is being set */
	char ids[CHANGES][12];		 /* of its n_ids changes */
	const char *revert[CHANGES + 2]; /* the request to put them back */
	size_t n_ids;
	int signals;
	int asked; /* to end: the exit status for it */
	bool over; /* it is to end */
	char folder[PATH_MAX - 300], csv[PATH_MAX];
	int64_t since_ns;
	size_t done, ran; /* runs; done: also those of settings that are left out */
};

static void take_change(void *to, const struct control_change *c)
{
	static const enum sweep_result results[CONTROL_RESULTS] = {
		[CONTROL_NOT] = SWEEP_NOT, [CONTROL_REFUSED] = SWEEP_REFUSED, [CONTROL_FAILED] = SWEEP_UNSET};
	struct sweep *s = to;
	bool one = s->table.n_axes < 2;

	if (c->id && s->n_ids < CHANGES) {
		snprintf(s->ids[s->n_ids], sizeof *s->ids, "%u", c->id);
		s->revert[1 + s->n_ids] = s->ids[s->n_ids];
		s->revert[1 + ++s->n_ids] = NULL;
	}
	if (!results[c->result])
		return;
	if (results[c->result] > s->row->result)
		s->row->result = results[c->result];
	if (c->why[0])
		sweep_say(s->row, "%s%s%s", one ? "" : c->name, one ? "" : ": ", c->why);
	else
		sweep_say(s->row, _("%s: wanted %s, is %s"), c->name, c->wanted, c->after);
}

/* --- the plan --- */

static int choice_add(struct sweep_axis *a, const char *text, struct err *e)
{
	struct sweep_choice *c = &a->list[a->n];
	bool now = !strcmp(text, "now");

	if (a->n == SWEEP_CHOICES)
		return err_set(e, ERR_USAGE, _("%s: more than %d values"), a->word, SWEEP_CHOICES);
	if (!now && control_value(a->item, text, c->sent, sizeof c->sent, e) < 0)
		return -1;
	snprintf(c->shown, sizeof c->shown, "%s", a->item->kind != CONTROL_MODE ? text : now ? a->item->value : c->sent);
	a->n++;
	return 0;
}

/* modes=all: those that can be chosen without a reboot. */
static int choices_all(struct sweep *s, struct sweep_axis *a, struct err *e)
{
	struct control_session *control = control_open(s->root, CONTROL_PLAIN, false, e);
	char words[sizeof a->item->allowed], *rest = words, *name;
	struct sweep_row row;
	int r = control ? 0 : -1;

	snprintf(words, sizeof words, "%s", a->item->allowed);
	s->row = &row;
	while (r == 0 && (name = strsep(&rest, " "))) {
		row = (struct sweep_row){.result = SWEEP_RAN};
		name += strchr(name, ':') ? strcspn(name, ":") + 1 : 0;
		if (control_ask(control, (const char *const[]){"mode", name, "--dry-run", NULL}, take_change, s, e) < 0)
			r = -1;
		else if (row.result == SWEEP_REFUSED)
			fprintf(stderr, _("nvmtop: mode %s is left out: %s\n"), name, row.why);
		else
			r = choice_add(a, name, e);
	}
	s->row = NULL;
	if (control)
		control_close(control, NULL, NULL, NULL);
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
	for (size_t i = 0; i < s->table.n_axes; i++)
		if (!strcmp(s->axes[i].word, a->word))
			return err_set(e, ERR_USAGE, _("%s= is given twice"), a->word);
	if (!strcmp(a->word, "modes"))
		snprintf(name, sizeof name, "mode");
	else
		snprintf(name, sizeof name, "%s%s", strncmp(a->word, "fan", 3) ? "clocks." : "", a->word);
	a->item = control_find(&s->list, name);
	if (!a->item)
		return err_set(e, ERR_USAGE,
			       _("\"%s\" cannot be set by a sweep here: it takes modes, gpu, cpu, emc and fan, of which nvmtop control list says what there is"),
			       shown_word(a->word));
	if (a->item->refused[0])
		return err_set(e, ERR_FAILED, _("%s cannot be set: %s"), name, a->item->refused);
	if (control_value(a->item, a->item->value, a->now, sizeof a->now, NULL) < 0)
		a->now[0] = '\0';
	for (const char *p = text + length; *p; p += n) {
		n = strcspn(++p, ",");
		snprintf(value, sizeof value, "%.*s", (int)n, p);
		bool all = a->item->kind == CONTROL_MODE && !strcmp(value, "all");
		if ((all ? choices_all(s, a, e) : choice_add(a, value, e)) < 0)
			return -1;
	}
	s->table.n_axes++;
	return 0;
}

/* All combinations; the last setting changes first. */
static int rows_make(struct sweep *s, struct err *e)
{
	const struct side none = {.mean = NAN, .sd = NAN};
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

		*row = (struct sweep_row){.now = true, .seconds = none, .joules = none, .watts = none, .throttled = none,
					  .within = NAN, .hottest = NAN, .events = NAN, .mark = ' '};
		for (size_t k = 0, apart = t->n_rows; k < t->n_axes; k++) {
			const struct sweep_axis *a = &s->axes[k];
			bool mode = a->item->kind == CONTROL_MODE;
			size_t length = strlen(row->name);

			apart /= a->n;
			row->choice[k] = &a->list[i / apart % a->n];
			row->now &= !*row->choice[k]->sent || !strcmp(row->choice[k]->sent, a->now);
			snprintf(row->name + length, sizeof row->name - length, "%s%s%s%s", k ? " " : "", mode ? "" : a->word,
				 mode ? "" : "=", row->choice[k]->shown);
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

static bool is_over(struct sweep *s)
{
	int sig;

	while ((sig = signals_next(s->signals, NULL)))
		if (sig == SIGTSTP)
			raise(SIGSTOP);
		else if (signal_ends(sig))
			s->asked = 128 + sig;
	return s->over |= s->asked > 0;
}

static void take_return(void *to, const struct control_change *c)
{
	(void)to;
	if (c->result != CONTROL_DONE && c->result != CONTROL_AS_IS)
		fprintf(stderr, _("nvmtop: %s was not put back to %s: %s\n"), c->name, c->wanted, c->why[0] ? c->why : c->after);
}

/* Begins with the machine as it was: a mode does not take where clocks are pinned above it. Returns -1 and sets *e if the
 * helper is gone. */
static int set(struct sweep *s, struct err *e)
{
	struct sweep_row *row = s->row;
	int status = s->n_ids > 0 ? control_ask(s->control, s->revert, take_return, NULL, e) : 0;

	row->result = SWEEP_RAN;
	if (status == 0)
		s->n_ids = 0;
	else if (status > 0)
		sweep_say(row, "%s", _("what the setting before it had changed was not put back"));
	for (size_t k = 0; k < s->table.n_axes && status == 0; k++) {
		bool clock = s->axes[k].item->kind == CONTROL_CLOCK;
		const char *verb = clock ? "clocks" : s->axes[k].item->name, *sent = row->choice[k]->sent;
		char value[160];

		snprintf(value, sizeof value, "%s%s%s", clock ? s->axes[k].word : "", clock ? "=" : "", sent);
		if (*sent)
			status = control_ask(s->control, (const char *const[]){verb, value, NULL}, take_change, s, e);
	}
	if (status > 0 && row->result < SWEEP_NOT) { /* the request as a whole */
		row->result = status == NOT_ALLOWED ? SWEEP_REFUSED : SWEEP_UNSET;
		sweep_say(row, "%s", e->text);
	}
	return status < 0 ? -1 : 0;
}

/* How far the hottest zone moved in the last columns, and *now its temperature; NaN: it is not known for all of them. */
static double moved(struct timeline *t, size_t hottest, double *now)
{
	struct bin bins[SETTLED_COLUMNS];
	int64_t first, last;
	double least = INFINITY, most = -INFINITY;

	if (!t->ops->extent(t, &first, &last))
		return NAN;
	t->ops->columns(t, hottest, SETTLED_ZOOM, (last >> SETTLED_ZOOM) - SETTLED_COLUMNS, SETTLED_COLUMNS, bins);
	for (size_t i = 0; i < SETTLED_COLUMNS; i++) {
		if (bins[i].n == 0)
			return NAN;
		*now = bins[i].sum / (double)bins[i].n;
		least = fmin(least, *now);
		most = fmax(most, *now);
	}
	return most - least;
}

/* Waits until the temperature is that of the setting. */
static void settle(struct sweep *s)
{
	struct sweep_row *row = s->row;
	const int64_t until = clock_now_ns() + s->o->settle_ns;
	const bool tells = isatty(STDERR_FILENO);
	const struct session *about;
	double now, by = NAN;
	size_t hottest = 0;
	int64_t left;
	struct live l;
	struct err e;

	if (s->o->settle_ns == 0)
		return;
	row->result = SWEEP_UNSETTLED;
	if (live_open(&l, s->o, -1, &e) < 0) {
		sweep_say(row, _("not settled: %s"), e.text);
		return;
	}
	engine_wait_warm(l.engine, -1);
	about = engine_session(l.engine);
	while (hottest < about->n_channels && about->channels[hottest].kind != CHANNEL_HOTTEST)
		hottest++;
	bool known = hottest < about->n_channels && !about->channels[hottest].missing[0];
	while (known && !(by < SETTLED_C) && !is_over(s) && (left = until - clock_now_ns()) > 0) {
		poll(&(struct pollfd){.fd = s->signals, .events = POLLIN}, 1, (int)((left < NS_PER_S ? left : NS_PER_S) / NS_PER_MS) + 1);
		by = moved(live_look(&l), hottest, &now);
		if (tells && !isnan(by)) {
			fputs("\r", stderr);
			fprintf(stderr, _("nvmtop: %s: settling at %.1f C, moved by %.1f C "), row->name, now, by);
		}
	}
	if (tells)
		fputs("\r\033[K", stderr);
	if (by < SETTLED_C)
		row->result = SWEEP_RAN;
	else if (!s->over && isnan(by))
		sweep_say(row, "%s", _("not settled: that takes a temperature that is known for 10 s"));
	else if (!s->over)
		sweep_say(row, _("not settled in %.0f s: the temperature still moved by %.1f C in 10 s"), (double)s->o->settle_ns / 1e9, by);
	live_close(&l);
}

/* Records a run of the command. */
static void record_one(struct sweep *s, int run)
{
	struct sweep_row *row = s->row;
	struct options o = *s->o;
	struct recorder r = {.o = &o, .kill_ns = INT64_MAX, .go = -1, .signals = s->signals};
	size_t runs = s->table.n_rows * (size_t)s->o->repeat;
	enum sweep_result result = SWEEP_RAN;
	char name[PATH_MAX], left[32];
	struct err e;
	int status;

	fprintf(stderr, _("nvmtop: run %zu of %zu: %s, %d of %d"), s->done + 1, runs, row->name, run, s->o->repeat);
	if (s->ran > 0) {
		text_elapsed(left, sizeof left, (clock_now_ns() - s->since_ns) / (int64_t)s->ran * (int64_t)(runs - s->done));
		fprintf(stderr, _("; about %s left"), left);
	}
	putc('\n', stderr);
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
		result = SWEEP_UNRECORDED;
	} else if (r.child_status) {
		row->exit_status = r.child_status;
		row->failed++;
		result = SWEEP_FAILED;
	} else if (status) {
		sweep_say(row, _("run %d was not recorded as a whole"), run);
		result = SWEEP_UNRECORDED;
		s->over = !*r.file || r.parts; /* the next one would not be, either */
	} else if (sweep_add(&s->table, row, name, &e) < 0) {
		sweep_say(row, "%s", e.text);
		result = SWEEP_UNRECORDED;
	}
	row->result = result > row->result ? result : row->result;
}

/* --- the sweep --- */

static int sweep_all(struct sweep *s, struct err *e)
{
	struct sweep_table *t = &s->table;

	s->since_ns = clock_now_ns();
	for (struct sweep_row *row = t->rows; row < t->rows + t->n_rows && !is_over(s); row++) {
		s->row = row;
		if (set(s, e) < 0) {
			row->result = SWEEP_LEFT;
			return -1;
		}
		if (row->result >= SWEEP_NOT) {
			fprintf(stderr, _("nvmtop: %s is left out: %s\n"), row->name, row->why);
			s->done += (size_t)s->o->repeat;
		} else {
			settle(s);
		}
		for (int run = 1; run <= s->o->repeat && row->result < SWEEP_NOT && !is_over(s); run++)
			record_one(s, run);
		if (s->over && row->seconds.n == 0 && row->result < SWEEP_FAILED)
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
	static struct sweep s; /* large */
	struct sweep_table *t = &s.table;
	bool left = false;
	struct err e;
	char date[64];
	int status = 0;

	s.o = o;
	s.revert[0] = "revert";
	*t = (struct sweep_table){.axes = s.axes, .per = o->per};
	s.signals = signals_open(&e);
	if (s.signals < 0 || plan_make(&s, &e) < 0)
		return complain(&e);
	plan_print(&s, o->dry_run ? stdout : stderr);
	if (o->dry_run || (status = command_check(o->command[0])))
		return o->dry_run ? 0 : status;
	name_now(date, sizeof date);
	snprintf(s.folder, sizeof s.folder, "%s%s", o->out ? "" : "sweep", o->out ? o->out : date + strlen("nvmtop"));
	snprintf(s.csv, sizeof s.csv, "%s/sweep.csv", s.folder);
	if (mkdir(s.folder, 0777) < 0) {
		err_sys(&e, ERR_FAILED, errno, _("cannot create the folder %s"), s.folder);
		return complain(&e);
	}
	if (sweep_csv(t, s.csv, &e) < 0 || !(s.control = control_open(s.root, CONTROL_ASK, true, &e))) {
		unlink(s.csv);
		rmdir(s.folder);
		complain(&e);
		return e.num == EACCES ? NOT_ALLOWED : ERR_FAILED;
	}
	if (sweep_all(&s, &e) < 0) {
		complain(&e);
		left = true;
	}
	if (control_close(s.control, take_return, NULL, &e) != 0)
		left = true;
	if (left)
		fputs(_("nvmtop: not all is as it was before the sweep; \"nvmtop control restore\" tries again\n"), stderr);
	sweep_print(t, stderr);
	fprintf(stderr, _("recordings: %s; as CSV: %s\n"), s.folder, s.csv);
	status = s.asked ? s.asked : left;
	for (size_t i = 0; i < t->n_rows && !status; i++)
		status = t->rows[i].result != SWEEP_RAN && t->rows[i].result != SWEEP_UNSETTLED;
	free(t->rows);
	control_list_free(&s.list);
	root_close(s.root);
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
	.about = N_("  modes=all, modes=LIST  power modes, by name or number\n"
		    "  gpu=LIST               clocks (306M,612M) or ranges of them (306M..612M); also cpu=, emc=\n"
		    "  fan=LIST               profiles and speeds, such as quiet,60%\n"
		    "The value \"now\" leaves a setting as it is.\n"),
	.groups = {&options, &group_sampling, &group_priority},
	.runs_as = MODE_RECORD,
	.takes_signals = true,
	.runs_command = true,
	.finish = finish,
	.run = cmd_sweep,
};
