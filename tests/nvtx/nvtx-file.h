/* nvtx-file: the recorder's side of a program's NVTX file, for tests: makes that of the recorder, finds it, empties
 * its rings and prints the records.  It trusts the file. */
#ifndef NVTX_FILE_H
#define NVTX_FILE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nvtx/nvtx-ring.h"

enum { NVTX_FILE_SIZE = NVTX_RINGS_AT + NVTX_RINGS * NVTX_RECORDS * (int)sizeof(struct nvtx_record) };

/* Makes the recorder's file, with the number 1, and locks it if locked; returns its descriptor. */
static inline int nvtx_file_recorder(const char *folder, int locked)
{
	struct nvtx_recorder page = {.magic = NVTX_MAGIC, .version = NVTX_VERSION, .reading = 1};
	char path[512];
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, NVTX_RECORDER);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, &page, sizeof page) != sizeof page || (locked && flock(fd, LOCK_EX) < 0))
		return -1;
	return fd;
}

/* The path of the n-th file in the folder, in the order of names; false: there are less.  Not for threads. */
static inline int nvtx_file_path(const char *folder, int n, char *out, size_t size)
{
	struct dirent **list;
	int all = scandir(folder, &list, NULL, alphasort), i, found = 0;

	for (i = 0; i < all; i++) {
		if (!strncmp(list[i]->d_name, "nvtx-", 5) && strcmp(list[i]->d_name, NVTX_RECORDER) &&
		    n-- == 0)
			found = snprintf(out, size, "%s/%s", folder, list[i]->d_name) > 0;
		free(list[i]);
	}
	if (all >= 0)
		free(list);
	return found;
}

/* Maps it, NULL: it is not there or not complete: to look at the map of one that is still empty would raise SIGBUS. */
static inline struct nvtx_head *nvtx_file_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct nvtx_head *h = MAP_FAILED;
	uint64_t magic = 0;

	if (fd < 0)
		return NULL;
	if (pread(fd, &magic, sizeof magic, offsetof(struct nvtx_head, process.magic)) == sizeof magic && magic == NVTX_MAGIC)
		h = mmap(NULL, NVTX_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return h == MAP_FAILED ? NULL : h;
}

static inline const char *nvtx_file_string(const struct nvtx_head *h, uint32_t at)
{
	return at ? (const char *)h + NVTX_STRINGS_AT + at + 4 : "-";
}

/* Calls each() with the records of all rings and takes them away.  Returns their number. */
static inline uint64_t nvtx_file_drain(struct nvtx_head *h, void (*each)(const struct nvtx_record *, void *),
				       void *data)
{
	const struct nvtx_record *records = (const void *)((const char *)h + NVTX_RINGS_AT);
	uint64_t n = 0;

	for (unsigned i = 0; i < h->rings; i++) {
		uint64_t end = atomic_load_explicit(&h->ring[i].written, memory_order_acquire),
			 at = h->ring[i].read;

		n += end - at;
		for (; each && at < end; at++)
			each(&records[i * (size_t)NVTX_RECORDS + at % NVTX_RECORDS], data);
		atomic_store_explicit(&h->ring[i].read, end, memory_order_release);
	}
	return n;
}

static const char *const nvtx_file_kinds[] = {"none", "push", "pop", "start", "end", "mark", "domain", "thread", "category"};

/* Prints a record without what differs in each run: "push 0 name #category ff00ff00 1:5". */
static inline void nvtx_file_print(const struct nvtx_head *h, const struct nvtx_record *r, FILE *out)
{
	fprintf(out, "%s %u", nvtx_file_kinds[r->kind <= NVTX_MARK ? r->kind : 0], (unsigned)r->domain);
	if (r->kind != NVTX_POP && r->kind != NVTX_END)
		fprintf(out, " %s", nvtx_file_string(h, r->name));
	if (r->category)
		fprintf(out, " #%u", (unsigned)r->category);
	if (r->colour)
		fprintf(out, " %08x", (unsigned)r->colour);
	if (r->payload)
		fprintf(out, " %u:%llx", (unsigned)r->payload, (unsigned long long)r->value);
	fputc('\n', out);
}

/* Prints the notes: "category 0 name #7". */
static inline void nvtx_file_notes(const struct nvtx_head *h, FILE *out)
{
	const struct nvtx_note *n = (const void *)((const char *)h + NVTX_NOTES_AT);

	for (uint32_t i = 0; i < h->notes; i++, n++) {
		fprintf(out, "%s %u %s", nvtx_file_kinds[n->kind <= NVTX_CATEGORY ? n->kind : 0], (unsigned)n->domain,
			nvtx_file_string(h, n->name));
		if (n->number)
			fprintf(out, " #%u", (unsigned)n->number);
		fputc('\n', out);
	}
}

#endif
