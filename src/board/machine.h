/* machine: the description of the machine that it runs on: all of it is what is not a signal. The screen, `once --json`,
 * `boards`, the facts of a trace and the library take it from one table of fields.
 *
 * Everything is read from files, and nothing is started or loaded for it. What the files contain is made printable. */
#ifndef NVMTOP_BOARD_MACHINE_H
#define NVMTOP_BOARD_MACHINE_H

#include "model/channel.h"
#include "probe/processes.h"
#include "util/root.h"

struct record;

/* A text is "", a number NaN and a truth MACHINE_UNKNOWN if it is not known. */
#define MACHINE_JSON_VERSION 1 /* of docs/json.md */
#define MACHINE_UNKNOWN (-1)
struct machine_list {
	void *at; /* n structs */
	size_t n;
};

enum machine_library { LIBRARY_CUDA, LIBRARY_TENSORRT, LIBRARY_CUDNN, LIBRARY_VPI, LIBRARY_OPENCV, LIBRARY_VULKAN, LIBRARY_PYTHON, LIBRARY_L4T, LIBRARIES };

struct machine_disk {
	char mount[64], device[64];
	double bytes, used, free; /* free to users without privileges */
};
struct machine_swap {
	char device[64], type[16];
	double kb, used_kb, priority;
};
struct machine_net {
	char name[16], address[48];
};
struct machine_name {
	double id;
	char name[48];
};
struct machine_idle {
	char name[32];
	int disabled;
};
struct machine_core {
	double id;
	int online;
	char model[48], governor[32];
	double min_hz, max_hz, hardware_min_hz, hardware_max_hz; /* allowed now; possible */
	struct machine_list idle;
};
struct machine_clock { /* of an engine or of memory */
	char name[40];
	int on;
	double min_hz, max_hz;
};
struct machine_missing {
	char key[48], reason[200];
};
struct machine_rail {
	char name[40];
	double warn_ma, crit_ma, warn_mw, crit_mw;
};

struct machine {
	char model[128], module[96], soc[32], codename[32], p_number[16], part_number[48], board_ids[64], cuda_arch[8], serial[64];
	char release[160], l4t[32], jetpack[48], kernel[96], system[16], architecture[16], distribution[128], hostname[96];
	double uptime_s, ram_kb;
	char version[LIBRARIES][32]; /* "12.6.68" */
	int opencv_cuda;
	struct machine_list nets, disks, swaps;
	double iram_kb, iram_used_kb;
	struct machine_clock emc;
	char mode[48], default_mode[48];
	struct machine_list modes;
	char fan_profile[32], fan_governor[32], fan_control[32], fan_default[32];
	struct machine_list fan_profiles;
	int jetson_clocks;
	char cpus_online[64];
	struct machine_list cores;
	char gpu_name[32], gpu_governor[32], power_control[16];
	double gpu_min_hz, gpu_max_hz, tpc_mask;
	int railgating, scaling_3d;
	struct machine_list gpcs, engines, rails, processes;
	struct machine_list missing;
	bool installed; /* what does not change while it runs was read */
};

/* One member, or a group of them. */
struct machine_field {
	const char *key; /* in JSON; NULL: a value without a name, in a list */
	enum { FIELD_END, FIELD_TEXT, FIELD_NUMBER, FIELD_TRUTH, FIELD_INT, FIELD_LETTER, FIELD_LIST, FIELD_GROUP } is;
	unsigned at, size;
	/* Or several with | between them: the first that is there is read. After a blank: a word in it, which the text follows. */
	const char *file;
	double scale;
	bool (*find)(const struct root *r, char *out, size_t size); /* instead of a file */
	const char *fact;                                           /* its key in a trace */
	const char *title;                                          /* on the screen, to be translated; NULL: not shown */
	const struct machine_field *of;                             /* of a list or a group */
	unsigned item_size;
	bool personal; /* not for others to see */
};

/* The fields of the machine and of its libraries, which are in the struct itself; both end in FIELD_END. */
extern const struct machine_field machine_fields[], machine_libraries[];

/* Gets the text of a field, "" if it is not known. */
const char *machine_text(const struct machine *m, const struct machine_field *f);

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

/* Says why something has no value; prefix and key are its place in JSON, as "gpu." "railgating". */
void machine_missing(struct machine *m, const char *prefix, const char *key, const char *what, const char *why);

/* Writes all that is known as one JSON object, described in docs/json.md; if open to others without what is personal:
 * serial number, addresses, command lines. */
void machine_json(struct record *r, const char *name, const struct machine *m, bool open);

/* The same as a text, to be freed; NULL if out of memory. */
char *machine_describe(const struct machine *m, bool open);

/* --- for the files of this folder --- */

/* Adds an item of that size, of which nothing is known yet. Returns NULL if out of memory. */
void *machine_add(struct machine_list *l, const struct machine_field *fields, size_t size);

/* Gets the text of a field; errno is 0 if the file has no such thing. */
bool machine_field_text(const struct root *r, const struct machine_field *f, const char *folder, char *out, size_t size);
/* Reads the fields that are in files. With a prefix the reasons of missing ones are kept. */
void machine_read_fields(struct machine *m, const struct root *r, const struct machine_field *f, void *base,
			 const char *folder, const char *prefix);
void machine_read_libraries(struct machine *m, const struct root *r);
void machine_read_packages(struct machine *m, const struct root *r);
void machine_read_settings(struct machine *m, const struct root *r);
void machine_read_parts(struct machine *m, const struct root *r, const struct channel *channels, size_t n);
void machine_read_places(struct machine *m, const struct root *r);
/* Gets what follows a word in a file, up to a blank or a comma, or what is in quotes there. errno is 0 if the file has no
 * such word. */
bool file_word(const struct root *r, const char *path, const char *word, char *out, size_t size);
/* Takes the versions of installed packages from the text of dpkg's status file. */
void machine_packages(const char *status, struct machine *m);

extern const struct machine_field machine_net_fields[], machine_disk_fields[], machine_swap_fields[], machine_name_fields[], machine_mode_fields[], machine_fan_fields[],
	machine_idle_fields[], machine_core_fields[], machine_gpu_fields[], machine_clock_fields[], machine_rail_fields[];

typedef bool machine_find(const struct root *r, char *out, size_t size);
machine_find find_module, find_soc, find_codename, find_p_number, find_part_number, find_cuda_arch, find_l4t, find_jetpack,
	find_release, find_architecture, find_mode;

#endif
