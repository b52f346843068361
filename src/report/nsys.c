/* Reads kernels, copies and NVTX ranges of an export of Nsight Systems, nsys export --type sqlite, as the ranges of a
 * recording of the same run. Its tables exist only where there was data, and their columns differ between
 * versions. */
#include "report/report.h"
#include "util/intl.h"

#ifdef HAVE_SQLITE

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "report/nsys-db.h"
#include "trace/log.h"

/* A globalTid is 8 bits of the host, 8 of the virtual machine, 24 of the process and 24 of the thread. */
#define PROCESS_OF(id) ((uint32_t)((id) >> 24 & 0xFFFFFF))
#define THREAD_OF(id)  ((uint32_t)((id) & 0xFFFFFF))
#define DEPTH_MAX      1024
#define NAME_SIZE      1024
#define SQL_SIZE       1024
#define TIME_MOST      (INT64_C(1) << 61) /* differences and sums of two times do not overflow */

enum { START, END, NAME, ID, DOMAIN, TYPE, COLOUR }; /* columns of NVTX ranges */
enum { STREAM = DOMAIN, DEVICE };		     /* of what runs on the GPU */

struct key {
	int64_t id, part;
	int kind;
};

/* A domain of a thread, or a stream. */
struct lane {
	struct key key;
	const struct range_lane *lane;
};

/* Of a process, a thread, or a domain of a process. */
struct name {
	struct key key;
	char text[64];
};
enum { PROCESS, THREAD, DOMAIN_OF_PROCESS };

struct import {
	struct sql sql;
	const char *path;
	struct trace *trace;
	struct err *e;
	bool failed; /* *e is set */
	struct ranges *store;
	struct range *list;
	size_t n;
	int64_t last_ns; /* the last end in the export */
	void *lanes, *names; /* trees */
	bool marked;	  /* times are aligned by a mark */
	int64_t shift_ns; /* to CLOCK_MONOTONIC; without a mark, to the wall clock */
};

static int by_key(const void *a, const void *b)
{
	const struct key *p = a, *q = b;

	if (p->id != q->id)
		return p->id < q->id ? -1 : 1;
	if (p->part != q->part)
		return p->part < q->part ? -1 : 1;
	return (p->kind > q->kind) - (p->kind < q->kind);
}

static int failed(struct import *m)
{
	m->failed = true;
	return nsys_db_failed(&m->sql, m->path, m->e);
}

static int no_memory(struct import *m)
{
	m->failed = true;
	return err_set(m->e, ERR_FAILED, _("out of memory"));
}

/* column: NULL: whether there is such a table. */
static bool has(struct import *m, const char *table, const char *column)
{
	int rc = m->sql.table_column_metadata(m->sql.db, NULL, table, column, NULL, NULL, NULL, NULL, NULL);

	if (rc != SQLITE_OK && rc != SQLITE_ERROR)
		failed(m);
	return rc == SQLITE_OK;
}

/* Returns 1 if the table has these columns, the last of which is followed by NULL, and 0 if there is no such table. */
static int has_all(struct import *m, const char *table, const char *const *columns)
{
	if (!has(m, table, NULL))
		return m->failed ? -1 : 0;
	for (; *columns; columns++)
		if (!has(m, table, *columns))
			return m->failed ? -1
					 : err_set(m->e, ERR_FAILED,
						   _("%s: its table %s has no column %s: nvmtop does not know this version of nsys"),
						   m->path, table, *columns);
	return 1;
}

/* Returns a query, or NULL if it asks for a table or column that is not there. */
static sqlite3_stmt *ask(struct import *m, const char *sql)
{
	sqlite3_stmt *q = NULL;
	int rc = m->sql.prepare_v2(m->sql.db, sql, -1, &q, NULL);

	if (rc != SQLITE_OK && rc != SQLITE_ERROR)
		failed(m);
	return q;
}

/* Returns false at the end, or if it failed. */
static bool next(struct import *m, sqlite3_stmt *q)
{
	int step = q && !m->failed ? m->sql.step(q) : SQLITE_DONE;

	if (step != SQLITE_ROW && step != SQLITE_DONE)
		failed(m);
	return step == SQLITE_ROW;
}

/* Returns the first number that it finds, or another one. */
static int64_t number_of(struct import *m, const char *sql, int64_t other)
{
	sqlite3_stmt *q = ask(m, sql);
	int64_t n = next(m, q) ? m->sql.column_int64(q, 0) : other;

	m->sql.finalize(q);
	return n;
}

static int type_of(struct import *m, const char *name, int usual)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT id FROM ENUM_NSYS_EVENT_TYPE WHERE name = '%s'", name);
	return (int)number_of(m, sql, usual);
}

