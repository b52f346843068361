/* Reads kernels, copies and NVTX ranges of an export of Nsight Systems, nsys export --type sqlite, as the ranges of a
 * recording of the same run. Its tables exist only where there was data, and their columns differ between
 * versions. */
#include "report/report.h"
#include "util/intl.h"

#ifdef HAVE_SQLITE

#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"

/* A globalTid is 8 bits of the host, 8 of the virtual machine, 24 of the process and 24 of the thread. */
#define PROCESS_OF(id) ((uint32_t)((id) >> 24 & 0xFFFFFF))
#define THREAD_OF(id)  ((uint32_t)((id) & 0xFFFFFF))
#define DEPTH_MAX      1024
#define NAME_SIZE      1024
#define TIME_MOST      (INT64_C(1) << 61) /* differences and sums of two times do not overflow */

enum { START, END, NAME, ID, DOMAIN, TYPE, COLOUR }; /* columns of NVTX ranges */
enum { STREAM = DOMAIN, DEVICE };		     /* of what runs on the GPU */

/* A domain of a thread, or a stream. */
struct lane {
	int64_t id, part;
	int kind;
	const struct range_lane *lane;
};

struct import {
	sqlite3 *db;
	const char *path;
	struct trace *trace;
	struct err *e;
	struct ranges *store;
	struct range *list;
	size_t n;
	int64_t last_ns; /* the last end in the export */
	struct lane *lanes;
	size_t n_lanes, last_lane;
	bool marked;	  /* times are aligned by a mark */
	int64_t shift_ns; /* to CLOCK_MONOTONIC; without a mark, to the wall clock */
};

static int failed(struct import *m)
{
	return err_set(m->e, ERR_FAILED, "%s: %s", m->path, sqlite3_errmsg(m->db));
}

