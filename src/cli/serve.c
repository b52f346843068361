/* nvmtop serve: answers other programs over HTTP, at an address of this machine and, with what is not for everyone, at a unix
 * socket of this user. One thread writes all answers; a slow client only keeps its own. */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/alert.h"
#include "board/machine.h"
#include "cli/verb.h"
#include "live/live.h"
#include "record/marks.h"
#include "report/select.h"
#include "serve/http.h"
#include "serve/scrape.h"
#include "util/intl.h"
#include "util/io.h"
#include "util/job.h"
#include "util/json-csv.h"
#include "util/num.h"

#define LISTEN	    "127.0.0.1:9978"
#define NAME	    "serve.socket"
#define MACHINE_NS  (2 * NS_PER_S) /* so old may the description of the machine be */
#define PATIENCE_NS (5 * NS_PER_S) /* others wait meanwhile: once, if a disk hangs */

enum { ADDRESS, LOCAL, DOORS };
static const unsigned connections[DOORS] = {48, 16};

/* Reads the description of the machine, which may block on a disk. */
struct describe {
	struct job job;
	struct root *root;
	struct channel *channels;
	size_t n;
	bool open;
	double pinned; /* if has_pinned */
	bool has_pinned;
	char unpinned[300];
	char *text; /* NULL: out of memory */
};

struct serve {
	const struct options *o;
	struct engine *engine;
	struct root *root;
	struct tally *tally;
	struct channels channels;
	struct alerts *alerts; /* or NULL */
	bool demo;
	struct describe *reads; /* a job that was started */
	char *machine; /* its description, read at machine_ns; or NULL */
	bool machine_open;
	int64_t machine_ns;
	struct door {
		struct serve *serve;
		struct http *http;
		bool local;
	} doors[DOORS];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of the socket, once it is ours */
};

/* --- sockets --- */

/* Parses "127.0.0.1:80" or "[::1]:80". Returns the length of the address, 0 if it is none. */
static socklen_t address_parse(const char *text, struct sockaddr_storage *out)
{
	struct sockaddr_in *four = (struct sockaddr_in *)out;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
	const char *colon = strrchr(text, ':');
	char host[64] = "";
	int64_t port;

	memset(out, 0, sizeof *out);
	if (!colon || num_i64(colon + 1, text + strlen(text), &port) != text + strlen(text) || port < 0 || port > 65535)
		return 0;
	snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
	if (host[0] == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = '\0';
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, host + 1, &six->sin6_addr) == 1 ? sizeof *six : 0;
	}
	four->sin_family = AF_INET;
	four->sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, host, &four->sin_addr) == 1 ? sizeof *four : 0;
}

static bool is_loopback(const struct sockaddr_storage *at)
{
	if (at->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)at)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)at)->sin_addr.s_addr) >> 24 == 127;
}

/* Returns the socket, or -1; *port is that which was asked for, or for 0 the one that the kernel chose. */
static int listen_address(const char *text, unsigned *port, struct err *e)
{
	struct sockaddr_storage at;
	socklen_t size = address_parse(text, &at);
	int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), why;

	/* A port of connections that have ended can be used at once. */
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int) {1}, sizeof(int)) == 0 &&
	    bind(fd, (struct sockaddr *)&at, size) == 0 && listen(fd, SOMAXCONN) == 0 &&
	    getsockname(fd, (struct sockaddr *)&at, &size) == 0) {
		*port = ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port :
							 ((struct sockaddr_in *)&at)->sin_port);
		return fd;
	}
	why = errno;
	if (fd >= 0)
		close(fd);
	if (why == EADDRINUSE)
		return err_num(e, ERR_FAILED, why,
			       _("cannot listen at %s: another program has that port; --listen ADDRESS:PORT chooses one"), text);
	if (why == EADDRNOTAVAIL)
		return err_num(e, ERR_FAILED, why,
			       _("cannot listen at %s: it is not an address of this machine; \"ip address\" lists those"), text);
	return err_sys(e, ERR_FAILED, why, _("cannot listen at %s"), text);
}

