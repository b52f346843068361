/* control: what can be set on a machine: fan, power mode, clocks, governors, swap.
 *
 * What exists is said by the `control` statements of the board file. Reading needs no privileges. Changes are made by
 * one program, PKGLIBEXECDIR/nvmtop-control (helper.c), which runs as root, takes verbs and numbers, checks each change
 * in the kernel's files, and notes the state before in CONTROL_UNDO, so that it can be put back after a crash or
 * a reboot. Others start it by control_open(). */
#ifndef NVMTOP_CONTROL_CONTROL_H
#define NVMTOP_CONTROL_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "board/board.h"
#include "util/err.h"
#include "util/root.h"

#define CONTROL_FOLDER	 "/var/lib/nvmtop-control" /* of root, mode 0700 */
#define CONTROL_UNDO	 CONTROL_FOLDER "/undo.json"
#define CONTROL_SWAPFILE "/swapfile.nvmtop"
#define CONTROL_HOT_C	 70 /* at this temperature a fan that was set by hand is automatic again */

/* --- what can be set --- */

#define CONTROL_NVPMODEL      "/usr/sbin/nvpmodel"
#define CONTROL_JETSON_CLOCKS "/usr/bin/jetson_clocks"
#define CONTROL_SYSTEMCTL     "/usr/bin/systemctl"
#define CONTROL_SWAP_LEAST    (64 * 1024 * 1024) /* bytes */

struct control_file {
	char path[192];
	char text[64]; /* what it has, or is to have */
};

struct control_item {
	enum control_kind kind;
	char name[40];	    /* as above; of several GPUs or fans "clocks.gpu1", "fan1" */
	char value[96];	    /* now: "MODE_30W", "306000000..1300500000", "schedutil", "on", "quiet", "40%"; "": not known */
	char missing[160];  /* why it is not known */
	char allowed[1024]; /* values, with a blank between them: "0:MAXN 2:MODE_30W", "0..100 quiet cool auto",
			     * "306000000 408000000 ...": the steps of a clock, else "MIN..MAX" */
	char refused[160];  /* why it cannot be set here; "": it can, as root */
	/* What a change of it writes, or has others write: of clocks min and max of each device or a cap; of a fan the
	 * speed and what switches its control on; of mode and "clocks" those of all clocks, of "clocks" the fans', too. */
	struct control_file *files;
	size_t n;
};
struct control_list {
	struct control_item *at; /* n, in the order of kind; freed by control_list_free() */
	size_t n;
};
/* Lists what the board file says and the machine has, below 50 ms: starts nothing. Returns -1 and sets *e if out of
 * memory. */
int control_list(const struct board *b, const struct root *r, struct control_list *l, struct err *e);
void control_list_free(struct control_list *l);
struct control_item *control_find(const struct control_list *l, const char *name); /* NULL: none */

/* The factor from the number in a file of clocks to Hz. */
int64_t control_scale(const char *path);
/* The highest clock of a device, which has a lowest, in the file before it? */
bool control_is_max(const char *path);

/* Is nvfancontrol here? */
enum control_service { SERVICE_NONE, SERVICE_STOPPED, SERVICE_ACTIVE };
enum control_service control_fan_service(const struct root *r);

/* Turns a value as people write it, "30W" for MODE_30W, "612M", "612M..1.3G", "..1.3G", "80%", "4G", into that of a request, by
 * what i->allowed has: the name of a mode, "MIN..MAX" in Hz (the nearest steps, within 1 %), digits. Returns -1 and sets *e
 * to what is allowed. */
int control_value(const struct control_item *i, const char *text, char *out, size_t size, struct err *e);
/* Values as people read them: "306M..1300.5M" of clocks, "4.0 GB" of swap, else as they are. name: of the item. */
void control_shown(const char *name, const char *value, char *out, size_t size);

/* --- changes --- */

/* The words that begin a request, and how many follow: values for "fan", "fan1", "mode" and what else can be set. */
struct control_verb {
	const char *word;
	size_t least, most;
	enum control_does { VERB_LIST, VERB_SET, VERB_RESTORE, VERB_KEEP, VERB_REVERT } does;
};
const struct control_verb *control_verb(const char *word); /* NULL: none */

enum control_result {
	CONTROL_DONE,	 /* and read back */
	CONTROL_AS_IS,	 /* had that value already */
	CONTROL_NOT,	 /* was tried, and the machine has another value: `after` */
	CONTROL_REFUSED, /* was not tried: a value that is not allowed, a mode that needs a reboot */
	CONTROL_FAILED,	 /* a file or a program failed */
	CONTROL_WOULD,	 /* --dry-run: what would be done is in why */
	CONTROL_RESULTS
};
extern const char *const control_result_words[CONTROL_RESULTS]; /* "done", "as-is", "not", "refused", "failed", "would" */

/* One setting that a request changed or was to change. */
struct control_change {
	char name[40];	 /* of the item */
	char before[96]; /* "": not known */
	char wanted[96];
	char after[96];	 /* as read back */
	enum control_result result;
	char why[240];	  /* a sentence; "" for CONTROL_DONE unless there is something to say */
	unsigned id;	  /* of its entry in CONTROL_UNDO, for "keep" and "revert"; 0: none */
	int64_t left_ns;  /* until it is reverted by itself; 0: it stays */
};

/* --- the helper, from its client's side --- */

struct control_session; /* a running helper */

enum control_how {
	CONTROL_ASK,	/* may ask for a password: pkexec where there is an agent, else sudo */
	CONTROL_SILENT, /* from the screen: pkexec without its text agent, else sudo -n */
	CONTROL_PLAIN,	/* as this user, for requests with --dry-run */
};
/* Starts the helper: directly if this is root (or root has another folder than "/", which only the helper for tests
 * takes), else by pkexec or sudo. revert: what this session changes is put back when it ends, even by SIGKILL of this
 * process. Blocks while a password is asked for. Returns NULL and sets *e if it cannot be started; e says what to
 * do, and e->num is EACCES where it is not allowed. */
struct control_session *control_open(const struct root *r, enum control_how how, bool revert, struct err *e);

/* Sends one request, words as after `nvmtop control`: {"mode", "MAXN", NULL}, {"clocks", "gpu=306000000..612000000", NULL},
 * {"fan", "quiet", "--for", "60s", NULL}, {"keep", "12", NULL}, {"revert", "12", NULL}, {"restore", NULL},
 * {"mode", "2", "--dry-run", NULL}; visits its changes as they are made. Blocks until it is answered; the helper itself gives up on
 * programs that hang. Returns the exit status of `nvmtop control` (0: all done or as they were, 1: something failed or did
 * not take, 2: not a valid request, 4: refused), with what the helper says of the whole in e->text, or ""; -1 and sets *e if the helper
 * is gone. */
int control_ask(struct control_session *s, const char *const *words,
		void (*visit)(void *arg, const struct control_change *c), void *arg, struct err *e);

/* Ends it; with revert visits what is put back. Returns the exit status of that. */
int control_close(struct control_session *s, void (*visit)(void *arg, const struct control_change *c), void *arg,
		  struct err *e);

/* The protocol: the helper begins with the line "ready\t1", or "end\tSTATUS\tSENTENCE" where it cannot. A request is a line of words with single blanks between them; each change is answered by a line
 * "change\tNAME\tBEFORE\tWANTED\tAFTER\tRESULT\tID\tLEFT_MS\tWHY", the whole by "end\tSTATUS\tSENTENCE" (SENTENCE: of a
 * request that is not valid). At EOF of its input the helper reverts, if asked to, answers with lines of change and
 * "end", and exits. */

#endif
