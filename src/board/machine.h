/* machine: the description of the machine that it runs on: all of it is what is not a signal. The screen, `once --json`,
 * `boards`, the facts of a trace and the library take it from here.
 *
 * Everything is read from files, and nothing is started or loaded for it. What the files contain is made printable. */
#ifndef NVMTOP_BOARD_MACHINE_H
#define NVMTOP_BOARD_MACHINE_H

#include "model/channel.h"
#include "probe/processes.h"
#include "util/root.h"

struct record;

#define MACHINE_JSON_VERSION 1 /* of docs/json.md */

/* What is known, in the order of JSON: what is not has no entry. */
struct machine_entry {
	/* Its place in JSON: "gpu.min_hz", "fan.profiles[1]", "cpu.cores[3].idle_states[0].name"; "gpu." and "processes[" are
	 * there without anything in them. */
	char key[72];
	enum { MACHINE_NOTHING, MACHINE_TEXT, MACHINE_NUMBER, MACHINE_TRUTH } is;
	double v;
	char *text;
};
struct machine {
	struct machine_entry *known, *missing; /* missing: texts are reasons */
	size_t n, room, n_missing, room_missing;
	bool installed; /* what does not change while it runs was read */
};

/* One value that is a file, or a word in one. */
struct machine_field {
	const char *key; /* NULL: the end */
	enum { FIELD_TEXT, FIELD_NUMBER, FIELD_TRUTH } is;
	/* Or several with | between them: the first that is there is read. After a blank: a word in it, which the text follows.
	 * NULL: it comes from elsewhere. */
	const char *file;
	double scale;
	bool (*find)(const struct root *r, char *out, size_t size); /* instead of a file */
	const char *fact;                                           /* its key in a trace */
	const char *title;                                          /* on the screen, to be translated; NULL: not shown */
	size_t most;                                                /* bytes of the text; 0: 64 */
};
extern const struct machine_field machine_fields[];

struct machine *machine_new(void); /* NULL if out of memory */
void machine_free(struct machine *m);

/* Reads everything; again only what changes by itself: uptime, disks, addresses. What belongs to signals is found by the
 * sources of the channels: clocks, engines, rails. Disks and addresses are those of the running machine, and are read
 * only if root is "/". May block on a disk. */
void machine_read(struct machine *m, const struct root *r, const struct channel *channels, size_t n);

/* Takes the processes that use the GPU. */
void machine_take_processes(struct machine *m, const struct procs_list *list);

/* Takes the switch of all clocks, which is read as the signal clocks.pinned; NaN: why it has no value. */
void machine_take_clocks(struct machine *m, double pinned, const char *why);

/* Get what is known by its key: "" or NaN if it is not. */
const char *machine_text(const struct machine *m, const char *key);
double machine_number(const struct machine *m, const char *key);

/* Writes all that is known as one JSON object, described in docs/json.md; if open to others without what is personal:
 * serial number, addresses, command lines. */
void machine_json(struct record *r, const char *name, const struct machine *m, bool open);

/* The same as a text, to be freed; NULL if out of memory. */
char *machine_describe(const struct machine *m, bool open);

/* --- for the files of this folder --- */

/* Put what is known at prefix + key; no text or NaN is not known. */
void machine_put_text(struct machine *m, const char *prefix, const char *key, const char *text, size_t most);
void machine_put_number(struct machine *m, const char *prefix, const char *key, double v);
void machine_put_truth(struct machine *m, const char *prefix, const char *key, bool v);
/* Says why something has no value: "WHAT: WHY". */
void machine_missing(struct machine *m, const char *prefix, const char *key, const char *what, const char *why);

/* Gets the text of a field; errno is 0 if the file has no such thing. */
bool machine_field_text(const struct root *r, const struct machine_field *f, const char *folder, char *out, size_t size);
const struct machine_field *machine_field_find(const char *key); /* one of machine_fields */
/* Reads the fields that are in files. Reasons of those that are missing are kept but in lists. */
void machine_read_fields(struct machine *m, const struct root *r, const struct machine_field *f, const char *folder,
			 const char *prefix);
void machine_read_libraries(struct machine *m, const struct root *r);
void machine_read_settings(struct machine *m, const struct root *r);
void machine_read_parts(struct machine *m, const struct root *r, const struct channel *channels, size_t n);
void machine_read_places(struct machine *m, const struct root *r);

/* Gets what follows a word in a file, up to a blank or a comma, or what is in quotes there. errno is 0 if the file has no
 * such word. */
bool file_word(const struct root *r, const char *path, const char *word, char *out, size_t size);

/* What the kernel swaps to, in its order. */
#define SWAPS_MAX 32 /* the kernel has no more */
struct swap_area {
	char device[128], type[32];
	double kb, used_kb, priority;
};
int swaps_read(const struct root *r, struct swap_area list[SWAPS_MAX]); /* how many; -1 with errno */

/* Libraries by the packages that are installed. */
enum { LIBRARY_CUDA, LIBRARY_TENSORRT, LIBRARY_CUDNN, LIBRARY_VPI, LIBRARY_OPENCV, LIBRARY_VULKAN, LIBRARY_PYTHON, LIBRARY_L4T, LIBRARIES };
typedef char library_versions[LIBRARIES][32]; /* "12.6.68"; "": not found */
/* Takes the versions from the text of dpkg's status file. */
void packages_parse(const char *status, library_versions out);
void packages_read(const struct root *r, library_versions out);

typedef bool machine_find(const struct root *r, char *out, size_t size);
machine_find find_module, find_soc, find_codename, find_p_number, find_part_number, find_cuda_arch, find_l4t, find_jetpack,
	find_release, find_architecture, find_mode;

#endif
