/* META begins each group. Once a level 2 span it describes the log, so that it can be read from there on; the others
 * have only the clocks. */
#include "trace/log-output.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "trace/format.h"

static size_t tag_begin(struct log_bytes *raw, unsigned tag)
{
	log_put_u16(raw, tag);
	log_put_u32(raw, 0);
	return raw->n;
}

static void tag_end(struct log_bytes *raw, size_t start)
{
	if (!raw->failed)
		put_u32(raw->p + start - 4, (uint32_t)(raw->n - start));
}

static void put_anchor(struct log_bytes *raw, unsigned tag, const struct clock_anchor *a)
{
	size_t start = tag_begin(raw, tag);

	log_anchor_put(raw, a);
	tag_end(raw, start);
}

static void put_channel(struct log_bytes *raw, const struct channel *c, uint32_t number)
{
	struct log_channel to = {.number = number, .c = *c};
	size_t start = tag_begin(raw, LOG_TAG_CHANNEL);

	snprintf(to.kind, sizeof(to.kind), "%s", channel_kind_name(c->kind));
	snprintf(to.unit, sizeof(to.unit), "%s", unit_name(c->unit));
	snprintf(to.family, sizeof(to.family), "%s", family_name(c->family));
	log_channel_put(raw, &to);
	log_put_str(raw, "");
	log_put_i64(raw, c->window_ns);
	log_put_i64(raw, c->age_ns);
	tag_end(raw, start);
}

void out_meta_make(struct log_out *o, const struct clock_anchor *now, bool full)
{
	struct log_bytes *raw = &o->raw;
	const struct session *about = &o->about;
	char previous[PATH_MAX] = "";
	size_t start;

	log_bytes_reset(raw);
	put_anchor(raw, LOG_TAG_ANCHOR, now);
	if (full) {
		start = tag_begin(raw, LOG_TAG_WRITER);
		log_put_str(raw, PACKAGE_NAME " " PACKAGE_VERSION);
		tag_end(raw, start);
		start = tag_begin(raw, LOG_TAG_ID);
		log_bytes_put(raw, o->options.uuid, sizeof(o->options.uuid));
		log_bytes_put(raw, o->boot, sizeof(o->boot));
		tag_end(raw, start);
		start = tag_begin(raw, LOG_TAG_PART);
		log_put_u32(raw, o->n_files > 1 ? (uint32_t)o->n_files - 1 : 0);
		if (o->n_files > 1)
			part_path(o->path, o->files[o->n_files - 2].number, previous, sizeof(previous));
		log_put_str(raw, basename(previous));
		tag_end(raw, start);
		put_anchor(raw, LOG_TAG_START, &o->start);
	}
	for (enum tier t = 0; full && t < TIERS; t++) {
		start = tag_begin(raw, LOG_TAG_TIER);
		log_put_u8(raw, t);
		log_put_u8(raw, about->hz[t] > 0 ? (unsigned)zoom_base(about->hz[t]) : 0);
		log_put_u16(raw, (unsigned)about->width[t]);
		log_put_f64(raw, about->hz[t]);
		tag_end(raw, start);
	}
	for (size_t i = 0; full && i < about->n_facts; i++) {
		start = tag_begin(raw, LOG_TAG_FACT);
		log_fact_put(raw, &o->facts[i]);
		tag_end(raw, start);
	}
	for (size_t i = 0; full && i < about->n_channels; i++)
		put_channel(raw, &about->channels[i], (uint32_t)i);
	start = tag_begin(raw, LOG_TAG_RANGES);
	log_put_u8(raw, o->any_ranges);
	tag_end(raw, start);
}

static void read_boot_id(uint8_t id[16])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char text[64] = "", *p = text;

	if (f && fgets(text, sizeof(text), f))
		for (int n = 0; n < 16 && sscanf(p, "%2hhx", &id[n]) == 1; n++)
			p += p[2] == '-' ? 3 : 2;
	if (f)
		fclose(f);
}

void out_identify(struct log_out *o)
{
	static const uint8_t zeros[16];
	uint8_t *uuid = o->options.uuid;

	while (o->options.session == 0 && getrandom(&o->options.session, sizeof(o->options.session), 0) > 0)
		continue;
	if (!memcmp(uuid, zeros, sizeof(zeros)) && getrandom(uuid, sizeof(zeros), 0) > 0) {
		uuid[6] = (uint8_t)(0x40 | (uuid[6] & 0x0F)); /* RFC 4122, random */
		uuid[8] = (uint8_t)(0x80 | (uuid[8] & 0x3F));
	}
	if (log_is_now(o->log))
		read_boot_id(o->boot);
}
