#!/bin/sh
# Programs with NVTX, unchanged: they load the library by NVTX_INJECTION64_PATH.  A made-up libnvToolsExt of
# version 2, and NVIDIA's headers of version 3, from $NVTX_INCLUDE or from beside these sources.
echo 1..4
here=$NVMTOP_SRC/tests/nvtx
lib=${NVMTOP%/src/nvmtop}/libnvmtop-nvtx.so
dump=${NVMTOP%/src/nvmtop}/tests/nvtx/nvtx-dump
tmp=$(mktemp -d "${TMPDIR:-/tmp}/nvmtop-programs-XXXXXX") && cd "$tmp" || exit 1
trap 'rm -rf "$tmp"' EXIT
# a library with a sanitizer needs a program with it
cc="$CC $(sed -n 's/^SAN_CFLAGS = //p' "${NVMTOP%/src/nvmtop}/Makefile")"

# run PROGRAM: with a recorder's lock held; prints what it prints, then its records
run() {
    rm -rf out && mkdir out
    NVMTOP_NVTX_DIR=$tmp/out NVMTOP_NVTX=all NVTX_INJECTION64_PATH=$lib LD_LIBRARY_PATH=$tmp \
        "$dump" out ${EMU:-} "./$1" 2>&1
    ${EMU:-} "$dump" out
}

# result NUMBER WHAT: compares want with got
result() {
    if cmp -s want got; then
        echo "ok $1 - $2"
    else
        echo "not ok $1 - $2"
        diff want got | sed 's/^/# /'
    fi
}

cat >tools.c <<END
#include <stdlib.h>
#include "nvtx-load.h"
static void init(void)
{
	static int done;
	if (!done++ && getenv("NVTX_INJECTION64_PATH"))
		nvtx_load_2(getenv("NVTX_INJECTION64_PATH"));
}
int nvtxRangePushA(const char *s) { init(); return nvtx.push_a ? nvtx.push_a(s) : -2; }
int nvtxRangePop(void) { init(); return nvtx.pop ? nvtx.pop() : -2; }
END
cat >two.c <<END
#include <stdio.h>
int nvtxRangePushA(const char *), nvtxRangePop(void);
int main(void)
{
	printf("%d", nvtxRangePushA("step"));
	printf(" %d", nvtxRangePushA("forward"));
	printf(" %d", nvtxRangePop());
	printf(" %d\n", nvtxRangePop());
	return 0;
}
END
cat >want <<END
0 1 1 0
push 0 step
push 0 forward
pop 0
pop 0
process two
END
{ $cc -D_GNU_SOURCE -shared -fPIC -I"$here" tools.c -o libnvToolsExt.so.1 -ldl &&
    $cc two.c ./libnvToolsExt.so.1 -o two && run two; } >got 2>&1
result 1 'version 2'

cat >lib2.c <<END
#include <nvtx3/nvToolsExt.h>
void lib2(void) { nvtxRangePushA("in lib2"); nvtxRangePop(); }
END
cat >three.c <<END
#ifdef EXTENSION
#include <nvtx3/nvToolsExtPayload.h>
#else
#include <nvtx3/nvToolsExt.h>
#endif
#include <stdio.h>
void lib2(void);
int main(void)
{
	nvtxEventAttributes_t a = {0};
	nvtxDomainHandle_t d;
	printf("%d", nvtxRangePushA("frame"));
	lib2();
	d = nvtxDomainCreateA("TensorRT");
#ifdef EXTENSION
	{
		nvtxPayloadSchemaAttr_t s = {0};
		nvtxPayloadSchemaRegister(d, &s);
	}
#endif
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff123456;
	a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	a.payload.ullValue = 4711;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.category = 12;
	nvtxDomainNameCategoryA(d, 12, "layers");
	a.message.registered = nvtxDomainRegisterStringW(d, L"conv \u00d7 1");
	printf(" %d", nvtxDomainRangePushEx(d, &a));
	printf(" %d", nvtxDomainRangePushEx(d, &a));
	printf(" %d", nvtxDomainRangePop(d));
	printf(" %d", nvtxDomainRangePop(d));
	printf(" %d", nvtxDomainRangePop(d) < 0);
	nvtxDomainRangeEnd(d, nvtxDomainRangeStartEx(d, &a));
	nvtxRangeEnd(nvtxRangeStartW(L"wide"));
	nvtxMarkA("mark");
	nvtxNameOsThreadA(1, "main");
	printf(" %d\n", nvtxRangePop());
	return 0;
}
END
cat >want <<END
0 0 1 1 0 1 0
push 0 frame
push 0 in lib2
pop 0
push 1 conv × 1 #12 ff123456 1:1267
push 1 conv × 1 #12 ff123456 1:1267
pop 1
pop 1
start 1 conv × 1 #12 ff123456 1:1267
end 1
start 0 wide
end 0
mark 0 mark
pop 0
process three
domain 1 TensorRT
category 1 layers #12
thread 0 main #1
END
# headers NUMBER WHAT FLAGS FOLDER
headers() {
    if ! test -r "$4/nvtx3/nvToolsExt.h"; then
        echo "ok $1 # skip no NVTX headers"
        return
    fi
    { $cc -shared -fPIC -I"$4" lib2.c -o lib2.so && $cc $3 -I"$4" three.c ./lib2.so -o three -ldl && run three; } >got 2>&1
    result "$1" "$2"
}
headers 2 'version 3' '' "${NVTX_INCLUDE:-$NVMTOP_SRC/../shared/nvtx/inc}"
headers 3 'version 3 with extensions' -DEXTENSION "${NVTX_INCLUDE_EXTENSIONS:-$NVMTOP_SRC/../shared/nvtx/incdev}"

# In containers with an older glibc a library that needs a newer one is skipped without a word.
symbols=$(objdump -T "$lib" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -u)
if test -z "$symbols"; then
    echo 'ok 4 # skip no objdump'
else
    echo GLIBC_2.27 >want
    { echo "$symbols"; cat want; } | sort -V | tail -n 1 >got
    result 4 'no symbol that is newer than glibc 2.27'
fi
