/* Writes what completion must know of the command line, from the tables of the parser, so that no option is listed
 * twice. The output is calls of two functions that bash/nvmtop.in, zsh/_nvmtop.in and fish/nvmtop.fish.in define, in
 * words that the three shells read alike:
 *
 *	_nvmtop_verb    VERB OPERANDS FIRST COMMAND SUMMARY
 *	_nvmtop_option  VERB NAME LETTER PLACEHOLDER KIND WORDS HELP
 *
 * VERB is empty for the screen. KIND is empty if the option takes no value, "optional" if it does only after "=",
 * "word" for one of WORDS, the kind of a file or name, or "any".
 *
 * This runs while nvmtop is built, perhaps for another machine, so it is compiled for the building one, together
 * with the files that have the tables. The rest of nvmtop is not there: the linker is told to ignore what these
 * files call (FLAGS_FOR_BUILD of configure.ac), since nothing of it runs here. */
#include <stdio.h>
#include <string.h>

#include "cli/verb.h"

static void quoted(const char *text)
{
	fputs(" \"", stdout);
	for (; *text; text++) {
		if (strchr("\\\"$`", *text))
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static const char *kind(const struct option_entry *t)
{
	static const char *const kinds[][2] = {{"FILE", "file"},     {"DIR", "folder"},	  {"NAME|FILE", "board"},
					       {"NAMES", "signals"}, {"N|LABEL", "phase"}, {"MARK|start", "phase"}};

	if (!t->argument || !option_value_needed(t))
		return t->argument ? "optional" : "";
	if (t->words)
		return "word";
	if (!strcmp(t->name, "with"))
		return "recording";
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(t->argument, kinds[i][0]))
			return kinds[i][1];
	return "any";
}

static void write_option(const struct verb *v, const struct option_entry *t)
{
	char words[512] = "", letter[] = {t->letter, '\0'};

	for (size_t i = 0, used = 0; t->words && t->words[i] && used < sizeof words; i++)
		if (i == 0 || strcmp(t->words[i], t->words[i - 1]) != 0)
			used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? " " : "", t->words[i]);
	printf("_nvmtop_option");
	quoted(v->name ? v->name : "");
	quoted(t->name);
	quoted(letter);
	quoted(t->argument ? t->argument : "");
	quoted(kind(t));
	quoted(words);
	quoted(t->help);
	putchar('\n');
}

static void write_group(const struct verb *v, const struct option_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		write_option(v, &g->entries[i]);
}

int main(void)
{
	for (size_t i = 0; verbs[i]; i++) {
		const struct verb *v = verbs[i];
		size_t first = strcspn(v->operands, " ");

		printf("_nvmtop_verb");
		quoted(v->name ? v->name : "");
		quoted(strstr(v->operands, "FILE") ? "recording" : "");
		printf(" \"");
		for (size_t c = 0; c < first && memchr(v->operands, '|', first); c++)
			putchar(v->operands[c] == '|' ? ' ' : v->operands[c]);
		putchar('"');
		quoted(v->runs_command ? "command" : "");
		quoted(v->summary ? v->summary : "");
		putchar('\n');
		for (size_t g = 0; v->groups[g]; g++)
			write_group(v, v->groups[g]);
		write_group(v, &group_common);
	}
	return fflush(stdout) != 0 || ferror(stdout);
}
