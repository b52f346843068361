/* nvmtop control: lists what can be set on this machine, and has it set by the helper, which alone may be root. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"
#include "control/control.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/json-csv.h"

#define JSON_VERSION 1
#define REFUSED      4  /* exit status */
#define OPERANDS     12 /* with options at most 16 words */

/* a key that is absent without a text */
#define TEXT_IF(key, value) {key, *(value) ? IN_JSON : 0, TEXT_OF(value)}

/* --- list --- */

static void list_json(const struct control_list *l, FILE *out)
{
	struct record r = {.f = out, .indented = true};
	char words[sizeof l->at->allowed], *rest, *word;

	json_open(&r, NULL, '{');
	PUT(&r, {"version", IN_JSON, COUNT_OF(JSON_VERSION)});
	json_open(&r, "controls", '[');
	for (const struct control_item *i = l->at; i < l->at + l->n; i++) {
		json_open(&r, NULL, '{');
		PUT(&r, TEXT_IF("name", i->name), TEXT_IF("value", i->value), TEXT_IF("reason", i->missing));
		json_open(&r, "allowed", '[');
		snprintf(rest = words, sizeof words, "%s", i->allowed);
		while ((word = strsep(&rest, " ")) != NULL)
			PUT(&r, {NULL, *word ? IN_JSON : 0, TEXT_OF(word)});
		json_close(&r, "]");
		PUT(&r, TEXT_IF("refused", i->refused), {"needs_root", IN_JSON, TRUTH_OF(true)});
		json_close(&r, "}");
	}
	json_close(&r, "]}");
	putc('\n', out);
}

/* The values that an item takes, of many steps of a clock only the ends; or why it cannot be set. */
static void takes_text(const struct control_item *i, char *out, size_t size)
{
	char ends[sizeof i->allowed];
	int n = 1;

	for (const char *p = i->allowed; *p; p++)
		n += *p == ' ';
	snprintf(ends, sizeof ends, "%s", i->allowed);
	if (i->kind == CONTROL_CLOCK && n > 4)
		snprintf(ends, sizeof ends, "%.*s..%s", (int)strcspn(i->allowed, " "), i->allowed, strrchr(i->allowed, ' ') + 1);
	control_shown(i->name, ends, out, size);
	if (i->kind == CONTROL_CLOCK && n > 4)
		snprintf(out + strlen(out), size - strlen(out), _(" in %d steps"), n);
	if (*i->refused)
		snprintf(out, size, _("cannot be set: %s"), i->refused);
	else if (*i->missing)
		snprintf(out + strlen(out), size - strlen(out), _("  (no value: %s)"), i->missing);
}

/* Prints the words behind `used` columns; on a terminal all lines begin at the same one. */
static void put_words(char *words, int used, int begin)
{
	const int columns = terminal_width(STDOUT_FILENO);

	while (words && *words) {
		const char *word = strsep(&words, " ");

		if (columns && used > begin && used + 1 + text_width(word) > columns) {
			putchar('\n');
			used = 0;
		}
		int blanks = used < begin ? begin - used : 1;
		printf("%*s%s", blanks, "", word);
		used += blanks + text_width(word);
	}
	putchar('\n');
}

static void list_text(const struct control_list *l, const struct board *b)
{
	int name = 0, value = 2;
	char text[1400];

	printf(l->n ? _("What can be set on %s (%s), as root; its value, and those that it takes:\n")
		    : _("Nothing can be set on this machine: the board file of %s (%s) names nothing.\n"),
	       b->title, b->name);
	for (const struct control_item *i = l->at; i < l->at + l->n; i++) {
		control_shown(i->name, i->value, text, sizeof text);
		name = (int)strlen(i->name) > name ? (int)strlen(i->name) : name;
		value = text_width(text) > value ? text_width(text) : value;
	}
	for (const struct control_item *i = l->at; i < l->at + l->n; i++) {
		control_shown(i->name, *i->value || i->kind == CONTROL_CACHES ? i->value : "--", text, sizeof text);
		printf("  %-*s%s%s", *text ? name : 0, i->name, *text ? "  " : "", text);
		int used = name + 4 + text_width(text);
		takes_text(i, text, sizeof text);
		put_words(text, used, name + value + 6);
	}
}

/* Opens what the board file of this machine says. Returns -1 and sets *e on error. */
static int list_open(const struct options *o, struct root **root, struct board **board, struct control_list *l, struct err *e)
{
	char why[256];

	*board = NULL;
	*l = (struct control_list) {.n = 0};
	*root = root_open(o->sysroot, e);
	if (!*root)
		return -1;
	*board = o->board ? board_load(o->board, e) : board_detect(*root, why, sizeof why, e);
	return *board ? control_list(*board, *root, l, e) : -1;
}

