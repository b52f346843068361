/* nvmtop: record a Jetson, read what was recorded, and have its values now, from another program.
 *
 *	cc program.c $(pkg-config --cflags --libs nvmtop)
 *
 * A recorder samples on its own threads, in which every signal is blocked,
 * and changes neither the locale nor any signal handler of the program.  The first
 * nvmtop_open() installs a SIGBUS handler for traces that are truncated while they
 * are read; it forwards all other SIGBUS to the previous handler.
 *
 * After fork() a recorder belongs to the parent: in the child its functions
 * return at once, as for a finished recording, and nvmtop_stop() fails.
 * The child may start its own recorder.
 *
 * Threads: functions of different recorders and traces may be called at the
 * same time.  Of one recorder, nvmtop_sync(), nvmtop_sample_count(),
 * nvmtop_is_running() and nvmtop_wait_for_warmup() may be called from any thread
 * at any time before nvmtop_free(); functions of an open trace only read.
 *
 * Errors: functions that return int return 0 for success and -1 for failure,
 * those that return a pointer or a handle return NULL or 0, and store a code and a sentence in *error,
 * which may be NULL.  Passing NULL as a recorder, a trace or a result is such a
 * failure; functions that return a count return 0 then.
 *
 * Stability: the interface is compatible as long as the major number of
 * NVMTOP_API_VERSION (its hundreds) is the same.  Structs begin with their size, which
 * the program sets (NVMTOP_*_INIT, NVMTOP_*_SIZE), so that they can grow at their end;
 * only rows have the fixed layout of the file. */
#ifndef NVMTOP_NVMTOP_H
#define NVMTOP_NVMTOP_H

/* Required by <nvmtop/mark.h>, so that the two can be included in any order. */
#if defined __STRICT_ANSI__ && !defined _POSIX_C_SOURCE && !defined _XOPEN_SOURCE &&                         \
	!defined _DEFAULT_SOURCE && !defined _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NVMTOP_PUBLIC __attribute__((visibility("default")))
#else
#define NVMTOP_PUBLIC
#endif

/* Version of this header; nvmtop_api_version() returns that of the loaded library. */
#define NVMTOP_API_VERSION 203
NVMTOP_PUBLIC int nvmtop_api_version(void);
NVMTOP_PUBLIC const char *nvmtop_version(void);	/* "1.2.3" */

enum {
	NVMTOP_OK = 0,
	NVMTOP_FAILED = 1,	/* an error of a file, the kernel or the disk */
	NVMTOP_USAGE = 2,	/* an invalid argument */
	NVMTOP_DAMAGED = 3	/* a trace is damaged; the readable part is available */
};

typedef struct nvmtop_error {
	size_t size;		/* sizeof(nvmtop_error); a shorter one is not changed */
	int code;		/* one of the above */
	int number;		/* errno of the failed operation, or 0 */
	char text[768];		/* a sentence: what, where, what to do; "" on success */
} nvmtop_error;
#define NVMTOP_ERROR_INIT { sizeof(nvmtop_error), 0, 0, "" }

/* ---- boards ---- */

/* Detects the board of this machine: name ("agx_orin", for nvmtop_options.board),
 * title ("Jetson AGX Orin") and the reason, each truncated to its size;
 * any of them may be NULL with size 0.  "generic" if it is not a Jetson. */
NVMTOP_PUBLIC int nvmtop_detect_board(char *name, size_t name_size, char *title, size_t title_size, char *why,
				      size_t why_size, nvmtop_error *error);

/* Returns the description of this machine as one JSON object, that of the key "machine" of nvmtop once --json
 * (docs/json.md), to be freed with free(); if for_others is not 0 without serial number, addresses and command
 * lines.  Takes some milliseconds, 0.1 s more where processes use the GPU, and more where NVML must be started. */
NVMTOP_PUBLIC char *nvmtop_machine(int for_others, nvmtop_error *error);

/* ---- recording ---- */

typedef struct nvmtop_recorder nvmtop_recorder;

typedef struct nvmtop_options {
	size_t size;		/* sizeof(nvmtop_options) */
	const char *board;	/* a name, or the path of a board file; NULL: the detected one */
	const char *sysroot;	/* read all kernel files below this directory; NULL: that of the environment variable
				 * NVMTOP_SYSROOT, or "/" */
	double fast_hz;		/* GPU, CPU, memory, EMC: 0.1 .. 10000; 0: 1000 */
	double medium_hz;	/* power rails, clocks; 0: 100 */
	double slow_hz;		/* temperatures; 0: 10 */
	int force;		/* replace an existing recording or empty file */
	int gentle;		/* read the GPU less than twice a second, so that it can power down */
	int marks;		/* accept the marks of other programs (nvmtop mark, nvmtop/mark.h) on a
				 * socket; only one recorder of a process can */
} nvmtop_options;
#define NVMTOP_OPTIONS_INIT { sizeof(nvmtop_options), NULL, NULL, 0, 0, 0, 0, 0, 0 }