static bool has(struct import *m, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(m->db, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Stores the first value for the parameters id and part. Returns false if there is none. */
static bool look_up(struct import *m, const char *sql, int64_t id, int64_t part, char *out, size_t size)
{
	sqlite3_stmt *q = NULL;
	const char *text = NULL;

	out[0] = '\0';
	if (sqlite3_prepare_v2(m->db, sql, -1, &q, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(q, 1, id);
		sqlite3_bind_int64(q, 2, part);
		text = sqlite3_step(q) == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : NULL;
		if (text)
			text_printable(out, size, text, strlen(text));
	}
	sqlite3_finalize(q);
	return text != NULL;
}

static int type_of(struct import *m, const char *name, int usual)
{
	char sql[128], id[32];

	snprintf(sql, sizeof(sql), "SELECT id FROM ENUM_NSYS_EVENT_TYPE WHERE name = '%s'", name);
	return look_up(m, sql, 0, 0, id, sizeof(id)) ? atoi(id) : usual;
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
	return n ? a[i].mono_ns + real_ns - a[i].real_ns : INT64_MIN;
}

/* A mark that record left in both, or else the wall clock. */
static int align(struct import *m, char *note, size_t size)
{
	const char *sql = "SELECT min(start) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
			  "WHERE eventType = ? AND coalesce(text, value) = ? HAVING count(*) = 1";
	char utc[32];
	size_t n;
	const struct mark *marks = trace_marks(m->trace, &n);
	int type = type_of(m, "NvtxMark", 34);
	sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(m->db, sql, -1, &q, NULL) != SQLITE_OK)
		n = 0;
	for (size_t i = 0; i < n && !m->marked; i++) {
		if (strncmp(marks[i].label, NSYS_MARK, strlen(NSYS_MARK)))
			continue;
		sqlite3_bind_int(q, 1, type);
		sqlite3_bind_text(q, 2, marks[i].label, -1, SQLITE_STATIC);
		if (sqlite3_step(q) == SQLITE_ROW && is_time(sqlite3_column_int64(q, 0))) {
			m->marked = true;
			m->shift_ns = marks[i].t_ns - sqlite3_column_int64(q, 0);
			snprintf(note, size, _("%s is aligned by the mark \"%s\""), m->path, marks[i].label);
		}
		sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	if (m->marked)
		return 0;
	if (trace_session(m->trace)->start.real_ns <= 0 ||
	    !look_up(m, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", 0, 0, utc, sizeof(utc)))
		return err_set(m->e, ERR_FAILED,
			       _("%s has neither a mark of the recording nor is the wall clock of both known: it cannot be "
				 "aligned"),
			       m->path);
	m->shift_ns = strtoll(utc, NULL, 10);
	if (!is_time(m->shift_ns))
		m->shift_ns = 0;
	snprintf(note, size,
		 _("%s is aligned by the wall clock, and not by a mark as \"nvmtop record -- nsys profile ...\" sets it"),
		 m->path);
	return 0;
}

static void lane_fill(struct import *m, struct range_lane *l, sqlite3_stmt *q, const char *domain)
{
	int64_t id = sqlite3_column_int64(q, ID), part = sqlite3_column_int64(q, DOMAIN);
	char sql[256];

	*l = (struct range_lane) {.pid = PROCESS_OF(id)};
	look_up(m, "SELECT name FROM PROCESSES WHERE globalPid = ?", id & ~INT64_C(0xFFFFFF), 0, l->process,
		sizeof(l->process));
	if (domain) {
		snprintf(l->domain, sizeof(l->domain), "%s", domain);
		snprintf(l->thread, sizeof(l->thread), "GPU %d stream %lld", sqlite3_column_int(q, DEVICE), (long long)part);
		return;
	}
	if (sqlite3_column_int(q, TYPE)) {
		l->tid = THREAD_OF(id);
		look_up(m, "SELECT value FROM ThreadNames JOIN StringIds ON id = nameId WHERE globalTid = ?", id, 0, l->thread,
			sizeof(l->thread));
	}
	snprintf(sql, sizeof(sql),
		 "SELECT coalesce(text, value) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId "
		 "WHERE eventType = %d AND globalTid >> 24 = ?1 >> 24 AND domainId = ?2",
		 type_of(m, "NvtxDomainCreate", 75));
	look_up(m, sql, id, part, l->domain, sizeof(l->domain));
}

/* domain: of what runs on the GPU; NULL: a range of NVTX. */
static const struct range_lane *lane_of(struct import *m, sqlite3_stmt *q, const char *domain, int kind)
{
	int64_t id = sqlite3_column_int64(q, ID), part = sqlite3_column_int64(q, DOMAIN);
	struct range_lane about;
	struct lane *more;

	for (size_t k = 0; k < m->n_lanes; k++) {
		struct lane *l = &m->lanes[(m->last_lane + k) % m->n_lanes];

		if (l->id == id && l->part == part && l->kind == kind) {
			m->last_lane = (size_t)(l - m->lanes);
			return l->lane;
		}
	}
	lane_fill(m, &about, q, domain);
	more = reallocarray(m->lanes, m->n_lanes + 1, sizeof(*more));
	if (!more)
		return NULL;
	m->lanes = more;
	more[m->n_lanes] = (struct lane) {id, part, kind, ranges_lane(m->store, &about)};
	return more[m->n_lanes++].lane;
}

static int add(struct import *m, sqlite3_stmt *q, const char *domain, int kind)
{
	const char *text = (const char *)sqlite3_column_text(q, NAME);
	bool open = sqlite3_column_type(q, END) == SQLITE_NULL;
	int64_t begin_ns = sqlite3_column_int64(q, START), end_ns = open ? begin_ns : sqlite3_column_int64(q, END);
	char name[NAME_SIZE];
	struct range *more, *r;

	if (!is_time(begin_ns) || !is_time(end_ns))
		return 0;
	more = m->n & (m->n - 1) ? m->list : reallocarray(m->list, 2 * m->n + 1, sizeof(*more));
	if (!more)
		return err_set(m->e, ERR_FAILED, _("out of memory"));
	m->list = more;
	text_shortened(name, sizeof(name), text ? text : "", text ? strlen(text) : 0);
	r = &m->list[m->n];
	*r = (struct range) {.begin_ns = time_of(m, begin_ns),
			     .end_ns = time_of(m, end_ns),
			     .name = ranges_name(m->store, name),
			     .lane = lane_of(m, q, domain, kind),
			     .colour = domain ? 0 : (uint32_t)sqlite3_column_int64(q, COLOUR),
			     .flags = open ? RANGE_OPEN : 0};
	if (!r->name || !r->lane)
		return err_set(m->e, ERR_FAILED, _("out of memory"));
	if (r->end_ns < r->begin_ns)
		return 0;
	m->last_ns = m->n == 0 || r->end_ns > m->last_ns ? r->end_ns : m->last_ns;
	m->n++;
	return 0;
}

static int select_all(struct import *m, char *sql, const char *domain, int kind)
{
	sqlite3_stmt *q = NULL;
	int r = sql ? 0 : err_set(m->e, ERR_FAILED, _("out of memory")), step;

	if (r == 0 && sqlite3_prepare_v2(m->db, sql, -1, &q, NULL) != SQLITE_OK)
		r = failed(m);
	while (r == 0 && (step = sqlite3_step(q)) != SQLITE_DONE)
		r = step == SQLITE_ROW ? add(m, q, domain, domain ? kind : sqlite3_column_int(q, TYPE)) : failed(m);
	sqlite3_finalize(q);
	sqlite3_free(sql);
	return r;
}

static int read_nvtx(struct import *m)
{
	const char *text = has(m, "NVTX_EVENTS", "textId") ? "coalesce(text, (SELECT value FROM StringIds WHERE id = textId))"
							   : "text";
	const char *colour = has(m, "NVTX_EVENTS", "color") ? "color" : "0";
	const char *domain = has(m, "NVTX_EVENTS", "domainId") ? "domainId" : "0";
	int nested = type_of(m, "NvtxPushPopRange", 59), pairs = type_of(m, "NvtxStartEndRange", 60);

	if (!has(m, "NVTX_EVENTS", "start"))
		return 0;
	return select_all(m,
			  sqlite3_mprintf("SELECT start, \"end\", %s, globalTid, %s, eventType = %d, %s FROM NVTX_EVENTS "
					  "WHERE eventType IN (%d, %d)",
					  text, domain, nested, colour, nested, pairs),
			  NULL, 0);
}

static int read_gpu(struct import *m)
{
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
		char table[64];
		bool usual;

		snprintf(table, sizeof(table), "CUPTI_ACTIVITY_KIND_%s", kinds[i].table);
		if (!has(m, table, "start"))
			continue;
		usual = has(m, table, kinds[i].column) &&
			(strcmp(kinds[i].column, "copyKind") || has(m, "ENUM_CUDA_MEMCPY_OPER", "label"));
		r = select_all(m,
			       sqlite3_mprintf("SELECT start, \"end\", %s, %s, streamId, deviceId FROM %s",
					       usual ? kinds[i].name : kinds[i].other,
					       has(m, table, "globalPid") ? "globalPid" : "0", table),
			       kinds[i].domain, 2 + (int)i);
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

static int open_export(struct import *m)
{
	if (sqlite3_open_v2(m->path, &m->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return failed(m);
	if (sqlite3_exec(m->db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL) == SQLITE_NOTADB)
		return err_set(m->e, ERR_FAILED, _("%s is not an SQLite file: nsys export --type sqlite REPORT writes one"),
			       m->path);
	return 0;
}

int report_nsys(struct trace *t, const char *path, char *note, size_t size, struct err *e)
{
	struct import m = {.path = path, .trace = t, .e = e};
	int r = 0;

	if (open_export(&m) < 0 || !(m.store = ranges_new(SIZE_MAX / sizeof(struct range), e)) ||
	    align(&m, note, size) < 0 || read_nvtx(&m) < 0 || read_gpu(&m) < 0 || hand_over(&m) < 0)
		r = -1;
	ranges_free(m.store);
	sqlite3_close(m.db);
	free(m.lanes);
	free(m.list);
	return r;
}

#else

int report_nsys(struct trace *t, const char *path, char *note, size_t size, struct err *e)
{
	return err_set(e, ERR_FAILED, _("--nsys %s: this nvmtop was built without SQLite (libsqlite3-dev)"), path);
}

#endif