static void list_close(struct root *root, struct board *board, struct control_list *l)
{
	control_list_free(l);
	board_free(board);
	root_close(root);
}

static int list(const struct options *o)
{
	struct control_list l;
	struct board *board;
	struct root *root;
	struct err e;
	int status = 0;

	if (list_open(o, &root, &board, &l, &e) < 0)
		status = complain(&e);
	else if (o->json)
		list_json(&l, stdout);
	else
		list_text(&l, board);
	list_close(root, board, &l);
	return status;
}

/* --- changes --- */

static void put_json(struct record *r, const struct control_change *c)
{
	json_open(r, NULL, '{');
	PUT(r, TEXT_IF("name", c->name), TEXT_IF("before", c->before), TEXT_IF("wanted", c->wanted),
	    TEXT_IF("after", c->after), TEXT_IF("result", control_result_words[c->result]), TEXT_IF("why", c->why),
	    {"id", c->id ? IN_JSON : 0, COUNT_OF(c->id)}, {"back_in_s", c->left_ns ? IN_JSON : 0, TIME_OF(c->left_ns)});
	json_close(r, "}");
}

/* One line for a change, on standard error if it did not take. */
static void put_text(const struct control_change *c)
{
	char before[96], wanted[96], after[96];
	bool failed = c->result == CONTROL_NOT || c->result == CONTROL_REFUSED || c->result == CONTROL_FAILED;
	FILE *f = failed ? stderr : stdout;

	control_shown(c->name, *c->before ? c->before : "--", before, sizeof before);
	control_shown(c->name, *c->wanted ? c->wanted : "--", wanted, sizeof wanted);
	control_shown(c->name, *c->after ? c->after : "--", after, sizeof after);
	fprintf(f, "%s%s: ", failed ? "nvmtop: " : "", c->name);
	if (c->result == CONTROL_WOULD)
		fprintf(f, _("would change: %s -> %s"), before, wanted);
	else if (c->result == CONTROL_AS_IS)
		fprintf(f, _("%s already"), after);
	else if (c->result == CONTROL_NOT && !strcmp(c->after, c->wanted)) /* nvpmodel says so; but see why */
		fprintf(f, _("%s did not take"), wanted);
	else if (c->result == CONTROL_NOT)
		fprintf(f, strcmp(c->before, c->after) ? _("now %s, %s was asked for") : _("still %s, %s was asked for"), after, wanted);
	else if (c->result == CONTROL_REFUSED)
		fprintf(f, *c->wanted ? _("%s is refused") : _("refused"), wanted);
	else if (failed)
		fprintf(f, *c->wanted ? _("setting %s failed") : _("failed"), wanted);
	else
		fprintf(f, *c->wanted ? "%s -> %s" : _("done"), before, after);
	if (c->left_ns)
		fprintf(f, _(", back in %lld s unless it is kept: nvmtop control keep %u"), (long long)(c->left_ns / NS_PER_S), c->id);
	fprintf(f, "%s%s\n", *c->why ? ": " : "", c->why);
	fflush(f);
}

static void visit(void *json, const struct control_change *c)
{
	if (json)
		put_json(json, c);
	else
		put_text(c);
}

/* Turns VALUE or KEY=VALUE into the word of a request. Returns -1 and sets *e if it is not possible here. */
static int value_take(const struct control_list *l, const char *word, const char *operand, char *out, size_t size, struct err *e)
{
	const char *equals = strchr(operand, '=');
	int key = equals ? (int)(equals - operand) : 0;
	const struct control_item *item;
	char name[40], value[96] = "";

	snprintf(name, sizeof name, "%s%s%.*s", word, equals ? "." : "", key, operand);
	item = control_find(l, name);
	if (!item)
		return err_set(e, ERR_FAILED, _("there is no \"%s\" to be set here; nvmtop control list shows what there is"),
			       shown_word(name));
	if (*item->refused)
		return err_set(e, ERR_FAILED, _("%s cannot be set: %s"), name, item->refused);
	if (control_value(item, equals ? equals + 1 : operand, value, sizeof value, e) < 0)
		return -1;
	snprintf(out, size, "%.*s%s%s", key, operand, equals ? "=" : "", value);
	return 0;
}

/* Has the words of a request carried out. Returns the exit status, and sets *e to what is to be said, or "". */
static int request_send(const struct root *root, const char *const *words, bool dry, struct record *json, struct err *e)
{
	struct control_session *s = control_open(root, dry ? CONTROL_PLAIN : CONTROL_ASK, false, e);
	struct err last;
	int status;

	if (!s)
		return e->num == EACCES ? REFUSED : 1;
	status = control_ask(s, words, visit, json, e);
	if (control_close(s, visit, json, &last) < 0 && status == 0) {
		*e = last;
		status = 1;
	}
	return status < 0 ? 1 : status;
}

