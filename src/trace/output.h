/* output: the files of a recording, from the first check to the final name. */
#ifndef NVMTOP_TRACE_OUTPUT_H
#define NVMTOP_TRACE_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/err.h"

struct output {
	char path[PATH_MAX];                                             /* as given */
	char shown[PATH_MAX];                                            /* printable */
	char name[NAME_MAX + 1], part[NAME_MAX + 1], side[NAME_MAX + 1]; /* in the folder */
	int dir_fd, part_fd, side_fd;                                    /* -1: not open */
	bool force;
	int side_left; /* why the side file could not be removed, an errno; 0: it is not there any more */
};

/* Check everything that can be checked and make PATH.part and PATH.part.side,
 * locked.  On error nothing is left behind. */
int output_open(struct output *o, const char *path, bool force, struct err *e);
/* The names and the folder of a recording to PATH, and nothing else yet. */
int output_find(struct output *o, const char *path, struct err *e);
/* Give the complete part its final name and remove the side file. */
int output_publish(struct output *o, struct err *e);
/* All of it is in the part. */
void output_side_remove(struct output *o);
/* What stayed of the files that nobody needs any more; out->code is ERR_NONE when nothing did. */
void output_left(const struct output *o, struct err *out);
/* Somebody removed the part, or its folder: what is written has no name any more. */
bool output_removed(const struct output *o);
/* No such name is there: its folder was moved, or its mount has gone, and what is written
 * goes to where they went.  suffix: ".part" while it is recorded, "" when it is complete. */
bool output_moved(const struct output *o, const char *suffix);
void output_discard(struct output *o); /* remove both files */
void output_close(struct output *o);   /* files stay as they are */

/* All of it at offset; 0, or -1 with errno. */
int write_at(int fd, const void *bytes, size_t n, off_t offset);
/* How much of n bytes is there; -1 with errno. */
ssize_t read_at(int fd, void *bytes, size_t n, off_t offset);

#endif
