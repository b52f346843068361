/* nvtx-dump FOLDER: prints and takes away the records that programs have written there, and then their names.
 * nvtx-dump FOLDER COMMAND...: runs it with the lock of a recorder held. */
#include "nvtx-file.h"

static void print(const struct nvtx_record *r, void *head)
{
	nvtx_file_print(head, r, stdout);
}

int main(int argc, char **argv)
{
	char path[512];

	if (argc > 2) {
		if (fcntl(nvtx_file_recorder(argv[1], 1), F_SETFD, 0) < 0)
			return 1;
		execvp(argv[2], argv + 2);
		return 1;
	}
	for (int i = 0; argc > 1 && nvtx_file_path(argv[1], i, path, sizeof path); i++) {
		struct nvtx_head *h = nvtx_file_open(path);

		if (!h)
			return 1;
		nvtx_file_drain(h, print, h);
		printf("process %s\n", nvtx_file_string(h, h->name));
		nvtx_file_notes(h, stdout);
	}
	return 0;
}