/* Starts recording to path, as soon as the loads of the CPUs have values or a
 * second has passed; options may be NULL.  The directory, the name and the
 * free space are checked now.  The log is complete at every moment;
 * of PATH.bin it is PATH.bin.nvmt, from which nvmtop_stop() makes PATH.bin. */
NVMTOP_PUBLIC nvmtop_recorder *nvmtop_start(const char *path, const nvmtop_options *options, nvmtop_error *error);

/* Waits until every signal has its first value, each CPU load a full averaging
 * window, and there are 10 fast samples (1 at rates below 100 Hz), for at most timeout_ms
 * (-1: no limit).  1: warm, 0: not yet. */
NVMTOP_PUBLIC int nvmtop_wait_for_warmup(nvmtop_recorder *recorder, int timeout_ms);

/* Sets a sync mark now: a new epoch starts with the next fast sample.  label may be
 * NULL and is truncated to 63 bytes.  Returns its id: 1, 2, 3, ...; 0 after the recording has ended. */
NVMTOP_PUBLIC uint64_t nvmtop_sync(nvmtop_recorder *recorder, const char *label);

/* Number of fast samples passed to the file so far. */
NVMTOP_PUBLIC uint64_t nvmtop_sample_count(nvmtop_recorder *recorder);

/* 1 from nvmtop_start() until nvmtop_stop(), or until the disk fails. */
NVMTOP_PUBLIC int nvmtop_is_running(nvmtop_recorder *recorder);

/* Ends the recording; the file is complete and on the disk when this returns 0.  After a
 * failure, as where the disk was too slow for some of it, *error describes what is readable
 * and where, or what is missing.  Later calls return the same. */
NVMTOP_PUBLIC int nvmtop_stop(nvmtop_recorder *recorder, nvmtop_error *error);

/* Stops first if necessary.  NULL is allowed. */
NVMTOP_PUBLIC void nvmtop_free(nvmtop_recorder *recorder);

/* ---- reading ---- */

typedef struct nvmtop_trace nvmtop_trace;

#define NVMTOP_CORES 16
#define NVMTOP_RAILS 8
#define NVMTOP_ZONES 16

typedef struct nvmtop_header {
	size_t size;		/* sizeof(nvmtop_header), set before the call */
	char board[33];
	uint32_t cores, rails, zones;	/* used slots in each row */
	int emc;		/* was it sampled? */
	double hz[3];		/* fast, medium, slow */
	uint64_t rows[3];	/* readable rows; fewer than recorded if the file is damaged */
	uint64_t marks;
	double duration_s;
	int64_t start_real_ns;	/* CLOCK_REALTIME at time 0, or 0 if unknown */
	char rail_name[NVMTOP_RAILS][25];
	char zone_name[NVMTOP_ZONES][25];
} nvmtop_header;
#define NVMTOP_HEADER_SIZE (sizeof(nvmtop_header))

/* Rows as in version 1 of the file format: packed, little-endian
 * (not available on a big-endian machine).  Unused slots are 0.  A
 * missing value is marked as described for each field; a missing GPU load repeats the
 * previous one (0 before the first), since version 1 cannot represent it:
 * nvmtop_values() returns NaN for it. */
#if defined(__GNUC__)
#define NVMTOP_PACKED __attribute__((packed))
#else
#error "nvmtop.h needs packed structs"
#endif
typedef struct nvmtop_fast {
	double time_s;		/* since the start of the recording */
	uint16_t gpu_load;	/* tenths of a percent; the previous value if it was not read */
	float cpu_util[NVMTOP_CORES];	/* percent; NaN: offline, not read */
	float cpu_aggregate;	/* percent over all online cores */
	uint64_t ram_used_kb, ram_available_kb;	/* both 0: not read */
	float emc_util;		/* percent; -1: not available */
} NVMTOP_PACKED nvmtop_fast;
typedef struct nvmtop_medium {
	double time_s;
	uint32_t voltage_mv[NVMTOP_RAILS], current_ma[NVMTOP_RAILS];
	float power_mw[NVMTOP_RAILS];	/* NaN: not read */
} NVMTOP_PACKED nvmtop_medium;
typedef struct nvmtop_slow {
	double time_s;
	float temp_c[NVMTOP_ZONES];	/* NaN: not read */
} NVMTOP_PACKED nvmtop_slow;

