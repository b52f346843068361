/* SQLite is needed for few reports and by nobody else, so it is no dependency of the program. A database is opened so that
 * nothing is written into its folder, which SQLite does for one with a log of writes (WAL), unless that has been told to be
 * immutable or to be used by one process. */
#include "report/report.h"
#include "util/intl.h"

#ifdef HAVE_SQLITE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/nsys-db.h"

#define LIBRARY "libsqlite3.so.0"
#define MAGIC   "SQLite format 3"
#define HEADER  20
#define IS_WAL  18 /* offset: 2 if writes go to a log first */

static int load(struct sql *sql, struct err *e)
{
	static const struct {
		const char *name;
		size_t at;
	} calls[] = {
#define SQL_PLACE(name) {"sqlite3_" #name, offsetof(struct sql, name)},
		SQL_CALLS(SQL_PLACE)};
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL); /* stays loaded */

	if (!library)
		return err_set(e, ERR_FAILED, _("--nsys needs SQLite (apt install libsqlite3-0): %s"),
			       dlerror());
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *f = dlsym(library, calls[i].name);

		if (!f)
			return err_set(e, ERR_FAILED, _("--nsys needs a newer SQLite: %s has no %s"), LIBRARY,
				       calls[i].name);
		memcpy((char *)sql + calls[i].at, &f, sizeof(f));
	}
	return 0;
}

/* Opening a FIFO would wait for its writer. Reads the first bytes of a database. */
static int look_at(const char *path, uint8_t head[HEADER], struct err *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot read %s"), path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	n = S_ISREG(st.st_mode) ? pread(fd, head, HEADER, 0) : 0;
	close(fd);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FAILED, _("%s is not a regular file: an export of nsys is one"), path);
	if (n < HEADER || memcmp(head, MAGIC, sizeof(MAGIC)) != 0)
		return err_set(e, ERR_FAILED,
			       _("%s is not an SQLite file: nsys export --type sqlite REPORT writes one"),
			       path);
	return 0;
}

static bool has_beside(const char *path, const char *suffix)
{
	char beside[PATH_MAX + 8];
	struct stat st;

	snprintf(beside, sizeof(beside), "%s%s", path, suffix);
	return stat(beside, &st) == 0 && st.st_size > 0;
}

/* How to read without a lasting trace. While a process writes to a database with a log, its -shm is there, and is used.
 * Without it nobody writes: what is in the log is read in memory, and without a log the file is all there is. */
static const char *way_of(const char *path, bool wal)
{
	if (!wal || has_beside(path, "-shm"))
		return "mode=ro";
	return has_beside(path, "-wal") ? "mode=ro&vfs=unix-none" : "immutable=1";
}

/* A path from the root as the address of a file. */
static bool address(char *out, size_t size, const char *path, const char *way)
{
	size_t n = (size_t)snprintf(out, size, "file://");

	for (; *path && n + 4 < size; path++)
		n += (size_t)snprintf(out + n, size - n, strchr("%?#", *path) ? "%%%02X" : "%c",
				      (unsigned char)*path);
	return !*path && (size_t)snprintf(out + n, size - n, "?%s", way) < size - n;
}

int nsys_db_failed(const struct sql *sql, const char *path, struct err *e)
{
	return err_set(e, ERR_FAILED, "%s: %s", path, sql->errmsg(sql->db));
}

int nsys_db_open(struct sql *sql, const char *path, struct err *e)
{
	char real[PATH_MAX], name[3 * PATH_MAX + 64];
	uint8_t head[HEADER];
	const char *way;
	sqlite3_stmt *q = NULL;
	int rc;

	if (load(sql, e) < 0 || look_at(path, head, e) < 0)
		return -1;
	if (!realpath(path, real))
		return err_sys(e, ERR_FAILED, errno, _("cannot read %s"), path);
	way = way_of(real, head[IS_WAL] == 2);
	if (!address(name, sizeof(name), real, way))
		return err_sys(e, ERR_FAILED, ENAMETOOLONG, _("cannot read %s"), path);
	rc = sql->open_v2(name, &sql->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	if (rc == SQLITE_OK && strstr(way, "vfs=") &&
	    (rc = sql->prepare_v2(sql->db, "PRAGMA locking_mode = EXCLUSIVE", -1, &q, NULL)) == SQLITE_OK) {
		sql->step(q);
		sql->finalize(q);
	}
	return rc == SQLITE_OK ? 0 : nsys_db_failed(sql, path, e);
}

void nsys_db_close(struct sql *sql)
{
	if (sql->db)
		sql->close(sql->db);
	sql->db = NULL;
}

#endif
