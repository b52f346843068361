/* words: the settings as words; the one table that reading and writing share. */
#ifndef NVMTOP_APP_SETTINGS_WORDS_H
#define NVMTOP_APP_SETTINGS_WORDS_H

#include "app/settings-file.h"

#define CONF_MOST  65536 /* bytes of a file that are looked at */
#define WORD_SIZE  (3 * SETTINGS_NAME)
#define VALUE_SIZE 64

struct conf_word {
	const char *key;
	const char *about;                                   /* comment lines, without "# " */
	bool (*take)(struct settings *s, const char *value); /* false: it is not one */
	void (*give)(const struct settings *s, char *out);   /* VALUE_SIZE bytes */
	const char *takes;                                   /* for the complaint; to be translated */
};
const struct conf_word *conf_words(size_t i); /* NULL past the end */

/* What can be chosen of the rows of a view, as in hide.overview = gpu.util, ... */
enum conf_list { LIST_HIDE, LIST_LINES, LIST_MOVE, LISTS };
extern const char *const conf_lists[LISTS];
/* The list and the view of "hide.overview"; -1: it is none. */
int conf_list_of(const char *key, size_t n, char view[SETTINGS_VIEW]);

/* The key of a line "key = value" and where the value begins, blanks cut off on both
 * sides; false: the line is empty, a comment, or has no "=" (then *key_n is 0 or more
 * than that). */
struct conf_line {
	const char *key, *value;
	size_t key_n, value_n;
};
enum conf_kind { LINE_NOTHING, LINE_SETS, LINE_WRONG };
enum conf_kind conf_line(struct conf_line *l, const char *text, size_t n);

/* Names may hold anything; blanks, commas and % become %20 and the like. */
void conf_encode(char out[WORD_SIZE], const char *name);
bool conf_decode(char out[SETTINGS_NAME], const char *word, size_t n);

#endif
