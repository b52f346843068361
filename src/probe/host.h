/* host: what the screen shows of the machine and no trace keeps: the serial number, versions of libraries,
 * disks, addresses and the uptime. */
#ifndef NVMTOP_PROBE_HOST_H
#define NVMTOP_PROBE_HOST_H

#include "util/root.h"

#define HOST_DISKS 8
#define HOST_NETS  8

enum host_library { HOST_CUDA, HOST_TENSORRT, HOST_CUDNN, HOST_VPI, HOST_OPENCV, HOST_LIBRARIES };

/* All texts are printable; "" is not known. */
struct host {
	bool installed; /* serial and version were read */
	char serial[64];
	char version[HOST_LIBRARIES][32]; /* "12.6.68" */
	double uptime_s;		  /* NaN: not known */
	struct {
		char mount[64];
		double bytes, free; /* free to users without privileges */
	} disks[HOST_DISKS];
	struct {
		char name[16], address[48];
	} nets[HOST_NETS];
	size_t n_disks, n_nets;
};

const char *host_library_name(enum host_library l); /* "CUDA"; not translated */

/* Reads the files below root: the installed versions only if !h->installed, the rest always. Disks and
 * addresses are those of the running machine and are read only if root is "/". May block on a disk. */
void host_read(const struct root *r, struct host *h);

/* Returns the seconds since the machine started, or NaN. */
double host_uptime(const struct root *r);

/* Takes the versions of installed packages from the text of dpkg's status file. */
void host_packages(const char *status, struct host *h);

#endif
