/* units: the items of control.h with the kernel files behind them, for what lists and what changes them. */
#ifndef NVMTOP_CONTROL_UNITS_H
#define NVMTOP_CONTROL_UNITS_H

#include "control/control.h"

#define CONTROL_NVPMODEL      "/usr/sbin/nvpmodel"
#define CONTROL_JETSON_CLOCKS "/usr/bin/jetson_clocks"
#define CONTROL_SYSTEMCTL     "/usr/bin/systemctl"
#define CONTROL_SWAP_LEAST    (64 * 1024 * 1024) /* bytes */

struct control_file {
	char path[192];
	char text[64]; /* what it has, or is to have */
};

struct control_unit {
	struct control_item item;
	/* What a change of it writes, or has others write: of clocks min and max of each device or a cap; of a fan the
	 * speed and what switches its control on; of mode and "clocks" those of all clocks, of "clocks" the fans', too. */
	struct control_file *files;
	size_t n;
};
struct control_units {
	struct control_unit *at; /* n, in the order of kind */
	size_t n;
};
int control_units(const struct board *b, const struct root *r, struct control_units *u, struct err *e);
void control_units_free(struct control_units *u);
struct control_unit *control_unit_find(const struct control_units *u, const char *name); /* NULL: none */

/* The factor from the number in a file of clocks to Hz. */
int64_t control_scale(const char *path);
bool control_is_max(
	const char *path); /* the highest clock of a device, which has a lowest, in the file before it */

/* Is nvfancontrol here? */
enum control_service { SERVICE_NONE, SERVICE_STOPPED, SERVICE_ACTIVE };
enum control_service control_fan_service(const struct root *r);

#endif