static int change(const struct options *o)
{
	const struct control_verb *v = control_verb(o->files[0]);
	bool values = v->does == VERB_SET && v->most;
	const char *words[OPERANDS + 5] = {o->files[0]};
	char given[OPERANDS][144], after[32];
	struct record r = {.f = stdout, .indented = true}, *json = o->json ? &r : NULL;
	struct control_list l;
	struct board *board;
	struct root *root;
	struct err e;
	size_t n = 1;
	int status = list_open(o, &root, &board, &l, &e) < 0;

	if (json) {
		json_open(json, NULL, '{');
		PUT(json, {"version", IN_JSON, COUNT_OF(JSON_VERSION)});
		json_open(json, "changes", '[');
	}
	for (; n < o->n_files && !status; n++) {
		words[n] = values ? given[n - 1] : o->files[n];
		if (values && value_take(&l, words[0], o->files[n], given[n - 1], sizeof given[0], &e) < 0)
			status = REFUSED;
	}
	if (o->for_ns) {
		snprintf(after, sizeof after, "%lldms", (long long)(o->for_ns / NS_PER_MS));
		words[n++] = "--for";
		words[n++] = after;
	}
	if (o->dry_run)
		words[n] = "--dry-run";
	if (!status)
		status = request_send(root, words, o->dry_run, json, &e);
	list_close(root, board, &l);
	if (json) {
		json_close(json, "]");
		PUT(json, {"status", IN_JSON, COUNT_OF(status)}, TEXT_IF("error", status ? e.text : ""));
		json_close(json, "}");
		putchar('\n');
	}
	if (status && *e.text)
		fprintf(stderr, "nvmtop: %s\n", e.text);
	return status;
}

static int cmd_control(const struct options *o)
{
	return !o->n_files || !strcmp(o->files[0], "list") ? run_apart(list, o) : change(o);
}

static int finish(struct options *o, struct err *e)
{
	const struct control_verb *v = control_verb(o->n_files ? o->files[0] : "list");
	size_t given = o->n_files ? o->n_files - 1 : 0, most = !v ? 0 : v->most < OPERANDS ? v->most : OPERANDS;

	if (!v)
		return err_set(e, ERR_USAGE, _("unknown word \"%s\" after nvmtop control"), shown_word(o->files[0]));
	if (given < v->least)
		return err_set(e, ERR_USAGE, _("nvmtop control %s needs a value: nvmtop control list shows those that it takes"), v->word);
	if (given > most)
		return operand_unexpected(o->files[most + 1], e);
	const struct option_rule rules[] = {
		{o->for_ns && !(v->does == VERB_SET && v->most),
		 N_("--for is for what can be put back: fan, mode, clocks, governor, 3d-scaling, swap")},
		{o->board && v->does != VERB_LIST,
		 N_("--board is only for the list: changes are made to this machine")},
	};
	return RULES(rules, e);
}

static const struct option_entry own[] = {
	{"dry-run", NULL, N_("only say what would be done"), FLAG(dry_run)},
	{"for", "TIME", N_("put it back after TIME (60s, 5m), also if nvmtop or the terminal is gone"),
	 TIME(for_ns), .least = 1, .most = 86400, .wants = N_("a time from 1s to 24h")},
	{"json", NULL, N_("as one JSON object"), FLAG(json)},
	{"board", "NAME|FILE", N_("list what this board has instead of the detected one"), TEXT(board)},
	{"sysroot", "DIR", N_("read all kernel files below DIR instead of /"), TEXT(sysroot)},
};
static const struct option_group options = {NULL, OPTIONS(own)};

const struct verb verb_control = {
	.name = "control",
	.operands = "list|fan|mode|clocks|governor|3d-scaling|swap|drop-caches|restore|keep|revert [VALUE]...",
	.about = N_("  list                   what can be set, its value, and those that it takes; the default\n"
		    "  fan NAME|PERCENT|auto  a profile of nvfancontrol, a fixed speed, or automatic\n"
		    "  mode NAME|ID           a power mode\n"
		    "  clocks max|restore     the highest clocks; what was before\n"
		    "  clocks gpu=MIN..MAX    the lowest and the highest clock, also cpu=, emc=\n"
		    "  governor gpu=NAME      what the clock follows, also cpu=\n"
		    "  3d-scaling on|off      whether the clock of the GPU follows its load\n"
		    "  swap SIZE|off          a file to swap to\n"
		    "  drop-caches            free the memory in which the kernel keeps files\n"
		    "  restore [NAME]...      what was before the first change\n"
		    "  keep ID                let a change stay that was made for a time\n"
		    "  revert ID...           put changes back now\n"),
	.summary = N_("list what can be set: fan, power mode, clocks, swap; set it, check it, put it back"),
	.groups = {&options},
	.finish = finish,
	.run = cmd_control,
};