/* Returns the socket, or -1. One that a dead server left is replaced. */
static int listen_local(const char *path, struct err *e)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char shown[sizeof at.sun_path];
	bool dead = false;
	struct stat st;
	int fd, why;

	text_printable(shown, sizeof shown, path, strlen(path));
	if (strlen(path) >= sizeof at.sun_path)
		return err_set(e, ERR_USAGE, _("the path of a socket has at most %zu bytes: %s..."), sizeof at.sun_path - 1, shown);
	memcpy(at.sun_path, path, strlen(path));
	if (lstat(path, &st) == 0 && (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid()))
		return err_set(e, ERR_FAILED,
			       S_ISSOCK(st.st_mode) ? _("%s belongs to another user; --socket FILE chooses another place") :
						      _("%s is not a socket; --socket FILE chooses another place"),
			       shown);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) < 0) {
		dead = errno == ECONNREFUSED;
		if (dead)
			unlink(path);
		dead |= errno == ENOENT;
	}
	if (fd >= 0) {
		close(fd);
		if (!dead)
			return err_set(e, ERR_FAILED, _("another program answers at %s; --socket FILE chooses another place"), shown);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	if (fd >= 0 && fchmod(fd, 0600) == 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	why = errno;
	if (fd >= 0)
		close(fd);
	return err_sys(e, ERR_FAILED, why, _("cannot listen at %s"), shown);
}

/* --- answers --- */

static void reply(struct http_reply *r, int status, const char *type, char *text, size_t size)
{
	*r = (struct http_reply) {status, type, text, size};
}

/* Browsers and tools of the older text format ask for text. */
static void answer_metrics(struct serve *s, const char *accept, struct http_reply *r)
{
	bool older = strstr(accept, "text/") && !strstr(accept, "application/openmetrics-text");
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	bool whole = f && scrape_write(f, s->tally, s->channels.list, s->channels.n, clock_now_ns(), older) == 0;

	if (f && (fclose(f) != 0 || !whole)) {
		free(text);
		text = NULL;
	}
	reply(r, 200, older ? "text/plain; version=0.0.4; charset=utf-8" :
			      "application/openmetrics-text; version=1.0.0; charset=utf-8", text, size);
}

static void answer_health(struct serve *s, struct http_reply *r)
{
	struct engine_stats now;
	char line[512];

	engine_stats(s->engine, &now);
	for (int t = 0; t < TIERS; t++) {
		if (!now.stalled[t])
			continue;
		snprintf(line, sizeof line, now.hangs ? _("nothing is sampled in the %s tier: %s does not answer") :
							_("nothing is sampled in the %s tier"),
			 tier_name((enum tier)t), now.hangs ? now.hangs->source : "");
		http_reply_line(r, 503, line);
		return;
	}
	http_reply_line(r, 200, "ok");
}

static void describe_run(struct job *j)
{
	struct describe *d = (struct describe *)j;
	size_t size;
	struct record to = {.f = open_memstream(&d->text, &size), .indented = true, .depth = 1};
	struct procs *procs;

	if (!to.f)
		return;
	root_give_up(true);
	procs = procs_open(d->root, NULL);
	machine_json(&to, NULL,
		     &(struct machine_source) {d->root, d->channels, d->n, procs ? procs_read(procs) : NULL, d->has_pinned ? &d->pinned : NULL,
					       d->unpinned},
		     d->open);
	procs_close(procs);
	root_give_up(false);
	fclose(to.f);
}

static void describe_drop(struct job *j)
{
	struct describe *d = (struct describe *)j;

	root_close(d->root);
	free(d->text);
	free(d->channels);
	free(d);
}

/* Starts to read it. The job may outlive the engine. The switch of all clocks is read as a signal. */
static struct describe *describe_start(struct serve *s, bool open)
{
	struct describe *d = calloc(1, sizeof *d);
	const struct channel *channels;
	size_t pinned;

	if (!d)
		return NULL;
	channels = tally_channels(s->tally, &d->n);
	d->open = open;
	pinned = channel_find(channels, d->n, "clocks.pinned");
	if (pinned < d->n) {
		struct tally_value v = tally_newest(s->tally, pinned, clock_now_ns());
		d->has_pinned = true;
		d->pinned = v.value;
		if (isnan(v.value))
			tally_reason(s->tally, pinned, v, d->unpinned, sizeof d->unpinned);
	}
	d->root = root_hold(s->root);
	d->channels = malloc((d->n + 1) * sizeof *channels);
	if (d->channels)
		memcpy(d->channels, channels, d->n * sizeof *channels);
	if (d->channels && job_start(&d->job, describe_run, describe_drop, NULL) == 0)
		return d;
	describe_drop(&d->job);
	return NULL;
}

static void answer_machine(struct serve *s, bool local, struct http_reply *r)
{
	int64_t now_ns = clock_now_ns(), until_ns = 0;
	struct record to = {.indented = true};
	struct clock_anchor now;
	char *text = NULL;
	size_t size;

	if (s->demo) {
		http_reply_line(r, 404, _("a simulated board has no description"));
		return;
	}
	if (!s->reads && (!s->machine || s->machine_open == local || now_ns - s->machine_ns > MACHINE_NS)) {
		s->reads = describe_start(s, !local);
		until_ns = now_ns + PATIENCE_NS;
	}
	if (s->reads && job_done(&s->reads->job, until_ns)) {
		free(s->machine);
		s->machine = s->reads->text;
		s->machine_open = s->reads->open;
		s->machine_ns = clock_now_ns();
		s->reads->text = NULL;
		describe_drop(&s->reads->job);
		s->reads = NULL;
	}
	if (!s->machine || s->machine_open == local) {
		http_reply_line(r, 503, _("the machine is being read: ask again"));
		return;
	}
	to.f = open_memstream(&text, &size);
	if (!to.f)
		return;
	clock_anchor(&now);
	json_open(&to, NULL, '{');
	PUT(&to, {"version", IN_JSON, COUNT_OF(MACHINE_JSON_VERSION)}, {"nvmtop", IN_JSON, TEXT_OF(PACKAGE_VERSION)},
	    {"time", IN_JSON, TIME_OF(now.real_ns)});
	record_key(&to, "machine");
	fputs(s->machine + strspn(s->machine, " \n"), to.f);
	json_close(&to, "}");
	putc('\n', to.f);
	fclose(to.f);
	reply(r, 200, "application/json", text, size);
}

static void answer(void *arg, const char *path, const char *accept, struct http_reply *r)
{
	const struct door *d = arg;

	if (!strcmp(path, "/metrics"))
		answer_metrics(d->serve, accept, r);
	else if (!strcmp(path, "/healthz"))
		answer_health(d->serve, r);
	else if (!strcmp(path, "/machine"))
		answer_machine(d->serve, d->local, r);
	else if (!strcmp(path, "/"))
		http_reply_line(r, 200, _("nvmtop\n"
				     "/metrics  all values, for Prometheus\n"
				     "/machine  the description of the machine, as JSON\n"
				     "/healthz  ok, or 503 with the reason why nothing is sampled"));
	else
		http_reply_line(r, 404, _("there is nothing here; / lists the paths"));
}

/* --- the verb --- */

static int open_doors(struct serve *s, struct err *e)
{
	const char *text = s->o->listen ? s->o->listen : LISTEN, *path = s->o->door;
	char usual[sizeof s->path];
	struct sockaddr_storage at;
	unsigned port = 0;
	int fd;

	if (!path) {
		if (runtime_folder(usual, sizeof usual - sizeof "/" NAME, e) < 0)
			return -1;
		strcat(usual, "/" NAME);
		path = usual;
	}
	fd = listen_address(text, &port, e);
	if (fd < 0 || !(s->doors[ADDRESS].http = http_open(fd, connections[ADDRESS], answer, &s->doors[ADDRESS], e)))
		return -1;
	fd = listen_local(path, e);
	if (fd < 0)
		return -1;
	snprintf(s->path, sizeof s->path, "%s", path);
	if (!(s->doors[LOCAL].http = http_open(fd, connections[LOCAL], answer, &s->doors[LOCAL], e)))
		return -1;
	address_parse(text, &at);
	if (!is_loopback(&at))
		fprintf(stderr, _("nvmtop: whoever reaches %s can read the values of this machine, without a password\n"), text);
	printf(_("nvmtop serves http://%.*s:%u/ and the socket %s\n"), (int)(strrchr(text, ':') - text), text, port, path);
	fflush(stdout);
	return 0;
}

static int open_engine(struct serve *s, struct err *e)
{
	struct board *board;
	struct probe_set *probes = open_probes(s->o, &s->root, &board, NULL, 0, e);
	const struct session *about;
	char missing[64];
	int r;

	if (!probes)
		return -1;
	if (e->code != ERR_NONE)
		complain(e);
	board_free(board);
	s->engine = engine_for(s->o, probes, e);
	s->tally = s->engine ? tally_new(s->engine, e) : NULL;
	if (!s->tally)
		return -1;
	about = engine_session(s->engine);
	s->demo = fact_get(about->facts, about->n_facts, "demo");
	r = channels_select(about, s->o->pick.select, -1, &s->channels, missing, sizeof missing);
	if (r < 0)
		return err_set(e, ERR_FAILED, "%s", _("out of memory"));
	if (r > 0)
		return err_set(e, ERR_USAGE, _("there is no signal \"%s\": nvmtop once lists those of this machine"), missing);
	if (s->o->n_on && !(s->alerts = alerts_new(s->o, s->engine, e)))
		return -1;
	if (s->alerts)
		tally_sink(s->tally)->next = alerts_sink(s->alerts);
	return engine_begin(s->engine, tally_sink(s->tally), e) < 0 ? -1 : engine_start(s->engine, e);
}

#define NEWS_MS 1000 /* how late a sentence about an alert may be */

static void say_alerts(const struct serve *s)
{
	char text[ALERT_NEWS];

	while (s->alerts && alerts_news(s->alerts, text, sizeof text))
		fprintf(stderr, "nvmtop: %s\n", text);
}

/* Until a signal asks for the end. */
static void serve_all(struct serve *s, int signals)
{
	struct pollfd p[1 + DOORS] = {[DOORS] = {.fd = signals, .events = POLLIN}};
	bool ends = false;

	if (s->o->ready_fd) {
		write_all(s->o->ready_fd, "\n", 1);
		close(s->o->ready_fd);
	}
	while (!ends) {
		int wait_ms = s->alerts ? NEWS_MS : -1, sig;

		for (int i = 0; i < DOORS; i++) {
			int ms = http_wait_ms(s->doors[i].http);

			wait_ms = ms >= 0 && (wait_ms < 0 || ms < wait_ms) ? ms : wait_ms;
			p[i] = (struct pollfd) {.fd = http_fd(s->doors[i].http), .events = POLLIN};
		}
		poll(p, 1 + DOORS, wait_ms);
		for (int i = 0; i < DOORS; i++)
			http_run(s->doors[i].http);
		while ((sig = signals_next(signals, NULL)))
			ends |= signal_ends(sig);
		say_alerts(s);
	}
}

static int cmd_serve(const struct options *o)
{
	struct serve s = {.o = o};
	struct err e = {.code = ERR_NONE};
	int signals = signals_open(&e), status = 0;

	for (int i = 0; i < DOORS; i++)
		s.doors[i] = (struct door) {.serve = &s, .local = i == LOCAL};
	if (signals < 0 || open_doors(&s, &e) < 0 || open_engine(&s, &e) < 0) {
		status = complain(&e);
	} else {
		engine_wait_warm(s.engine, -1);
		serve_all(&s, signals);
		engine_stop(s.engine);
	}
	for (int i = 0; i < DOORS; i++)
		http_close(s.doors[i].http);
	if (s.path[0])
		unlink(s.path);
	if (s.alerts)
		alerts_end(s.alerts);
	say_alerts(&s);
	if (s.reads)
		job_cancel(&s.reads->job);
	free(s.machine);
	engine_free(s.engine);
	alerts_free(s.alerts);
	tally_free(s.tally);
	channels_free(&s.channels);
	root_close(s.root);
	return status;
}

static int value_listen(struct options *o, const struct option_entry *t, const char *value, struct err *e)
{
	struct sockaddr_storage at;

	o->listen = value;
	return address_parse(value, &at) ? 0 : err_set(e, ERR_USAGE, _("\"%s\" is not a valid value for --%s: it takes %s"),
						       shown_word(value), t->name, _(t->wants));
}

static int finish(struct options *o, struct err *e)
{
	return operands_none(o, e) < 0 ? -1 : check_alerts(o, e);
}

static const struct option_entry own[] = {
	{"listen", "ADDRESS:PORT", N_("at this address (127.0.0.1:9978); 0.0.0.0:9978 is all of this machine"), .take = value_listen,
	 .wants = N_("an address and a port, such as 127.0.0.1:9978 or [::1]:9978")},
	{"socket", "FILE", N_("at this unix socket, too (serve.socket in the runtime folder)"), TEXT(door)},
	{"select", "NAMES", N_("only these signals, such as gpu.util,*.power"), TEXT(pick.select)},
	{"ready-fd", "N", N_("write a newline to descriptor N and close it when there are values"), .take = value_ready_fd,
	 .at = AT(ready_fd, int), .least = 3, .most = 1 << 20, .wants = N_("the number of an open descriptor, 3 or more")},
};
static const struct option_group options = {NULL, OPTIONS(own)};

const struct verb verb_serve = {
	.name = "serve",
	.operands = "",
	.summary = N_("answer Prometheus and other programs over HTTP"),
	.groups = {&options, &group_alerts, &group_sampling, &group_priority},
	.runs_as = MODE_RECORD,
	.takes_signals = true,
	.finish = finish,
	.run = cmd_serve,
};
