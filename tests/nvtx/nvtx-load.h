/* nvtx-load: what NVTX does in a program, without its headers: tables of functions that an injection
 * library fills.  nvtx_load() is the loader of version 3, nvtx_load_2() that of libnvToolsExt.so.1. */
#ifndef NVTX_LOAD_H
#define NVTX_LOAD_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

enum nvtx_attr_payload { ATTR_U64 = 1, ATTR_I64, ATTR_DOUBLE, ATTR_U32, ATTR_I32, ATTR_FLOAT };

struct nvtx_attr {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type, reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		uint32_t u32;
		int32_t i32;
		float f32;
	} payload;
	int32_t message_type;
	union {
		const char *text;
		const wchar_t *wide;
		void *registered;
	} message;
};

/* The two modules, each with its functions in the order of their numbers. */
struct nvtx_calls {
	void (*none)(void);
	void (*mark_ex)(const struct nvtx_attr *);
	void (*mark_a)(const char *);
	void (*mark_w)(const wchar_t *);
	uint64_t (*start_ex)(const struct nvtx_attr *);
	uint64_t (*start_a)(const char *);
	uint64_t (*start_w)(const wchar_t *);
	void (*end)(uint64_t);
	int (*push_ex)(const struct nvtx_attr *);
	int (*push_a)(const char *);
	int (*push_w)(const wchar_t *);
	int (*pop)(void);
	void (*category_a)(uint32_t, const char *);
	void (*category_w)(uint32_t, const wchar_t *);
	void (*thread_a)(uint32_t, const char *);
	void (*thread_w)(uint32_t, const wchar_t *);

	void (*none2)(void);
	void (*domain_mark)(void *, const struct nvtx_attr *);
	uint64_t (*domain_start)(void *, const struct nvtx_attr *);
	void (*domain_end)(void *, uint64_t);
	int (*domain_push)(void *, const struct nvtx_attr *);
	int (*domain_pop)(void *);
	void *(*resource)(void *, void *);
	void (*resource_end)(void *);
	void (*domain_category_a)(void *, uint32_t, const char *);
	void (*domain_category_w)(void *, uint32_t, const wchar_t *);
	void *(*register_a)(void *, const char *);
	void *(*register_w)(void *, const wchar_t *);
	void *(*domain_a)(const char *);
	void *(*domain_w)(const wchar_t *);
	void (*domain_destroy)(void *);
	void (*initialize)(const void *);
};

static struct nvtx_calls nvtx;
static void (**nvtx_slots[32])(void);
static int nvtx_version;

static int nvtx_table(int module, void (****out)(void), unsigned *n)
{
	if (module != 1 && module != 5)
		return 0;
	for (int i = 0; i < 32; i++) /* the first is none */
		nvtx_slots[i] =
			i % 16 ? (void (**)(void))(void *)((char *)&nvtx + (size_t)i * sizeof nvtx.none)
			       : NULL;
	*out = nvtx_slots + (module == 5 ? 16 : 0);
	*n = 16;
	return 1;
}

static void nvtx_tool(uint32_t version)
{
	(void)version;
}

static const void *nvtx_export(uint32_t id)
{
	static const struct {
		size_t size;
		int (*table)(int, void (****)(void), unsigned *);
	} callbacks = {sizeof callbacks, nvtx_table};
	static struct {
		size_t size;
		uint32_t version, reserved;
		void (*tool)(uint32_t);
	} version = {sizeof version, 3, 0, nvtx_tool};

	version.version = (uint32_t)nvtx_version;
	return id == 1 ? (const void *)&callbacks : id == 3 ? (const void *)&version : NULL;
}

static inline int nvtx_load_by(const char *library, const char *symbol, int version)
{
	void *handle = dlopen(library, RTLD_LAZY);
	int (*init)(const void *(*)(uint32_t)) = NULL;

	nvtx_version = version;
	if (handle)
		*(void **)&init = dlsym(handle, symbol);
	if (!init || !init(nvtx_export)) {
		if (handle)
			dlclose(handle);
		memset(&nvtx, 0, sizeof nvtx);
		return 0;
	}
	return 1;
}

static inline int nvtx_load(const char *library)
{
	return nvtx_load_by(library, "InitializeInjectionNvtx2", 3);
}

static inline int nvtx_load_2(const char *library)
{
	return nvtx_load_by(library, "InitializeInjectionNvtx", 2);
}

#endif
