/* machine: the description of the machine that it runs on: all of it is what is not a signal. The screen, `once --json`,
 * `boards`, the facts of a trace and the library take it from here.
 *
 * Everything is read from files, and nothing is started or loaded for it. What the files contain is made printable. */
#ifndef NVMTOP_BOARD_MACHINE_H
#define NVMTOP_BOARD_MACHINE_H

#include "model/channel.h"
#include "probe/processes.h"
#include "util/json-csv.h"
#include "util/root.h"

#define MACHINE_JSON_VERSION 1 /* of docs/json.md */

/* Makes a value of the text of a file, of len bytes with a NUL behind them; "" if it cannot be read. */
typedef bool machine_find(const struct root *r, const char *text, size_t len, char *out, size_t size);

/* One value that is a file, or a word in one, or made of it. */
struct machine_field {
	const char *key; /* NULL: the end */
	enum { FIELD_TEXT, FIELD_NUMBER, FIELD_TRUTH } is;
	/* Or several with | between them: the first that is there is read. After a blank: a word in it, which the text follows.
	 * NULL: it comes from elsewhere. */
	const char *file;
	double scale;
	machine_find *find;
	const char *fact;  /* its key in a trace */
	const char *title; /* on the screen, to be translated; NULL: not shown */
	size_t most;	   /* bytes of the text; 0: 64 */
	bool personal;
	/* Of a library: what the names of its package and its file begin with; "": it has none. */
	const char *package, *library;
};
#define MACHINE_FIELDS 31
extern const struct machine_field machine_fields[MACHINE_FIELDS + 1];
const struct machine_field *machine_field_find(const char *key);

#define PLACES_MOST 32
/* Disks of the running machine, and its addresses but those of itself; they are read if the root is "/", and may block. */
struct disk_space {
	char mount[64], device[64];
	double total, used, available; /* bytes */
};
size_t disks_read(const struct root *r, struct disk_space list[PLACES_MOST]);
struct net_address {
	char name[64], text[48];
};
size_t addresses_read(const struct root *r, struct net_address list[PLACES_MOST]);

/* What the Board view shows beside the facts: texts of those fields that have a title and are no fact. Begin with zeros. */
struct machine {
	bool read;
	char text[MACHINE_FIELDS][64];
	long long uptime_s; /* 0: not known */
	struct disk_space disks[PLACES_MOST];
	struct net_address addresses[PLACES_MOST];
	size_t n_disks, n_addresses;
};
/* Reads it; again only what changes by itself: uptime, disks, addresses. May block on a disk. */
void machine_read(struct machine *m, const struct root *r);

/* What a description of the machine is made of. */
struct machine_source {
	const struct root *root;
	/* What belongs to signals is found by their sources: clocks, engines, rails. */
	const struct channel *channels;
	size_t n;
	const struct procs_list *procs; /* those that use the GPU; NULL: not known */
	const double *pinned;		/* the switch of all clocks, read as the signal clocks.pinned; NULL: there is none */
	const char *unpinned;		/* why it is NaN */
};
/* Reads everything and writes it as one JSON object, described in docs/json.md; if open to others without what is personal:
 * serial number, addresses, command lines. Disks and addresses are those of the running machine, and are read only if the
 * root is "/". May block on a disk. */
void machine_json(struct record *to, const char *name, const struct machine_source *of, bool open);

/* --- for the files of this folder --- */

struct machine_writer {
	struct record *to;
	const struct machine_source *of;
	bool open;
	struct machine_lack {
		char key[72], why[200];
	} *missing;
	size_t n_missing;
};
/* Put what is known; no text or NaN is not known. */
void machine_put_text(struct machine_writer *w, const char *key, const char *text, size_t most);
void machine_put_number(struct machine_writer *w, const char *key, double v);
void machine_put_truth(struct machine_writer *w, const char *key, bool v);
/* Begins the next object of a list; *any is false before the first. A list without any is not there. */
void machine_item(struct machine_writer *w, bool *any, const char *list);
void machine_items_end(struct machine_writer *w, bool any);
/* Says why something has no value: "WHAT: WHY". key: all of it, such as "memory.swaps". */
void machine_missing(struct machine_writer *w, const char *key, const char *what, const char *why);
/* Puts fields that are files in a folder, or anywhere (""). Reasons of those that are missing are told if their object is named
 * ("gpu."; NULL: in a list). */
void machine_put_fields(struct machine_writer *w, const struct machine_field *f, const char *folder, const char *object);
void machine_put_modes(struct machine_writer *w);
void machine_put_profiles(struct machine_writer *w);
void machine_put_cores(struct machine_writer *w);
void machine_put_gpu(struct machine_writer *w);
void machine_put_memory(struct machine_writer *w);
void machine_put_units(struct machine_writer *w, bool engines);
void machine_put_places(struct machine_writer *w);

/* Gets the text of a field; errno is 0 if the file has no such thing. */
bool machine_field_text(const struct root *r, const struct machine_field *f, const char *folder, char *out, size_t size);
/* Finds the versions of the libraries, by their fields, of which CUDA is the first; "": not found. *opencv_cuda: does OpenCV use
 * CUDA? -1: it has no file. */
#define LIBRARIES 7
void libraries_read(const struct root *r, const struct machine_field f[LIBRARIES], char versions[LIBRARIES][64], int *opencv_cuda);

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

/* Gets the list of dpkg, to be freed; NULL: there is none. */
char *packages_text(const struct root *r);
/* Takes the next installed package of the list, and moves *status behind it. Returns false at the end. */
bool package_next(const char **status, char name[64], char version[32]);

#define FILE_COMPATIBLE "/proc/device-tree/compatible" /* entries that end in a NUL each */
#define FILE_RELEASE    "/etc/nv_tegra_release"
/* The EEPROM of the module, which the kernel's driver reads, as root: its bus differs by board. */
#define FILE_EEPROMS                                                                                                   \
	"/sys/bus/i2c/devices/0-0050/eeprom|/sys/bus/i2c/devices/1-0050/eeprom|/sys/bus/i2c/devices/2-0050/eeprom|"      \
	"/sys/bus/i2c/devices/7-0050/eeprom"
machine_find find_module, find_soc, find_codename, find_p_number, find_part_number, find_cuda_arch, find_l4t, find_jetpack,
	find_release, find_architecture, find_mode;
/* Gets the JetPack version of a release such as "36.4.3". */
bool table_jetpack(const char *release, char *out, size_t size);

#endif
