/* nvmtop: record a Jetson, and read what was recorded, from another program.
 *
 *	cc program.c $(pkg-config --cflags --libs nvmtop)
 *
 * A recording samples on threads of its own, in which every signal is blocked,
 * and changes neither the locale nor any signal handler of the program.  The first
 * nvmtop_open() installs a handler of SIGBUS, which survives that a trace is made
 * shorter while it is read, and passes everything else on to the one before it.
 *
 * Threads: functions of different recorders and traces may be called at the
 * same time.  Of one recorder, nvmtop_sync(), nvmtop_sample_count(),
 * nvmtop_is_running() and nvmtop_wait_for_warmup() may be called from any thread
 * at any time before nvmtop_free(); everything about one open trace only reads.
 *
 * Errors: functions that return int return 0 for success and -1 for failure,
 * those that return a pointer NULL, and put a code and a sentence into *error,
 * which may be NULL where it does not matter.
 *
 * Stability: what is here stays as it is while NVMTOP_API_VERSION's major number
 * (its hundreds) does.  Structs begin with their size; NVMTOP_*_INIT sets it. */
#ifndef NVMTOP_NVMTOP_H
#define NVMTOP_NVMTOP_H

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

/* Of this header; nvmtop_api_version() is that of the library that runs. */
#define NVMTOP_API_VERSION 101
NVMTOP_PUBLIC int nvmtop_api_version(void);
NVMTOP_PUBLIC const char *nvmtop_version(void);	/* "0.1.0" */

enum {
	NVMTOP_OK = 0,
	NVMTOP_FAILED = 1,	/* a file, the kernel or the disk said no */
	NVMTOP_USAGE = 2,	/* asked for something that cannot be */
	NVMTOP_DAMAGED = 3	/* a trace was damaged; what could be read is there */
};

typedef struct nvmtop_error {
	int code;		/* one of the above */
	char text[768];		/* a sentence: what, where, what to do; "" when all is well */
} nvmtop_error;

/* ---- boards ---- */

/* The board that this machine is: name ("agx_orin", for nvmtop_options.board),
 * title ("Jetson AGX Orin") and why it is taken for that, each cut to its size;
 * any of them may be NULL with size 0.  "generic" on what is no Jetson. */
NVMTOP_PUBLIC int nvmtop_detect_board(char *name, size_t name_size, char *title, size_t title_size, char *why,
				      size_t why_size, nvmtop_error *error);

/* ---- recording ---- */

typedef struct nvmtop_recorder nvmtop_recorder;

typedef struct nvmtop_options {
	size_t size;		/* sizeof(nvmtop_options) */
	const char *board;	/* a name, or the path of a board file; NULL: the one that is recognised */
	const char *sysroot;	/* read everything of the kernel below this folder; NULL: "/" */
	double fast_hz;		/* GPU, CPU, memory, EMC: 0.1 .. 10000; 0: 1000 */
	double medium_hz;	/* power rails, clocks; 0: 100 */
	double slow_hz;		/* temperatures; 0: 10 */
	int force;		/* overwrite a file that is there */
	int gentle;		/* read the GPU less than twice a second, so that it can fall asleep */
	/* since 101 */
	int marks;		/* take the marks of other programs, too (nvmtop --mark, nvmtop/mark.h): a
				 * socket and a thread for them, of one recorder in a process */
} nvmtop_options;
#define NVMTOP_OPTIONS_INIT { sizeof(nvmtop_options), NULL, NULL, 0, 0, 0, 0, 0, 0 }

/* Begin to record into path; options may be NULL.  The folder, the name and the
 * room on the disk are checked now.  Rows go to PATH.part meanwhile, and the name
 * appears when the file is complete, in nvmtop_stop(). */
NVMTOP_PUBLIC nvmtop_recorder *nvmtop_start(const char *path, const nvmtop_options *options, nvmtop_error *error);

/* Wait until every signal has its first value and each CPU figure its window
 * behind it, at most timeout_ms (-1: for ever).  1: warm, 0: not yet. */
NVMTOP_PUBLIC int nvmtop_wait_for_warmup(nvmtop_recorder *recorder, int timeout_ms);

/* A sync mark, now: a new epoch begins with the next fast sample.  label may be
 * NULL; of a longer one 63 bytes are kept.  Its id: 1, 2, 3, ...; 0 when the recording is over. */
NVMTOP_PUBLIC uint64_t nvmtop_sync(nvmtop_recorder *recorder, const char *label);

/* Fast samples that were handed to the file so far. */
NVMTOP_PUBLIC uint64_t nvmtop_sample_count(nvmtop_recorder *recorder);

/* 1 from nvmtop_start() until nvmtop_stop(), or until the disk fails. */
NVMTOP_PUBLIC int nvmtop_is_running(nvmtop_recorder *recorder);

/* End it; the file is complete and on the disk when this returns 0.  After a
 * failure *error says what is readable and where.  Later calls return the same. */
NVMTOP_PUBLIC int nvmtop_stop(nvmtop_recorder *recorder, nvmtop_error *error);

/* Stops first if need be.  NULL is fine. */
NVMTOP_PUBLIC void nvmtop_free(nvmtop_recorder *recorder);

/* ---- reading ---- */

typedef struct nvmtop_trace nvmtop_trace;

#define NVMTOP_CORES 16
#define NVMTOP_RAILS 8
#define NVMTOP_ZONES 16