static bool is_time(int64_t ns)
{
	return ns > -TIME_MOST && ns < TIME_MOST;
}

static int64_t time_of(struct import *m, int64_t t_ns)
{
	int64_t real_ns = t_ns + m->shift_ns;
	size_t n, i = 0;
	const struct clock_anchor *a;

	if (m->marked)
		return real_ns;
	a = trace_anchors(m->trace, &n);
	while (i + 1 < n && a[i + 1].real_ns <= real_ns)
		i++;
	return n && !__builtin_add_overflow(a[i].mono_ns, real_ns - a[i].real_ns, &t_ns) ? t_ns : INT64_MIN;
}

/* A mark that record left in both, or else the wall clock. */
static int align(struct import *m, char *note, size_t size)
{
	sqlite3_stmt *q = ask(m, "SELECT min(start) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
				 "WHERE eventType = ? AND coalesce(text, value) = ? HAVING count(*) = 1");
	size_t n;
	const struct mark *marks = trace_marks(m->trace, &n);
	int type = type_of(m, "NvtxMark", 34);

	for (size_t i = 0; q && i < n && !m->marked; i++) {
		if (strncmp(marks[i].label, NSYS_MARK, strlen(NSYS_MARK)))
			continue;
		m->sql.bind_int64(q, 1, type);
		m->sql.bind_text(q, 2, marks[i].label, -1, SQLITE_STATIC);
		if (next(m, q) && is_time(m->sql.column_int64(q, 0))) {
			m->shift_ns = marks[i].t_ns - m->sql.column_int64(q, 0);
			m->marked = log_time_good(m->shift_ns);
			snprintf(note, size, _("%s is aligned by the mark \"%s\""), m->path, marks[i].label);
		}
		m->sql.reset(q);
	}
	m->sql.finalize(q);
	if (!m->marked)
		m->shift_ns = number_of(m, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", 0);
	if (m->marked || m->failed)
		return m->failed ? -1 : 0;
	if (trace_session(m->trace)->start.real_ns <= 0 || m->shift_ns == 0 || !is_time(m->shift_ns))
		return err_set(m->e, ERR_FAILED,
			       _("%s has neither a mark of the recording nor is the wall clock of both known: it cannot be "
				 "aligned"),
			       m->path);
	snprintf(note, size,
		 _("%s is aligned by the wall clock, and not by a mark as \"nvmtop record -- nsys profile ...\" sets it"),
		 m->path);
	return 0;
}

/* Reads names: columns id, part, text. The first of an id and part counts. */
static void names_read(struct import *m, int kind, const char *sql)
{
	sqlite3_stmt *q = ask(m, sql);

	while (next(m, q)) {
		struct name *name = calloc(1, sizeof(*name)), **at;
		const char *text = (const char *)m->sql.column_text(q, 2);

		if (!name) {
			no_memory(m);
			break;
		}
		name->key = (struct key) {m->sql.column_int64(q, 0), m->sql.column_int64(q, 1), kind};
		text_printable(name->text, sizeof(name->text), text ? text : "", text ? strlen(text) : 0);
		at = tsearch(name, &m->names, by_key);
		if (!at)
			no_memory(m);
		if (!at || *at != name)
			free(name);
	}
	m->sql.finalize(q);
}

static int read_names(struct import *m)
{
	char sql[SQL_SIZE];

	names_read(m, PROCESS, "SELECT globalPid >> 24, 0, name FROM PROCESSES");
	names_read(m, THREAD, "SELECT globalTid, 0, value FROM ThreadNames JOIN StringIds ON id = nameId");
	snprintf(sql, sizeof(sql),
		 "SELECT globalTid >> 24, domainId, coalesce(text, value) FROM NVTX_EVENTS e "
		 "LEFT JOIN StringIds s ON s.id = e.textId WHERE eventType = %d",
		 type_of(m, "NvtxDomainCreate", 75));
	names_read(m, DOMAIN_OF_PROCESS, sql);
	return m->failed ? -1 : 0;
}

static const char *name_of(const struct import *m, int kind, int64_t id, int64_t part)
{
	struct name **found = tfind(&(struct key) {id, part, kind}, &m->names, by_key);

	return found ? (*found)->text : "";
}

/* domain: of what runs on the GPU; NULL: a range of NVTX. */
static void lane_fill(struct import *m, struct range_lane *l, sqlite3_stmt *q, const char *domain)
{
	int64_t id = m->sql.column_int64(q, ID), part = m->sql.column_int64(q, DOMAIN);

	*l = (struct range_lane) {.pid = PROCESS_OF(id)};
	snprintf(l->process, sizeof(l->process), "%.31s", name_of(m, PROCESS, id >> 24, 0));
	if (domain) {
		snprintf(l->domain, sizeof(l->domain), "%s", domain);
		snprintf(l->thread, sizeof(l->thread), "GPU %lld stream %lld", (long long)m->sql.column_int64(q, DEVICE),
			 (long long)part);
		return;
	}
	if (m->sql.column_int64(q, TYPE)) {
		l->tid = THREAD_OF(id);
		snprintf(l->thread, sizeof(l->thread), "%s", name_of(m, THREAD, id, 0));
	}
	snprintf(l->domain, sizeof(l->domain), "%s", name_of(m, DOMAIN_OF_PROCESS, id >> 24, part));
}

static const struct range_lane *lane_of(struct import *m, sqlite3_stmt *q, const char *domain, int kind)
{
	struct key key = {m->sql.column_int64(q, ID), m->sql.column_int64(q, DOMAIN), kind};
	struct lane **found = tfind(&key, &m->lanes, by_key), *lane;
	struct range_lane about;

	if (found)
		return (*found)->lane;
	lane_fill(m, &about, q, domain);
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	*lane = (struct lane) {key, ranges_lane(m->store, &about)};
	if (lane->lane && tsearch(lane, &m->lanes, by_key))
		return lane->lane;
	free(lane);
	return NULL;
}

static int add(struct import *m, sqlite3_stmt *q, const char *domain, int kind)
{
	const char *text = (const char *)m->sql.column_text(q, NAME);
	bool open = m->sql.column_type(q, END) == SQLITE_NULL;
	int64_t begin_ns = m->sql.column_int64(q, START), end_ns = open ? begin_ns : m->sql.column_int64(q, END);
	char name[NAME_SIZE];
	struct range *more, *r;

	if (!is_time(begin_ns) || !is_time(end_ns))
		return 0;
	more = m->n & (m->n - 1) ? m->list : reallocarray(m->list, 2 * m->n + 1, sizeof(*more));
	if (!more)
		return no_memory(m);
	m->list = more;
	text_shortened(name, sizeof(name), text ? text : "", text ? strlen(text) : 0);
	r = &m->list[m->n];
	*r = (struct range) {.begin_ns = time_of(m, begin_ns),
			     .end_ns = time_of(m, end_ns),
			     .name = ranges_name(m->store, name),
			     .lane = lane_of(m, q, domain, kind),
			     .colour = domain ? 0 : (uint32_t)m->sql.column_int64(q, COLOUR),
			     .flags = open ? RANGE_OPEN : 0};
	if (r->name && !r->lane && ranges_lanes(m->store, NULL, 0) == RANGE_LANES_MAX)
		return err_set(m->e, ERR_FAILED, _("%s has ranges of more than %d threads and streams: nvmtop cannot read that many"),
			       m->path, RANGE_LANES_MAX);
	if (!r->name || !r->lane)
		return no_memory(m);
	if (r->end_ns < r->begin_ns || !log_time_good(r->begin_ns) || !log_time_good(r->end_ns))
		return 0;
	m->last_ns = m->n == 0 || r->end_ns > m->last_ns ? r->end_ns : m->last_ns;
	m->n++;
	return 0;
}

static int select_all(struct import *m, const char *sql, const char *domain, int kind)
{
	sqlite3_stmt *q = ask(m, sql);
	int r = q ? 0 : failed(m);

	while (r == 0 && next(m, q))
		r = add(m, q, domain, domain ? kind : (int)m->sql.column_int64(q, TYPE));
	m->sql.finalize(q);
	return m->failed ? -1 : r;
}

static int read_nvtx(struct import *m)
{
	static const char *const columns[] = {"start", "end", "eventType", "text", "globalTid", NULL};
	const char *text = has(m, "NVTX_EVENTS", "textId") ? "coalesce(text, (SELECT value FROM StringIds WHERE id = textId))"
							   : "text";
	const char *colour = has(m, "NVTX_EVENTS", "color") ? "color" : "0";
	const char *domain = has(m, "NVTX_EVENTS", "domainId") ? "domainId" : "0";
	int nested = type_of(m, "NvtxPushPopRange", 59), pairs = type_of(m, "NvtxStartEndRange", 60);
	int there = has_all(m, "NVTX_EVENTS", columns);
	char sql[SQL_SIZE];

	if (there <= 0)
		return there;
	snprintf(sql, sizeof(sql),
		 "SELECT start, \"end\", %s, globalTid, %s, eventType = %d, %s FROM NVTX_EVENTS WHERE eventType IN (%d, %d)", text,
		 domain, nested, colour, nested, pairs);
	return select_all(m, sql, NULL, 0);
}

static int read_gpu(struct import *m)
{
	static const char *const columns[] = {"start", "end", "streamId", "deviceId", NULL};
	static const struct {
		const char *table, *domain, *column, *name, *other;
	} kinds[] = {
		{"KERNEL", "CUDA kernel", "shortName", "(SELECT value FROM StringIds WHERE id = shortName)",
		 "(SELECT value FROM StringIds WHERE id = demangledName)"},
		{"MEMCPY", "CUDA memory", "copyKind",
		 "'memcpy ' || coalesce((SELECT label FROM ENUM_CUDA_MEMCPY_OPER WHERE id = copyKind), copyKind)", "'memcpy'"},
		{"MEMSET", "CUDA memory", "start", "'memset'", "'memset'"},
		{"GRAPH_TRACE", "CUDA graph", "graphId", "'graph ' || graphId", "'graph'"},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char table[64], sql[SQL_SIZE];
		bool usual;
		int there;

		snprintf(table, sizeof(table), "CUPTI_ACTIVITY_KIND_%s", kinds[i].table);
		there = has_all(m, table, columns);
		if (there == 0)
			continue;
		usual = has(m, table, kinds[i].column) &&
			(strcmp(kinds[i].column, "copyKind") || has(m, "ENUM_CUDA_MEMCPY_OPER", "label"));
		snprintf(sql, sizeof(sql), "SELECT start, \"end\", %s, %s, streamId, deviceId FROM %s",
			 usual ? kinds[i].name : kinds[i].other, has(m, table, "globalPid") ? "globalPid" : "0", table);
		r = there < 0 ? -1 : select_all(m, sql, kinds[i].domain, 2 + (int)i);
	}
	return r;
}

static int by_lane(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	if (p->lane != q->lane)
		return (uintptr_t)p->lane < (uintptr_t)q->lane ? -1 : 1;
	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	return (p->end_ns < q->end_ns) - (p->end_ns > q->end_ns);
}

static int by_end(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	return (p->end_ns > q->end_ns) - (p->end_ns < q->end_ns);
}

/* Ranges of push and pop nest in their thread; the others have depth 0. */
static void set_depths(struct import *m)
{
	int64_t ends[DEPTH_MAX];
	uint16_t depth = 0;

	for (size_t i = 0; i < m->n; i++) {
		struct range *r = &m->list[i];

		if (i > 0 && r[-1].lane != r->lane)
			depth = 0;
		while (depth > 0 && ends[depth - 1] <= r->begin_ns)
			depth--;
		if (r->lane->tid == 0)
			continue;
		r->depth = depth;
		if (depth < DEPTH_MAX)
			ends[depth++] = r->end_ns;
	}
}

/* Gives the ranges to the trace. */
static int hand_over(struct import *m)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	bool any = false;

	if (m->n == 0)
		return err_set(m->e, ERR_FAILED, _("%s has no NVTX ranges and no kernels: is it an export of nsys?"), m->path);
	trace_extent(m->trace, &first, &last);
	/* The recording goes on while nsys writes its report: what is open there ends with its last event. */
	for (size_t i = 0; i < m->n; i++)
		if (m->list[i].flags & RANGE_OPEN)
			m->list[i].end_ns = m->last_ns;
	qsort(m->list, m->n, sizeof(*m->list), by_lane);
	set_depths(m);
	qsort(m->list, m->n, sizeof(*m->list), by_end);
	for (size_t i = 0; i < m->n; i++) {
		any |= m->list[i].begin_ns <= last && m->list[i].end_ns >= first;
		if (!ranges_add(m->store, &m->list[i]))
			return err_set(m->e, ERR_FAILED, _("out of memory"));
	}
	if (!any)
		return err_set(m->e, ERR_FAILED, _("nothing in %s happened during the recording: is it of the same run?"),
			       m->path);
	trace_show_ranges(m->trace, m->store);
	m->store = NULL;
	return 0;
}

int report_nsys(struct trace *t, const char *path, char *note, size_t size, struct err *e)
{
	struct import m = {.path = path, .trace = t, .e = e};
	int r = 0;

	if (nsys_db_open(&m.sql, path, e) < 0 || !(m.store = ranges_new(SIZE_MAX / sizeof(struct range), e)) ||
	    align(&m, note, size) < 0 || read_names(&m) < 0 || read_nvtx(&m) < 0 || read_gpu(&m) < 0 || hand_over(&m) < 0)
		r = -1;
	ranges_free(m.store);
	nsys_db_close(&m.sql);
	tdestroy(m.lanes, free);
	tdestroy(m.names, free);
	free(m.list);
	return r;
}

#else

int report_nsys(struct trace *t, const char *path, char *note, size_t size, struct err *e)
{
	return err_set(e, ERR_FAILED, _("--nsys %s: this nvmtop was built without SQLite (libsqlite3-dev)"), path);
}

#endif
