/* Files of the cache come and go by age; other processes may be at it, too. */
#include "trace/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STALE_S 86400 /* what nobody finished in that time is left over */
#define SUFFIX  ".columns"

uint64_t store_cache_most = UINT64_C(4) << 30;

static int folder_in(const char *base, const char *below)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s", base, below);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -1;
	mkdir(path, 0700); /* XDG: it is made when it is needed */
	n = snprintf(path, sizeof(path), "%s%s/nvmtop", base, below);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -1;
	mkdir(path, 0700);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int cache_open(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && cache[0] == '/')
		return folder_in(cache, "");
	if (home && home[0] == '/')
		return folder_in(home, "/.cache");
	return -1;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

struct aged {
	char name[64];
	uint64_t bytes;
	time_t used;
};

static int oldest_first(const void *a, const void *b)
{
	const struct aged *x = a, *y = b;

	return (x->used > y->used) - (x->used < y->used);
}

void cache_tidy(int dir, uint64_t room)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct aged *all = calloc(1024, sizeof(*all));
	uint64_t sum = room;
	struct dirent *f;
	size_t n = 0;

	while (d && all && n < 1024 && (f = readdir(d))) {
		struct stat st;

		if (strlen(f->d_name) >= sizeof(all->name) ||
		    fstatat(dir, f->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (strstr(f->d_name, SUFFIX ".") && st.st_mtime < time(NULL) - STALE_S)
			unlinkat(dir, f->d_name, 0);
		if (!ends_with(f->d_name, SUFFIX))
			continue;
		strcpy(all[n].name, f->d_name);
		all[n].bytes = (uint64_t)st.st_blocks * 512;
		all[n].used = st.st_mtime;
		sum += all[n++].bytes;
	}
	if (n > 1)
		qsort(all, n, sizeof(*all), oldest_first);
	for (size_t i = 0; i < n && sum > store_cache_most; i++) {
		unlinkat(dir, all[i].name, 0);
		sum -= all[i].bytes;
	}
	free(all);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

void cache_name(const struct store_id *id, char *name, size_t size)
{
	/* Two sums of different starts: a name, not a proof; the id is in the file. */
	uint8_t salted[STORE_ID + 1];

	memcpy(salted, id->bytes, STORE_ID);
	salted[STORE_ID] = 1;
	snprintf(name, size, "%08x%08x" SUFFIX, (unsigned)chunk_crc(id->bytes, STORE_ID),
		 (unsigned)chunk_crc(salted + 4, STORE_ID - 3));
}
