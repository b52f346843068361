/* nvtx-inject: the interface of an NVTX injection library.
 *
 * A program that uses NVTX loads the library that NVTX_INJECTION64_PATH names at its
 * first call and lets it fill the tables of its functions: each dynamic object with the
 * headers of version 3 has tables of its own, libnvToolsExt.so.1 of version 2 has one.
 * The layout is NVTX's binary interface, written from its documentation, without its headers. */
#include "nvtx/nvtx-local.h"

typedef void function(void);

struct callbacks {
	size_t size;
	int (*table)(int module, function ***(*out), unsigned *n); /* pointers to what is to be set */
};

struct version {
	size_t size;
	uint32_t version, reserved;
	void (*set_tool)(uint32_t version);
};

_Static_assert(sizeof(struct nvtx_attributes) == 48 && offsetof(struct nvtx_attributes, payload) == 24 &&
		       offsetof(struct nvtx_attributes, message_type) == 32,
	       "nvtxEventAttributes_t of 64 bit");

/* A domain's handle is its number. */
static uint32_t number(const void *domain)
{
	return (uintptr_t)domain < NVTX_DOMAINS ? (uint32_t)(uintptr_t)domain : NVTX_OVER;
}

/* The message of attributes, and these; none if they are not whole. */
#define WHOLE(a)                                                                                             \
	(a) && (a)->size >= sizeof *(a) ? STRING((a)->message, (enum nvtx_type)(a)->message_type)            \
					: STRING(NULL, NVTX_NO_STRING),                                      \
		(a) && (a)->size >= sizeof *(a) ? (a) : NULL
#define STRING(s, type) ((struct nvtx_string) {(s), (type)})

/* clang-format off */
static void domain_mark(const void *d, const struct nvtx_attributes *a) { nvtx_mark(number(d), WHOLE(a)); }
static uint64_t domain_start(const void *d, const struct nvtx_attributes *a) { return nvtx_start(number(d), WHOLE(a)); }
static void domain_end(const void *d, uint64_t id) { nvtx_end(number(d), id); }
static int domain_push(const void *d, const struct nvtx_attributes *a) { return nvtx_push(number(d), WHOLE(a)); }
static int domain_pop(const void *d) { return nvtx_pop(number(d)); }
static void mark_ex(const struct nvtx_attributes *a) { nvtx_mark(0, WHOLE(a)); }
static uint64_t start_ex(const struct nvtx_attributes *a) { return nvtx_start(0, WHOLE(a)); }
static void end(uint64_t id) { nvtx_end(0, id); }
static int push_ex(const struct nvtx_attributes *a) { return nvtx_push(0, WHOLE(a)); }
static int pop(void) { return nvtx_pop(0); }

/* What has a string, for each type of string. */
#define FUNCTIONS(as, character, type) \
static void mark_##as(const character *s) { nvtx_mark(0, STRING(s, type), NULL); } \
static uint64_t start_##as(const character *s) { return nvtx_start(0, STRING(s, type), NULL); } \
static int push_##as(const character *s) { return nvtx_push(0, STRING(s, type), NULL); } \
static void category_##as(uint32_t n, const character *s) { nvtx_name(NVTX_CATEGORY, 0, n, STRING(s, type)); } \
static void thread_##as(uint32_t tid, const character *s) { nvtx_name(NVTX_THREAD, 0, tid, STRING(s, type)); } \
static void domain_category_##as(const void *d, uint32_t n, const character *s) \
{ nvtx_name(NVTX_CATEGORY, number(d), n, STRING(s, type)); } \
static void *register_##as(const void *d, const character *s) { (void)d; return nvtx_register(STRING(s, type)); } \
static void *domain_##as(const character *s) { return (void *)(uintptr_t)nvtx_domain(STRING(s, type)); }
FUNCTIONS(a, char, NVTX_TEXT)
FUNCTIONS(w, wchar_t, NVTX_WIDE)

/* Resources, and the end of a domain. */
static void *nothing(void) { return NULL; }

#define F(f) (function *)(f)
static function *const core[] = {
	NULL,	   F(mark_ex), F(mark_a), F(mark_w),  F(start_ex), F(start_a),	F(start_w),  F(end),
	F(push_ex), F(push_a),	F(push_w), F(pop), F(category_a), F(category_w), F(thread_a), F(thread_w),
};
static function *const core2[] = {
	NULL,	    F(domain_mark), F(domain_start), F(domain_end), F(domain_push), F(domain_pop),
	F(nothing), F(nothing), F(domain_category_a), F(domain_category_w), F(register_a), F(register_w),
	F(domain_a), F(domain_w),   F(nothing),	     F(nothing),
};

/* clang-format on */

static int fill(const struct callbacks *c, int module, function *const *with)
{
	function ***table = NULL;
	unsigned n = 0, i;

	if (!c->table(module, &table, &n) || !table)
		return 0;
	for (i = 1; i < n && i < sizeof core / sizeof *core; i++)
		if (table[i])
			*table[i] = with[i];
	return 1;
}

static int inject(const void *(*get)(uint32_t))
{
	const struct callbacks *c = get(1);
	const struct version *v = get(3);

	if (!c || c->size < sizeof *c || !nvtx_open() || !fill(c, 1, core))
		return 0;
	fill(c, 5, core2);
	if (v && v->size >= sizeof *v && v->set_tool)
		v->set_tool(v->version);
	return 1;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*get)(uint32_t));
__attribute__((visibility("default"))) int InitializeInjectionNvtx(const void *(*get)(uint32_t));

int InitializeInjectionNvtx2(const void *(*get)(uint32_t))
{
	return inject(get);
}

int InitializeInjectionNvtx(const void *(*get)(uint32_t))
{
	return inject(get);
}
