/* err: one sentence that says what failed, on what, and what to do. */
#ifndef NVMTOP_UTIL_ERR_H
#define NVMTOP_UTIL_ERR_H

#include <stddef.h>

/* What a failure means for the caller of the program: its exit status. */
enum err_code {
	ERR_NONE = 0,
	ERR_FAILED = 1,		/* the environment refused: a file, the kernel, the disk */
	ERR_USAGE = 2,		/* the caller asked for something invalid */
	ERR_DAMAGED = 3,	/* a file was damaged; what could be read was read */
};

struct err {
	enum err_code code;
	char text[768];		/* UTF-8 or the locale's charset, no newline, printable */
	int num;		/* errno of what failed; 0: it is not known */
};

/* Write the sentence and return -1, so that a caller can `return err_set(...)`. It is written once, by
 * the lowest level that knows which operation failed on what; an earlier sentence is replaced. e may be
 * NULL. */
#define err_set(e, code, ...) err_num(e, code, 0, __VA_ARGS__)

/* The same with ": " and the text of errno value `num` appended. */
int err_sys(struct err *e, enum err_code code, int num, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same, for an errno that the sentence already explains. */
int err_num(struct err *e, enum err_code code, int num, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Copy src into dst (size bytes, always terminated) making it safe to show:
 * control bytes, DEL, C1 controls and invalid UTF-8 become '?'.  For every
 * text that came from a file, the kernel or a user. */
void text_printable(char *dst, size_t size, const char *src, size_t len);
/* The same, and what does not fit ends in "...". */
void text_shortened(char *dst, size_t size, const char *src, size_t len);

#endif