/* path: a trace, or a stream saved in a file.  All counts and offsets in
 * it are checked.  A truncated or damaged file is opened with *error
 * NVMTOP_DAMAGED and a sentence that describes what is lost. */
NVMTOP_PUBLIC nvmtop_trace *nvmtop_open(const char *path, nvmtop_error *error);
NVMTOP_PUBLIC void nvmtop_close(nvmtop_trace *trace);	/* NULL is allowed */

/* 0, or -1 if header->size is unknown to this library. */
NVMTOP_PUBLIC int nvmtop_get_header(const nvmtop_trace *trace, nvmtop_header *header);

/* The rows of a tier, their number in *n, in the mapped file: valid until nvmtop_close().
 * If another program truncates the file meanwhile, the missing part reads as 0. */
NVMTOP_PUBLIC const nvmtop_fast *nvmtop_fast_rows(const nvmtop_trace *trace, uint64_t *n);
NVMTOP_PUBLIC const nvmtop_medium *nvmtop_medium_rows(const nvmtop_trace *trace, uint64_t *n);
NVMTOP_PUBLIC const nvmtop_slow *nvmtop_slow_rows(const nvmtop_trace *trace, uint64_t *n);

/* The phase from one sync mark to the next.  Epoch 0 always exists; it
 * starts with the recording. */
typedef struct nvmtop_epoch {
	size_t size;		/* sizeof(nvmtop_epoch), set before the call in the first of an array */
	uint64_t id;		/* of the mark at its start; 0: no mark */
	uint64_t first, n;	/* fast rows */
	double start_s, end_s;	/* times of the marks; the last epoch ends with the recording */
	char label[64];
} nvmtop_epoch;
#define NVMTOP_EPOCH_SIZE (sizeof(nvmtop_epoch))

/* Returns the number of epochs and stores the first `max` of them in out (NULL with max 0).
 * 0 if out->size is unknown to this library. */
NVMTOP_PUBLIC uint64_t nvmtop_epochs(const nvmtop_trace *trace, nvmtop_epoch *out, uint64_t max);

/* ---- signals: every value as it was sampled, including those that version 1 has no
 * room for (clocks, fans, throttling, cores from the 17th on) ---- */

enum { NVMTOP_FAST = 0, NVMTOP_MEDIUM = 1, NVMTOP_SLOW = 2 };	/* tiers */

typedef struct nvmtop_signal {
	size_t size;		/* sizeof(nvmtop_signal), set before the call */
	int tier;
	char name[48];		/* unique and stable: "gpu.util", "cpu4.util", "VDD_IN.power" */
	char label[32];		/* display name: "GPU" */
	char unit[8];		/* "%", "Hz", "kB" (1024 bytes), "mV", "mA", "mW", "C", "rpm", "J", "B/s", or "" */
	char source[160];	/* the kernel file, or the formula over other signals */
	char note[96];		/* "mean of 100 ms", "estimate"; may be "" */
	char missing[200];	/* the reason if it has no value, or "" */
	int column;		/* in a row of its tier */
	double period_s;	/* how often it has a new value */
	double window_s;	/* a value is the mean over this time; 0: of its moment; NaN: unknown */
	double age_s;		/* how long before the time of its row that window ended */
	double warn, crit;	/* from here on the kernel or the chip warns or slows down, or it is critical; NaN: no limit
				 * is known */
} nvmtop_signal;
#define NVMTOP_SIGNAL_SIZE (sizeof(nvmtop_signal))

/* Number of signals; they are numbered from 0. */
NVMTOP_PUBLIC uint64_t nvmtop_signals(const nvmtop_trace *trace);

/* 0, or -1 if the signal does not exist or signal->size is unknown to this library. */
NVMTOP_PUBLIC int nvmtop_get_signal(const nvmtop_trace *trace, uint64_t index, nvmtop_signal *signal);

/* The number of the signal with that name, or -1. */
NVMTOP_PUBLIC int64_t nvmtop_find_signal(const nvmtop_trace *trace, const char *name);

/* Times of the rows of a tier, in seconds since the start, never decreasing, and
 * values of a signal in these rows, in its unit; NaN: it was not read.  out has
 * room for n.  Returns the number of values stored: fewer than n at
 * the end of the tier, 0 if the tier or signal does not exist. */
NVMTOP_PUBLIC uint64_t nvmtop_times(const nvmtop_trace *trace, int tier, uint64_t first, uint64_t n, double *out);
NVMTOP_PUBLIC uint64_t nvmtop_values(const nvmtop_trace *trace, uint64_t signal, uint64_t first, uint64_t n,
				     double *out);