typedef struct nvmtop_header {
	size_t size;		/* sizeof(nvmtop_header), set before the call */
	char board[33];
	uint32_t cores, rails, zones;	/* slots that are in use in each row */
	int emc;		/* was it sampled? */
	double hz[3];		/* fast, medium, slow */
	uint64_t rows[3];	/* that can be read; of a damaged file fewer than were recorded */
	uint64_t marks;
	double duration_s;
	int64_t start_real_ns;	/* CLOCK_REALTIME at time 0, or 0 when the file does not say */
	char rail_name[NVMTOP_RAILS][25];
	char zone_name[NVMTOP_ZONES][25];
} nvmtop_header;
#define NVMTOP_HEADER_SIZE (sizeof(nvmtop_header))

/* Rows as they lie in the file, version 1 of the format: packed, little-endian
 * (on a big-endian machine there are none).  Slots that are not in use are 0.  A
 * value that was not read is marked as each field says; that of the GPU reads as 0
 * here, as version 1 has nothing else for it: nvmtop_values() tells them apart. */
#if defined(__GNUC__)
#define NVMTOP_PACKED __attribute__((packed))
#else
#error "nvmtop.h needs packed structs"
#endif
typedef struct nvmtop_fast {
	double time_s;		/* since the start of the recording */
	uint16_t gpu_load;	/* tenths of a percent; 0 also when it was not read */
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

/* path: a trace, or a stream that was kept in a file.  Every count and offset of
 * it is checked.  A file that is cut short or
 * damaged opens with *error NVMTOP_DAMAGED and a sentence that says what is lost. */
NVMTOP_PUBLIC nvmtop_trace *nvmtop_open(const char *path, nvmtop_error *error);
NVMTOP_PUBLIC void nvmtop_close(nvmtop_trace *trace);	/* NULL is fine */

/* 0, or -1 when header->size is not one that this library knows. */
NVMTOP_PUBLIC int nvmtop_get_header(const nvmtop_trace *trace, nvmtop_header *header);

/* The rows of a tier in *n, in the file itself: valid until nvmtop_close().  Of
 * a file that another program makes shorter meanwhile the rest then reads as 0. */
NVMTOP_PUBLIC const nvmtop_fast *nvmtop_fast_rows(const nvmtop_trace *trace, uint64_t *n);
NVMTOP_PUBLIC const nvmtop_medium *nvmtop_medium_rows(const nvmtop_trace *trace, uint64_t *n);
NVMTOP_PUBLIC const nvmtop_slow *nvmtop_slow_rows(const nvmtop_trace *trace, uint64_t *n);

/* The stretch from one sync mark to the next.  There is always epoch 0, which
 * begins with the recording. */
typedef struct nvmtop_epoch {
	uint64_t id;		/* of the mark that began it; 0: none did */
	uint64_t first, n;	/* fast rows */
	double start_s, end_s;	/* of the marks; the last one ends with the recording */
	char label[64];
} nvmtop_epoch;

/* How many there are; the first `max` of them are put into out (NULL with max 0). */
NVMTOP_PUBLIC uint64_t nvmtop_epochs(const nvmtop_trace *trace, nvmtop_epoch *out, uint64_t max);

/* ---- signals: every value as it was sampled, also what version 1 has no room
 * for (clocks, fans, throttling, cores from the 17th on); since 101 ---- */

enum { NVMTOP_FAST = 0, NVMTOP_MEDIUM = 1, NVMTOP_SLOW = 2 };	/* tiers */

typedef struct nvmtop_signal {
	size_t size;		/* sizeof(nvmtop_signal), set before the call */
	int tier;
	char name[48];		/* unique and stable: "gpu.util", "cpu4.util", "VDD_IN.power" */
	char label[32];		/* for people: "GPU" */
	char unit[8];		/* "%", "Hz", "kB" (1024 bytes), "mV", "mA", "mW", "C", "rpm", "J", or "" */
	char source[160];	/* the kernel file, or the formula over other signals */
	char note[96];		/* "mean of 100 ms", "estimate"; may be "" */
	char missing[200];	/* why it has no value at all, or "" */
} nvmtop_signal;
#define NVMTOP_SIGNAL_SIZE (sizeof(nvmtop_signal))

/* How many signals there are; they are numbered from 0. */
NVMTOP_PUBLIC uint64_t nvmtop_signals(const nvmtop_trace *trace);

/* 0, or -1 when there is no such signal, or signal->size is not one that this
 * library knows. */
NVMTOP_PUBLIC int nvmtop_get_signal(const nvmtop_trace *trace, uint64_t index, nvmtop_signal *signal);

/* The number of the signal with that name; -1: there is none. */
NVMTOP_PUBLIC int64_t nvmtop_find_signal(const nvmtop_trace *trace, const char *name);

/* Times of the rows of a tier, in seconds since the start, never decreasing, and
 * values of a signal in these rows, in its unit; NaN: it was not read.  They go
 * into out, which has room for n.  Returned is how many there are: fewer than n at
 * the end of the tier, 0 when there is no such tier or signal. */
NVMTOP_PUBLIC uint64_t nvmtop_times(const nvmtop_trace *trace, int tier, uint64_t first, uint64_t n, double *out);
NVMTOP_PUBLIC uint64_t nvmtop_values(const nvmtop_trace *trace, uint64_t signal, uint64_t first, uint64_t n,
				     double *out);

#ifdef __cplusplus
}
#endif
#endif
