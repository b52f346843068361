/* nsys-db: a database of SQLite, whose library is loaded when the first one is opened. */
#ifndef REPORT_NSYS_DB_H
#define REPORT_NSYS_DB_H

#ifdef HAVE_SQLITE

#include <sqlite3.h>

#include "util/err.h"

/* What is used of the library: sql.step() is sqlite3_step(). */
#define SQL_CALLS(X) X(open_v2) X(close) X(errmsg) X(table_column_metadata) X(prepare_v2) X(bind_int64) \
	X(bind_text) X(step) X(reset) X(finalize) X(column_int64) X(column_text) X(column_type)
struct sql {
	sqlite3 *db;
#define SQL_CALL(name) __typeof__(sqlite3_##name) *name;
	SQL_CALLS(SQL_CALL)
};

/* Opens a file to be read, and leaves none beside it. Returns -1 and sets *e on error; close it in both cases. */
int nsys_db_open(struct sql *sql, const char *path, struct err *e);
void nsys_db_close(struct sql *sql);
/* Sets *e to what SQLite says about the last call. Returns -1. */
int nsys_db_failed(const struct sql *sql, const char *path, struct err *e);

#endif
#endif