/* Joules of a power signal (mW) between two times in seconds since the start, as a report has them; *within
 * (or NULL) is the bound of their error for 95 %, *known_s (or NULL) for how long of this time power is known: the mean
 * is that of joules by known_s.  NaN: power is not known there, or the bound is not.
 * NVMTOP_POWER is the total power; without one the only power signal, or the sum of GPUs and processors. */
#define NVMTOP_POWER (UINT64_MAX - 1)
NVMTOP_PUBLIC double nvmtop_energy(const nvmtop_trace *trace, uint64_t signal, double from_s, double to_s,
				   double *within, double *known_s);

/* A range of time that a program marked with NVTX.  Times are seconds since the start of the recording.
 * Ranges nest within a domain of a thread. */
enum { NVMTOP_NO_PAYLOAD = 0, NVMTOP_UNSIGNED = 1, NVMTOP_SIGNED = 2, NVMTOP_DOUBLE = 3 };

typedef struct nvmtop_range {
	size_t size;		/* sizeof(nvmtop_range), set before the call */
	double begin_s, end_s;
	const char *name, *domain, *category, *process, *thread; /* until nvmtop_close(); domain "": the default
							 * one, category "": none, process and thread "": no name is known */
	uint32_t pid, tid;	/* tid 0: it may have begun and ended on different threads */
	uint32_t colour;	/* ARGB; 0: none */
	uint32_t depth;		/* 0: outermost */
	int open;		/* 1: it had not ended at end_s, the end of the recording or of the program */
	int payload;		/* the member of value that is set, one of the above */
	union {
		uint64_t u;
		int64_t i;
		double d;
	} value;
} nvmtop_range;
#define NVMTOP_RANGE_SIZE (sizeof(nvmtop_range))

typedef struct nvmtop_ranges nvmtop_ranges;

/* Starts to read the ranges that touch [from_s, to_s), in order of their begin; 0 and INFINITY: all.
 * Of one reader, one thread may call at a time; it must be closed before the trace is. */
NVMTOP_PUBLIC nvmtop_ranges *nvmtop_ranges_open(const nvmtop_trace *trace, double from_s, double to_s,
						nvmtop_error *error);

/* 1: the next range is in *range, 0: there are no more, -1: out of memory, or range->size is unknown to this
 * library. */
NVMTOP_PUBLIC int nvmtop_ranges_next(nvmtop_ranges *ranges, nvmtop_range *range);
NVMTOP_PUBLIC void nvmtop_ranges_close(nvmtop_ranges *ranges);	/* NULL is allowed */

/* ---- live values ----
 *
 *	nvmtop_live live = nvmtop_live_open(NULL, &error);
 *	int64_t ids[2] = { nvmtop_live_find(live, "gpu.util"), nvmtop_live_find(live, "VDD_IN.power") }, times[2];
 *	double values[2];
 *	nvmtop_live_read(live, ids, 2, values, times);			// %, mW; NaN: missing
 *
 *	nvmtop_joules joules = { .size = NVMTOP_JOULES_SIZE };
 *	nvmtop_window w = nvmtop_energy_begin(live, &error);
 *	infer();
 *	nvmtop_energy_end(w);
 *	nvmtop_energy_result(w, -1, &joules, &error);
 *	printf("%.2f +- %.2f J in %.3f s\n", joules.joules, joules.within, joules.seconds);
 *	nvmtop_energy_forget(w);
 *	nvmtop_live_close(live, &error);
 *
 * A live handle and a window are numbers, which are not used again: after it was closed, or in a child after fork(),
 * one is unknown, which is an error.  All functions may be called from any thread.  One thread samples for all
 * handles and recorders of the process that have the same options; it never waits for a caller. */
typedef int64_t nvmtop_live;

/* options: board, sysroot, rates and gentle, as of a recorder; NULL: those of what samples in this process
 * already, or else the defaults.  Returns when there are values, after at most a second; 0 on failure. */
NVMTOP_PUBLIC nvmtop_live nvmtop_live_open(const nvmtop_options *options, nvmtop_error *error);

/* Ends its windows and callbacks; sampling goes on as long as another handle or a recorder needs it. */
NVMTOP_PUBLIC int nvmtop_live_close(nvmtop_live live, nvmtop_error *error);

/* Number of signals; they are numbered from 0 and stay the same. */
NVMTOP_PUBLIC uint64_t nvmtop_live_signals(nvmtop_live live);

/* Describes a signal; `missing` is why it has no value now.  -1: there is no such handle or signal, or
 * signal->size is unknown to this library. */
