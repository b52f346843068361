/* http: a door to which programs come with a request; the owner writes the replies. All of it is in the thread of the
 * owner, which waits for http_fd(). */
#ifndef NVMTOP_SERVE_HTTP_H
#define NVMTOP_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "util/err.h"

#define HTTP_REQUEST 4096 /* bytes of a request, at most */

struct http_reply {
	int status; /* such as 200 */
	const char *type;
	char *text; /* of malloc(); is freed */
	size_t size;
};
/* A line of text as the reply. */
void http_reply_line(struct http_reply *r, int status, const char *line);
/* Answers GET of a path; accept is what the client can read, or "". */
typedef void http_answer(void *arg, const char *path, const char *accept, struct http_reply *reply);

/* fd: a socket that listens, and does not block; it is closed with the door. most: connections at a time; one more closes the
 * oldest. Returns NULL and sets *e if the library of HTTP is missing, or it fails. */
struct http;
struct http *http_open(int fd, unsigned most, http_answer *answer, void *arg, struct err *e);
void http_close(struct http *h); /* NULL is fine */

/* Is readable when there is something to do; http_run() does it, also after http_wait_ms() (-1: no limit). */
int http_fd(const struct http *h);
int http_wait_ms(struct http *h);
void http_run(struct http *h);

#endif
