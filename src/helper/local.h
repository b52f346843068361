/* local: what the files of the privileged helper share; helper.c says what it is. */
#ifndef NVMTOP_HELPER_LOCAL_H
#define NVMTOP_HELPER_LOCAL_H

#include <stdio.h>

#include "control/control.h"

/* What was before a change, a line or more of CONTROL_UNDO. */
struct entry {
	unsigned id;
	char name[40], before[96]; /* of the item */
	char state[128];           /* a mode's number; a fan's service and profiles */
	char boot[40];
	int64_t until_ms; /* CLOCK_BOOTTIME at which it is put back by itself; 0: it stays */
	struct control_file *files;
	size_t n;
	enum { ENTRY_STAYS, ENTRY_SELECTED, ENTRY_BACK } mark; /* to be put back; was put back */
};

/* A request being answered. */
struct work {
	const struct board *board;
	const struct root *root;
	int folder; /* CONTROL_FOLDER; -1: it may only say what it would do */
	bool dry;
	int64_t for_ns;
	struct control_list items;
	struct entry *entries; /* the oldest first */
	size_t n_entries;
	unsigned next_id;
	char boot[40];
	int status;
	unsigned *made; /* ids of this session's changes */
	size_t n_made;
};

/* helper.c */
/* A change of an item from what it is now, and its report. */
struct control_change work_change(const struct work *w, const char *name, const char *wanted);
void work_report(struct work *w, struct control_change *c, enum control_result result);
int work_read(struct work *w, struct err *e);              /* the items anew */
int work_lock(struct work *w, int seconds, struct err *e); /* a descriptor: one changes something at a time */
void work_log(const struct work *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *work_top(const struct root *r); /* what comes before a path */
/* Counts what was written or run; a test may want it to die after one of them. */
void work_wrote(void);
extern unsigned work_writes;
extern int work_patience; /* of tests: seconds that programs get, instead of their own */

/* program.c */
/* What becomes of all signals that end or stop a program. */
void program_signals(void (*how)(int));
/* Runs one of the fixed programs with what is known before, and kills it, with what it has started, after some seconds.
 * Returns 0 if it exits with 0; else -1, and why says what it said, or that it hung. */
int program_run(const struct root *r, int seconds, char why[240], const char *const *argv);
#define PROGRAM(w, seconds, why, ...)                                                                        \
	program_run((w)->root, seconds, why, (const char *const[]) {__VA_ARGS__, NULL})
/* Starts this program again, apart from this one and its terminal. */
int program_apart(const struct root *r, const char *verb, const char *word, char why[240]);

/* write.c */
int write_text(const struct root *r, const char *path, const char *text);
/* Writes what differs, and reads back. Returns 0; 1 if it has something else then, -1 if it cannot be written: why says
 * which. */
int write_files(struct work *w, const struct control_file *want, size_t n, char why[240]);
/* Replaces a file, with mode and owner of the one before. */
int write_anew(const char *path, const char *text, size_t len);

/* mode.c; those that set return 0, 1 if it was done and did not take, -1 if it failed, with why */
bool mode_needs_reboot(const struct root *r, int64_t id);
int mode_check(const struct root *r, int64_t id, char why[240]);
int mode_set(struct work *w, int64_t id, char why[240]);
bool clocks_kept(
	struct work *w); /* what they were before clocks_max() is there; that of a boot before goes */
int clocks_max(struct work *w, char why[240]);
int clocks_back(struct work *w, char why[240]); /* if they are what jetson_clocks has made of them */

/* fan.c */
void fan_state(const struct root *r, char out[128]); /* "active quiet,cool" */
/* profiles NULL: as they are */
int fan_service(struct work *w, const char *profiles, bool active, char why[240]);
int fan_auto(struct work *w, const struct control_item *u, char why[240]);
int fan_watch(struct work *w);
bool fan_can_watch(const struct root *r); /* a temperature can be read */

/* swap.c */
int swap_set(struct work *w, const char *value, char why[240]);
bool swap_exists(const struct root *r);

/* undo.c */
int undo_folder(const struct root *r, struct err *e);
int undo_load(struct work *w, struct err *e);
int undo_save(struct work *w, struct err *e);
void undo_free(struct work *w);
struct entry *undo_find(struct work *w, unsigned id);
struct entry *undo_oldest(const struct work *w, const char *name);
unsigned undo_add(struct work *w, const struct control_item *u, struct err *e); /* 0: not noted */
void undo_drop(struct work *w, unsigned id);
int64_t undo_now_ms(void);
/* Puts the selected entries back, and drops those that were. */
int undo_back(struct work *w, struct err *e);

/* set.c */
void set_change(struct work *w, struct control_item *u, const char *wanted);

#endif
