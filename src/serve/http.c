/* HTTP is that of libmicrohttpd, which comes with libraries for TLS: it is loaded by those who serve, not by everyone. A
 * client cannot keep others out: of the connections that are allowed, the oldest makes room for a new one. No request has a
 * body, and each connection one request. */
#include "serve/http.h"

#include <stdio.h>
#include <unistd.h>

#include "util/intl.h"

void http_reply_line(struct http_reply *r, int status, const char *line)
{
	char *text = NULL;
	int n = asprintf(&text, "%s\n", line);

	*r = (struct http_reply) {status, "text/plain; charset=utf-8", n < 0 ? NULL : text, n < 0 ? 0 : (size_t)n};
}

#ifdef HAVE_MICROHTTPD

#include <dlfcn.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define LIBRARY "libmicrohttpd.so.12"
#define SILENT	10 /* seconds after which a connection on which nothing comes or goes is closed */
#define SPARE	4  /* connections that are kept free for those who come next */
#define POOL	(2 * HTTP_REQUEST) /* memory of a connection: its request, and the head of the reply */

#if MHD_VERSION >= 0x00097002
typedef enum MHD_Result done;
#else
typedef int done;
#endif

/* What is used of the library: mhd.run() is MHD_run(). */
#define CALLS(X) \
	X(start_daemon) X(stop_daemon) X(get_daemon_info) X(get_timeout) X(run) X(get_connection_info) X(get_connection_values) \
	X(lookup_connection_value) X(create_response_from_buffer) X(add_response_header) X(queue_response) X(destroy_response)
static struct {
#define CALL(name) __typeof__(MHD_##name) *name;
	CALLS(CALL)
} mhd;

struct visitor {
	struct visitor *next; /* the one that came before */
	int fd;
	bool leaves;
};

struct http {
	struct MHD_Daemon *daemon;
	int epoll;
	unsigned most, n; /* n: connections that do not leave */
	bool went;
	struct visitor *visitors;
	http_answer *answer;
	void *arg;
};

static int load(struct err *e)
{
	static const struct {
		const char *name;
		size_t at;
	} calls[] = {
#define PLACE(name) {"MHD_" #name, offsetof(__typeof__(mhd), name)},
		CALLS(PLACE)};
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL); /* stays loaded */

	if (!library)
		return err_set(e, ERR_FAILED, _("nvmtop serve needs libmicrohttpd (apt install libmicrohttpd12): %s"), dlerror());
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		void *f = dlsym(library, calls[i].name);

		if (!f)
			return err_set(e, ERR_FAILED, _("nvmtop serve needs a newer libmicrohttpd: %s has no %s"), LIBRARY,
				       calls[i].name);
		memcpy((char *)&mhd + calls[i].at, &f, sizeof f);
	}
	return 0;
}

/* A connection that was shut down is closed when the library looks at it next. */
static void make_room(struct http *h)
{
	struct visitor *oldest = NULL;

	for (struct visitor *v = h->visitors; v; v = v->next)
		oldest = v->leaves ? oldest : v;
	if (!oldest)
		return;
	oldest->leaves = true;
	h->n--;
	shutdown(oldest->fd, SHUT_RDWR);
}

static void came_or_went(void *arg, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info = mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http *h = arg;
	struct visitor *v = *context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = v = info ? calloc(1, sizeof *v) : NULL;
		if (!v)
			return;
		*v = (struct visitor) {h->visitors, info->connect_fd, false};
		h->visitors = v;
		if (++h->n + SPARE > h->most)
			make_room(h);
	} else if (v) {
		for (struct visitor **at = &h->visitors; *at; at = &(*at)->next)
			if (*at == v) {
				*at = v->next;
				break;
			}
		h->n -= !v->leaves;
		h->went = true;
		free(v);
	}
}

static done add_size(void *size, enum MHD_ValueKind kind, const char *name, const char *value)
{
	*(size_t *)size += strlen(name) + (value ? strlen(value) : 0) + sizeof ": \r";
	return MHD_YES;
}

static done handle(void *arg, struct MHD_Connection *c, const char *path, const char *method, const char *version,
		   const char *body, size_t *body_size, void **context)
{
	const char *accept = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
	struct http_reply r = {.status = 500};
	struct MHD_Response *response;
	size_t size = strlen(method) + strlen(path) + strlen(version) + sizeof "  \r\n\r";
	struct http *h = arg;
	done is = MHD_NO;

	/* The size that the library tells is none in 0.9.66. */
	mhd.get_connection_values(c, MHD_HEADER_KIND, add_size, &size);
	mhd.get_connection_values(c, MHD_GET_ARGUMENT_KIND, add_size, &size);
	if (size > HTTP_REQUEST)
		http_reply_line(&r, 431, "the request is longer than 4 KiB");
	else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		http_reply_line(&r, 405, "only GET and HEAD are answered");
	else
		h->answer(h->arg, path, accept ? accept : "", &r);
	response = r.text ? mhd.create_response_from_buffer(r.size, r.text, MHD_RESPMEM_MUST_FREE) : NULL;
	if (!response) {
		free(r.text);
		return MHD_NO; /* closes the connection */
	}
	mhd.add_response_header(response, "Content-Type", r.type);
	if (r.status == 405)
		mhd.add_response_header(response, "Allow", "GET, HEAD");
	is = mhd.queue_response(c, (unsigned)r.status, response);
	mhd.destroy_response(response);
	return is;
}

struct http *http_open(int fd, unsigned most, http_answer *answer, void *arg, struct err *e)
{
	struct http *h = calloc(1, sizeof *h);

	if (!h)
		err_set(e, ERR_FAILED, "%s", _("out of memory"));
	if (!h || load(e) < 0) {
		free(h);
		close(fd);
		return NULL;
	}
	*h = (struct http) {.most = most, .answer = answer, .arg = arg};
	h->daemon = mhd.start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, h, MHD_OPTION_LISTEN_SOCKET, fd,
				     MHD_OPTION_CONNECTION_LIMIT, most, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENT,
				     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL, MHD_OPTION_NOTIFY_CONNECTION,
				     came_or_went, h, MHD_OPTION_END);
	if (!h->daemon) {
		err_set(e, ERR_FAILED, "%s", _("libmicrohttpd does not start; nvmtop serve needs one with epoll"));
		close(fd);
		free(h);
		return NULL;
	}
	h->epoll = mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	return h;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	mhd.stop_daemon(h->daemon);
	free(h);
}

int http_fd(const struct http *h)
{
	return h->epoll;
}

int http_wait_ms(struct http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;

	/* After it had too many connections, the library listens again when it is called next. */
	if (h->went)
		return 0;
	if (mhd.get_timeout(h->daemon, &ms) != MHD_YES)
		return -1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

void http_run(struct http *h)
{
	h->went = false;
	mhd.run(h->daemon);
}

#else

struct http *http_open(int fd, unsigned most, http_answer *answer, void *arg, struct err *e)
{
	close(fd);
	err_set(e, ERR_FAILED, "%s",
		_("this nvmtop was built without libmicrohttpd: install libmicrohttpd-dev, then configure and make it again"));
	return NULL;
}

void http_close(struct http *h)
{
}

int http_fd(const struct http *h)
{
	return -1;
}

int http_wait_ms(struct http *h)
{
	return -1;
}

void http_run(struct http *h)
{
}

#endif
