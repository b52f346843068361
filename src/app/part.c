/* Finds the next and previous file of a split recording, so that all of its files are shown as one. */
#include "app/app.h"
#include "trace/trace.h"

#define SKIPPED 64 /* maximum of consecutive numbers used by other files */

bool part_beside(const char *path, int by, char *out, size_t size)
{
	char first[4096];
	unsigned number = part_number(path, first, sizeof first);
	uint32_t recording = trace_recording(path, NULL);

	for (int i = 0; recording && i < SKIPPED; i++) {
		number += (unsigned)by;
		if (number < 1 || part_path(first, number, out, size) < 0)
			return false;
		if (trace_recording(out, NULL) == recording)
			return true;
	}
	return false;
}
