/* Prints and takes away the records that programs have written to a folder, and then their names. */
#include "nvtx-file.h"

static void print(const struct nvtx_record *r, void *head)
{
	nvtx_file_print(head, r, stdout);
}

int main(int argc, char **argv)
{
	char path[512];

	for (int i = 0; argc > 1 && nvtx_file_path(argv[1], i, path, sizeof path); i++) {
		struct nvtx_head *h = nvtx_file_open(path);

		if (!h)
			return 1;
		nvtx_file_drain(h, print, h);
		for (uint32_t n = 0; n < h->notes; n++)
			if (h->note[n].kind)
				nvtx_file_print(h, &h->note[n], stdout);
	}
	return 0;
}
