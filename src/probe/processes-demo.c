/* Makes up the processes of the demo: what runs at each point of the story that boards/demo.board tells. */
#include <math.h>
#include <stdio.h>

#include "probe/processes.h"

#define ROUND_S 48.0
#define EVERY_S 1.5 /* as real ones are read */
#define PHASES  5   /* load, camera, batch, half rate, idle */

static const double phase_ends_s[PHASES] = {5, 24, 36, 40, ROUND_S};

#define KTHREAD 2 /* the parent of kernel threads */

static const struct made_up {
	int pid, parent;
	const char *user, *name, *command;
	long threads;
	double cpu[PHASES], rss_kb, gpu_kb[PHASES]; /* 0: does not use the GPU */
	double age_s;				    /* when the demo begins */
} table[] = {
	{1, 0, "root", "systemd", "/sbin/init", 1, {0}, 12844, {0}, 93100},
	{2, 0, "root", "[kthreadd]", "", 1, {0}, 0, {0}, 93100},
	{113, 2, "root", "[nvgpu_channel_p]", "", 1, {3, 5, 6, 4, 0.1}, 0, {0}, 93097},
	{127, 2, "root", "[kworker/u24:3-events_unbound]", "", 1, {0.6, 1.4, 0.8, 1, 0.2}, 0, {0}, 8120},
	{612, 1, "root", "nvargus-daemon", "/usr/sbin/nvargus-daemon", 14, {2, 31, 4, 18, 0.4}, 141300,
	 {91e3, 312e3, 312e3, 312e3, 91e3}, 93084},
	{655, 1, "root", "nvfancontrol", "/usr/sbin/nvfancontrol", 2, {0.2, 0.2, 0.3, 0.2, 0.1}, 4120, {0}, 93084},
	{981, 1, "gdm", "Xorg", "/usr/lib/xorg/Xorg vt1", 9, {1, 2, 1, 2, 0.3}, 96210,
	 {48e3, 48e3, 48e3, 48e3, 48e3}, 93080},
	{1204, 981, "nvidia", "gnome-shell", "/usr/bin/gnome-shell", 18, {2, 3, 2, 3, 0.7}, 301700,
	 {131e3, 131e3, 131e3, 131e3, 131e3}, 93069},
	{2291, 1, "root", "dockerd", "/usr/bin/dockerd -H fd:// --containerd=/run/containerd/containerd.sock", 22,
	 {1, 0.4, 0.4, 0.4, 0.3}, 88400, {0}, 93075},
	{4172, 2291, "nvidia", "python3", "python3 /opt/models/yolo/detect.py --camera 0 --engine yolov8m.plan --conf 0.4",
	 31, {118, 142, 52, 88, 2}, 2.1e6, {3.2e6, 6.7e6, 6.7e6, 6.7e6, 4.2e5}, 4230},
	{4188, 4172, "nvidia", "gst-launch-1.0",
	 "gst-launch-1.0 nvarguscamerasrc ! nvv4l2h265enc bitrate=8000000 ! h265parse ! rtspclientsink "
	 "location=rtsp://127.0.0.1:8554/front",
	 17, {8, 46, 5, 24, 1}, 212e3, {1.1e5, 6.3e5, 6.3e5, 6.3e5, 1.1e5}, 4228},
	{4307, 2291, "nvidia", "python3",
	 "/usr/bin/python3 -m vllm.entrypoints.openai.api_server --model /opt/models/llama-8b --max-model-len 8192",
	 12, {96, 3, 61, 4, 0.5}, 3.3e6, {5.5e6, 8.6e6, 15.2e6, 8.6e6, 3.2e5}, 3415},
	{4410, 1, "nvidia", "tegrastats", "/usr/bin/tegrastats --interval 1000", 1, {0.6, 0.6, 0.6, 0.6, 0.6}, 3800,
	 {0}, 611},
};
#define N (sizeof table / sizeof *table)

/* Between 0.85 and 1.15, another one for each reading and process. */
static double wobble(uint64_t serial, size_t i)
{
	uint64_t h = (serial * 16 + i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return 0.85 + 0.3 * (double)(h >> 40) / (double)(1 << 24);
}

static void make_up(struct proc *p, size_t i, int phase, uint64_t serial, double t_s)
{
	const struct made_up *m = &table[i];

	*p = (struct proc) {.pid = m->pid,
			    .parent = m->parent,
			    .start = (uint64_t)m->pid,
			    .state = m->cpu[phase] >= 50 ? 'R' : 'S',
			    .kernel = m->pid == KTHREAD || m->parent == KTHREAD,
			    .gpu = m->gpu_kb[phase] > 0,
			    .cpu = serial > 1 ? m->cpu[phase] * wobble(serial, i) : (double)NAN,
			    .rss_kb = m->rss_kb,
			    .gpu_kb = m->gpu_kb[phase],
			    .age_s = m->age_s + fmax(t_s, 0),
			    .threads = m->threads};
	snprintf(p->name, sizeof p->name, "%s", m->name);
	snprintf(p->command, sizeof p->command, "%s", m->command);
	snprintf(p->user, sizeof p->user, "%s", m->user);
}

const struct procs_list *procs_demo(double t_s)
{
	static struct proc procs[N];
	static struct procs_list list = {.n = N, .procs = procs};
	uint64_t serial = (uint64_t)(fmax(t_s, 0) / EVERY_S) + 1;
	double at = fmod(fmax(t_s, 0), ROUND_S);
	int phase = 0;

	if (serial == list.serial)
		return &list;
	while (at >= phase_ends_s[phase])
		phase++;
	list.serial = serial;
	for (size_t i = 0; i < N; i++)
		make_up(&procs[i], i, phase, serial, t_s);
	return &list;
}
