/* err: one sentence about a failure: what failed, on which object, and what to do. */
#ifndef NVMTOP_UTIL_ERR_H
#define NVMTOP_UTIL_ERR_H

#include <stddef.h>

/* Class of a failure; also the exit status. */
enum err_code {
	ERR_NONE = 0,
	ERR_FAILED = 1,		/* a file, the kernel or the disk failed */
	ERR_USAGE = 2,		/* invalid request of the caller */
	ERR_DAMAGED = 3,	/* a file was damaged; its readable part was read */
};

struct err {
	enum err_code code;
	char text[768];		/* UTF-8 or the locale's charset, no newline, printable */
	int num;		/* errno of the failed operation; 0: unknown */
};

/* Formats the sentence and returns -1, so that a caller can `return err_set(...)`. It is set once, by the
 * lowest level that knows which operation failed on what; an earlier sentence is replaced. e may be NULL. */
#define err_set(e, code, ...) err_num(e, code, 0, __VA_ARGS__)

/* As err_set(), with ": " and the text of errno value `num` appended. */
int err_sys(struct err *e, enum err_code code, int num, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* As err_sys(), for an errno that the sentence already explains. */
int err_num(struct err *e, enum err_code code, int num, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Copies src into dst (size bytes, always terminated) and makes it safe to print: control bytes, DEL, C1
 * controls and invalid UTF-8 become '?'. For every text from a file, the kernel or a user. */
void text_printable(char *dst, size_t size, const char *src, size_t len);
/* As text_printable(), but a text that does not fit ends in "...". */
void text_shortened(char *dst, size_t size, const char *src, size_t len);

#endif