NVMTOP_PUBLIC int nvmtop_live_describe(nvmtop_live live, int64_t id, nvmtop_signal *signal);

/* The number of the signal with that name, or -1. */
NVMTOP_PUBLIC int64_t nvmtop_live_find(nvmtop_live live, const char *name);

/* The newest values of n signals in their units, and when each was read, in ns of CLOCK_MONOTONIC (times may be NULL).
 * NaN: missing, or older than three periods of the signal (but 50 ms at least); its time is then that of the last
 * attempt, or 0.  Waits for nothing, and takes a few microseconds.  -1: there is no such handle, or one of the ids does not
 * exist, whose value is NaN. */
NVMTOP_PUBLIC int nvmtop_live_read(nvmtop_live live, const int64_t *ids, size_t n, double *values, int64_t *times);

/* Rows of a tier as they were sampled: that of times[i] has values[i * width] .. values[i * width + width - 1], where
 * nvmtop_signal.column says which is whose. */
typedef struct nvmtop_rows {
	int tier;
	size_t n, width;
	const int64_t *times;	/* ns of CLOCK_MONOTONIC, rising */
	const double *values;
} nvmtop_rows;
typedef void nvmtop_rows_fn(void *arg, const nvmtop_rows *rows);

/* Has fn called with every row of the tier from now on, about 40 times a second with those that are some 40 to 65 ms
 * old; NULL: no more.  It is called on a thread of the library, one call at a time, that also writes the recordings:
 * while it runs their rows wait, for two seconds at most before they are lost (and counted).  It may read values, set
 * marks and use windows (which wait for nothing there), and must not open, close, start or stop anything, nor call this
 * function.  When this returns, the function before is not running any more. */
NVMTOP_PUBLIC int nvmtop_live_on_rows(nvmtop_live live, int tier, nvmtop_rows_fn *fn, void *arg, nvmtop_error *error);

/* Windows of energy: they may overlap, nest, and be used by several threads. */
typedef int64_t nvmtop_window;

/* A window begins now.  0: there is no such handle, or more than 4096 windows exist. */
NVMTOP_PUBLIC nvmtop_window nvmtop_energy_begin(nvmtop_live live, nvmtop_error *error);

/* It ended now; only the time is noted.  -1: there is no such window, or it has ended. */
NVMTOP_PUBLIC int nvmtop_energy_end(nvmtop_window window);

typedef struct nvmtop_rail {
	int64_t signal;		/* its number */
	double joules;		/* NaN: power was not read in this time */
	double within;		/* the bound of their error for 95 %; NaN: it is not known over which time power is averaged */
	double known_s;		/* for so long power is known; less than the window where readings are missing */
	double guessed_s;	/* of that, the time after the last reading, for which power is taken to stay as it was;
				 * `within` is wider for it.  0: there was a reading after the end */
	uint64_t readings;	/* of the time of the window */
} nvmtop_rail;

#define NVMTOP_POWERS 32
typedef struct nvmtop_joules {
	size_t size;		/* NVMTOP_JOULES_SIZE, set before the call */
	double seconds;		/* of the window */
	double joules, within, known_s, guessed_s;	/* of NVMTOP_POWER, as above; NaN if there is no such total */
	uint64_t readings;
	int64_t total;		/* the signal that is the total; -1: a sum of several, or there is none */
	uint64_t n;
	nvmtop_rail rail[NVMTOP_POWERS];	/* n of them: every signal in mW, the total among them */
} nvmtop_joules;
#define NVMTOP_JOULES_SIZE (sizeof(nvmtop_joules))

/* The joules of a window by the estimator of recordings (docs/accuracy.md); of one that has not ended, up to now.
 * wait_ns: how long to wait for the next reading after the end, some 10 ms on most boards; -1: as long as it takes;
 * 0: not at all, the rest is then guessed.  The window stays, and can be asked again. */
NVMTOP_PUBLIC int nvmtop_energy_result(nvmtop_window window, int64_t wait_ns, nvmtop_joules *joules, nvmtop_error *error);

/* Takes the power of an idle window, as its mean, for the baseline of another result, and subtracts it there; the
 * bounds of both are added as those of independent errors.  -1: a size is unknown to this library, or idle has no time. */
NVMTOP_PUBLIC int nvmtop_energy_subtract(nvmtop_joules *joules, const nvmtop_joules *idle);

/* Releases a window, whether it has ended or not.  -1: there is no such window. */
NVMTOP_PUBLIC int nvmtop_energy_forget(nvmtop_window window);

#ifdef __cplusplus
}
#endif
#endif
