/* conf: the lines of NVIDIA's nvpmodel.conf and nvfancontrol.conf. */
#ifndef NVMTOP_BOARD_CONF_H
#define NVMTOP_BOARD_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "util/root.h"

#define CONF_MODES      "/etc/nvpmodel.conf"
#define CONF_FAN        "/etc/nvfancontrol.conf"
#define CONF_FAN_STATUS "/var/lib/nvfancontrol/status"
#define CONF_MODE_STATUS "/var/lib/nvpmodel/status"

/* A line that has words: "< POWER_MODEL ID=2 NAME=MODE_30W >" begins a section, "GPU MAX_FREQ 612000000" is in one.
 * '#' begins a comment anywhere but in quotes. */
struct conf_line {
	bool begins; /* a section; the words are without < and > */
	size_t n;
	char text[256];
	const char *words[8];
};

/* Gets the text of a configuration, to be freed; NULL: there is none. */
char *conf_text(const struct root *r, const char *path);
/* Takes the next line at *at (NULL: there is none), and moves *at behind it. Returns false at the end. */
bool conf_next(const char **at, struct conf_line *l);

/* The value of a word such as "ID=2" for "ID=", or "". */
const char *conf_value(const struct conf_line *l, const char *key);
/* Is it the line of a mode? */
bool conf_mode(const struct conf_line *l, int64_t *id, const char **name);
#define CONF_PROFILES 32
/* Gets the names of fan profiles, and the one that is the default or "". Returns their number. */
size_t conf_profiles(const struct root *r, char names[CONF_PROFILES][48], char usual[48]);
/* Gets the number of the power mode from its status file, which is wrong where nvpmodel failed; its name by the
 * configuration. Numbers mean different modes on different modules, so a mode without a name is not reported. */
bool conf_mode_now(const struct root *r, int64_t *id);
bool conf_mode_name(const struct root *r, int64_t id, char name[48]);
/* Does nvfancontrol regulate the fans? systemd keeps a folder of processes for each service that runs. */
bool conf_fan_regulated(const struct root *r);
/* Gets the file beside that of a fan's speed in which its control is switched: X_enable, of which above 1 is automatic, or
 * temp_control, of which 1 is. Returns false if there is none. */
bool conf_fan_control(const struct root *r, const char *pwm, char out[256]);

#endif
