/* META begins each group. Once a level 2 span it describes the log, so that it can be read from there on; the others
 * have only the clocks. */
#include "trace/log-meta.h"

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

static void put_identity(struct log_bytes *raw, const struct log_meta *m)
{
	size_t start = tag_begin(raw, LOG_TAG_WRITER);

	log_put_str(raw, PACKAGE_NAME " " PACKAGE_VERSION);
	tag_end(raw, start);
	start = tag_begin(raw, LOG_TAG_ID);
	log_bytes_put(raw, m->options->uuid, sizeof(m->options->uuid));
	log_bytes_put(raw, m->boot, 16);
	tag_end(raw, start);
	start = tag_begin(raw, LOG_TAG_PART);
	log_put_u32(raw, m->options->part);
	log_put_str(raw, m->options->previous ? m->options->previous : "");
	tag_end(raw, start);
}

static void put_tiers(struct log_bytes *raw, const struct session *about)
{
	for (enum tier t = 0; t < TIERS; t++) {
		size_t start = tag_begin(raw, LOG_TAG_TIER);

		log_put_u8(raw, t);
		log_put_u8(raw, about->hz[t] > 0 ? (unsigned)zoom_base(about->hz[t]) : 0);
		log_put_u16(raw, (unsigned)about->width[t]);
		log_put_f64(raw, about->hz[t]);
		tag_end(raw, start);
	}
}

void log_meta_put(struct log_bytes *raw, const struct log_meta *m)
{
	size_t start;

	put_anchor(raw, LOG_TAG_ANCHOR, m->now);
	if (m->full) {
		put_identity(raw, m);
		put_anchor(raw, LOG_TAG_START, m->start);
		put_tiers(raw, m->about);
	}
	for (size_t i = 0; m->full && i < m->about->n_facts; i++) {
		start = tag_begin(raw, LOG_TAG_FACT);
		log_fact_put(raw, &m->facts[i]);
		tag_end(raw, start);
	}
	for (size_t i = 0; m->full && i < m->about->n_channels; i++)
		put_channel(raw, &m->about->channels[i], (uint32_t)i);
	start = tag_begin(raw, LOG_TAG_RANGES);
	log_put_u8(raw, m->any_ranges);
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

static bool is_zero(const uint8_t *p, size_t n)
{
	while (n > 0 && p[n - 1] == 0)
		n--;
	return n == 0;
}

void log_identify(struct log_options *o, uint8_t boot[16])
{
	while (o->session == 0 && getrandom(&o->session, sizeof(o->session), 0) > 0)
		continue;
	if (is_zero(o->uuid, sizeof(o->uuid)) && getrandom(o->uuid, sizeof(o->uuid), 0) > 0) {
		o->uuid[6] = (uint8_t)(0x40 | (o->uuid[6] & 0x0F)); /* RFC 4122, random */
		o->uuid[8] = (uint8_t)(0x80 | (o->uuid[8] & 0x3F));
	}
	if (o->live)
		read_boot_id(boot);
}
