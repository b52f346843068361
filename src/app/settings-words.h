/* settings-words: the table of settings that the parser and the writer share. */
#ifndef NVMTOP_APP_SETTINGS_WORDS_H
#define NVMTOP_APP_SETTINGS_WORDS_H

#include "app/settings-file.h"

#define CONF_MOST  65536 /* largest settings file, bytes */
#define WORD_SIZE  (3 * SETTINGS_NAME)
#define VALUE_SIZE 64

struct conf_word {
	const char *key;
	const char *about;                                   /* comment lines, without "# " */
	bool (*take)(struct settings *s, const char *value); /* false: not valid */
	void (*give)(const struct settings *s, char *out);   /* VALUE_SIZE bytes */
	const char *takes;                                   /* valid values, for messages; translated */
};
const struct conf_word *conf_words(size_t i); /* NULL past the end */

/* Settings of the rows of a view, such as hide.overview = gpu.util, ... */
enum conf_list { LIST_HIDE, LIST_LINES, LIST_MOVE, LISTS };
extern const char *const conf_lists[LISTS];
/* List and view of a key such as "hide.overview"; -1: not such a key. */
int conf_list_of(const char *key, size_t n, char view[SETTINGS_VIEW]);

/* A line "key = value" without the blanks around both. */
struct conf_line {
	const char *key, *value;
	size_t key_n, value_n;
};
enum conf_kind { LINE_NOTHING, LINE_SETS, LINE_WRONG };
enum conf_kind conf_line(struct conf_line *l, const char *text, size_t n);

/* Percent-encode names: blanks, commas, "=", "#" and "%". */
void conf_encode(char out[WORD_SIZE], const char *name);
bool conf_decode(char out[SETTINGS_NAME], const char *word, size_t n);

#endif
