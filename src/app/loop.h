/* loop: state of the running screen, shared by its loop and its requests. */
#ifndef NVMTOP_APP_LOOP_H
#define NVMTOP_APP_LOOP_H

#include "app/app.h"
#include "app/recording.h"
#include "app/settings-file.h"
#include "app/open-trace.h"
#include "app/source.h"

/* The traces and folders in a folder, read in the background. Initialise with zeros. */
struct files {
	char folder[512];     /* printable */
	struct ui_file *list; /* traces first, the newest first; may be incomplete */
	size_t n;
	uint64_t serial;   /* changes with the list */
	char at[128];      /* the file being read, printable, or "" */
	struct scan *scan; /* NULL: complete */
};

/* A trace being opened, to be shown when it is ready. All zero: none. */
struct pending_open {
	struct fetch *fetch;
	int by;         /* 0: a selected trace; -1, 1: the previous or next file of the recording */
	bool play;      /* continue playback */
	bool second;    /* to be compared with the shown trace */
	char name[160]; /* shown while it is opened */
};

struct top {
	const struct options *o;
	struct app_settings *chosen;
	struct source source;
	struct recording recording;

	struct term *term;
	struct ui *ui;
	struct canvas canvas;
	struct ui_scene scene;
	struct files files;
	struct pending_open showing; /* the trace being opened */
	struct procs *procs;         /* NULL until a view shows them */
	struct machine_reader *machine; /* the same */
	struct trial *trial;            /* NULL until something is set */
	char message[sizeof((struct err *)NULL)->text];
	int64_t message_until_ns; /* 0: until the next key */
	struct request held[8];   /* to be carried out once the board is open */
	size_t n_held;
	int signals;
	int64_t drawn_ns;
	int64_t repaint_ns; /* when to repaint after another program wrote to the terminal; 0: never */
	bool redraw, quit;
};

/* Shows a message until the next key, and one that warns of nothing for some seconds; "" removes it. A
 * notify_fn: to is a struct top. */
void top_say(void *to, enum style style, const char *text);
/* Updates everything in the scene that changes with time. */
void top_look(struct top *t);

/* machine-reader.c: what the machine is and, in *control, what can be set on it, every 2 s. Returns NULL until it was
 * read for the first time. */
const struct machine *machine_reader_poll(struct machine_reader **at, const struct live *l, int64_t now_ns,
					  const struct control_list **control);
void machine_reader_hurry(struct machine_reader *h); /* NULL is allowed */
void machine_reader_free(struct machine_reader *h);

/* trial.c: REQUEST_CONTROL */
void trial_request(struct top *t, const struct request *r);
void trial_watch(struct top *t);
void trial_scene(const struct trial *t, struct ui_scene *s);
void trial_free(struct trial *t);

/* files.c */
/* Starts reading the folder in place of any other. Returns 0, or -1 with *e. */
int files_read(struct files *f, const char *folder, struct err *e);
/* Updates the list; waits for its completion until until_ns. Returns true if something changed. */
bool files_take(struct files *f, int64_t until_ns);
/* Milliseconds until the next files_take(); -1: the list is complete. */
int files_patience_ms(const struct files *f);
void files_free(struct files *f);

/* pending-open.c */
/* Opens a trace, second: to compare with the shown one; or the next (by = 1) or previous (-1) file of this
 * recording. play: continue playback. */
void pending_open_start(struct top *t, const char *path, bool second);
void pending_open_part(struct top *t, int by, bool play);
/* Returns to the live view. */
void pending_open_live(struct top *t);
/* Cancels the opening of a trace. */
void pending_open_cancel(struct top *t);
/* Shows the trace once it is open. */
void pending_open_watch(struct top *t);
/* Reports that the recording continues in another file. */
void pending_open_report_next(struct top *t, const char *next);

/* requests.c */
void top_carry_out(struct top *t, const struct request *r);

#endif
