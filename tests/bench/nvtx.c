/* What a range costs the program: CPU time of PushA and Pop of a name of 50 characters, with an empty
 * tool, with ours and no recorder, and with a recorder that keeps up.
 *   gcc -O2 -shared -fPIC -DEMPTY -o empty.so tests/bench/nvtx.c
 *   gcc -O2 -D_GNU_SOURCE -Isrc -Itests -o bench-nvtx tests/bench/nvtx.c -ldl -lpthread
 *   ./bench-nvtx ./empty.so ./libnvmtop-nvtx.so */
#ifdef EMPTY
static __thread int depth;

static int push(const char *name)
{
	(void)name;
	return depth++;
}

static int pop(void)
{
	return --depth;
}

int InitializeInjectionNvtx2(const void *(*get)(unsigned));
int InitializeInjectionNvtx2(const void *(*get)(unsigned))
{
	const struct {
		unsigned long size;
		int (*table)(int, void (****)(void), unsigned *);
	} *c = get(1);
	void (***t)(void);
	unsigned n;

	c->table(1, &t, &n);
	*t[9] = (void (*)(void))push;
	*t[11] = (void (*)(void))pop;
	return 1;
}
#else
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "nvtx/nvtx-load.h"
#include "nvtx/nvtx-file.h"

enum { RANGES = 5000, BURSTS = 200 };
static const char name[] = "a name of fifty characters, as a layer's name is 1";
_Static_assert(sizeof name == 51, "50 characters");

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The fastest and the median burst, ns. */
struct result {
	double burst[BURSTS];
};

static int later(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : 1;
}

static void *run(void *arg)
{
	struct result *r = arg;

	for (int b = 0; b < BURSTS; b++) {
		double t = cpu();

		for (int i = 0; i < RANGES; i++) {
			nvtx.push_a(name);
			nvtx.pop();
		}
		r->burst[b] = (cpu() - t) / RANGES;
		usleep(4000); /* lets the recorder empty the ring */
	}
	qsort(r->burst, BURSTS, sizeof *r->burst, later);
	return r;
}

static void measure(const char *what, const char *library, int threads, int recorder)
{
	char folder[] = "/dev/shm/bench-nvtx-XXXXXX", path[300], lock[300];
	static struct result r[8];
	pthread_t id[8];
	int status, fd, ready[2];
	struct nvtx_head *h = NULL;
	pid_t pid;

	if (!mkdtemp(folder) || pipe(ready) < 0)
		exit(1);
	snprintf(lock, sizeof lock, "%s/%s", folder, NVTX_RECORDER);
	fd = nvtx_file_recorder(folder, recorder);
	setenv("NVMTOP_NVTX_DIR", folder, 1);
	setenv("NVMTOP_NVTX", "all", 0);
	fflush(stdout);
	if (!(pid = fork())) {
		double least = 1e9, mean = 0;

		close(fd);
		if (!nvtx_load(library))
			exit(1);
		if (write(ready[1], "", 1) < 0)
			exit(1);
		for (int i = 0; i < threads; i++)
			pthread_create(&id[i], NULL, run, &r[i]);
		for (int i = 0; i < threads; i++) {
			pthread_join(id[i], NULL);
			mean += r[i].burst[BURSTS / 2] / threads;
			least = r[i].burst[0] < least ? r[i].burst[0] : least;
		}
		printf("%-12s %d threads: median %6.1f ns, least %6.1f ns", what, threads, mean, least);
		fflush(stdout);
		exit(0);
	}
	if (read(ready[0], path, 1) == 1 && recorder && nvtx_file_path(folder, 0, path, sizeof path))
		h = nvtx_file_open(path);
	uint64_t n = 0;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		n += h ? nvtx_file_drain(h, NULL, NULL) : 0;
		usleep(1000);
	}
	n += h ? nvtx_file_drain(h, NULL, NULL) : 0;
	printf(", %llu records, %llu dropped\n", (unsigned long long)n, (unsigned long long)(h ? h->lost[NVTX_LOST_FULL] : 0));
	if (h)
		unlink(path);
	unlink(lock);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	for (int threads = 1; threads <= 8; threads += 7) {
		measure("empty", argv[1], threads, 0);
		measure("no recorder", argv[2], threads, 0);
		measure("recorder", argv[2], threads, 1);
	}
	return 0;
}
#endif
