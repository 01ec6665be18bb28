/* SPDX-License-Identifier: MIT */
/* A reply of the service as a client reads it: a thunk, how many elements the caller has room for, and the reply's bytes behind
 * a header that is made right. Every buffer of the caller has exactly that room. What comes back may be nonsense, but the
 * counts by which a caller walks its own buffers are what it had, and every pointer leads into one of them. */
#include "fuzz.h"

#include <string.h>

#include "d3dkmt/wire.h"

static UINT *count_at(void *arg, const struct wire_pointer *p)
{
    return (UINT *)(void *)((uint8_t *)arg + p->count);
}

static void check_opened(const D3DKMT_OPENRESOURCE *o, UINT count, const uint8_t *total, UINT size)
{
    must(o->NumAllocations == count);
    for (UINT i = 0; i < count; i++) {
        const D3DDDI_OPENALLOCATIONINFO *a = &o->pOpenAllocationInfo[i];
        size_t at = (size_t)((const uint8_t *)a->pPrivateDriverData - total);
        must(!a->pPrivateDriverData || (at <= size && a->PrivateDriverDataSize <= size - at));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static _Alignas(16) uint8_t arg[4096], msg[WIRE_MAX];
    struct wire_header h = {.magic = WIRE_MAGIC};
    enum d3dkmt_thunk thunk;
    const struct wire_thunk *t;
    void *buffers[4] = {NULL};
    UINT counts[4];
    NTSTATUS s;

    if (size < 2 || size > 8192)
        return 0;
    thunk = (enum d3dkmt_thunk)(data[0] % D3DKMT_NUM_THUNKS);
    t = &d3dkmt_wire_thunks[thunk];
    h.thunk = (uint32_t)thunk;
    h.size = (uint32_t)(sizeof(h) + size - 2);
    memcpy(msg, &h, sizeof(h));
    memcpy(msg + sizeof(h), data + 2, size - 2);
    memset(arg, 0, sizeof(arg));
    for (unsigned i = 0; i < t->num; i++) {
        counts[i] = *count_at(arg, &t->pointers[i]) = (data[1] >> (2 * i) & 3) * (i ? 24 : 1);
        buffers[i] = calloc(counts[i] ? counts[i] : 1, t->pointers[i].element);
        must(buffers[i] != NULL);
        memcpy(arg + t->pointers[i].at, &buffers[i], sizeof(void *));
    }
    s = d3dkmt_wire_parse_reply(msg, h.size, thunk, arg);
    for (unsigned i = 0; i < t->num; i++)
        must(!memcmp(arg + t->pointers[i].at, &buffers[i], sizeof(void *)));
    if (NT_SUCCESS(s) && thunk == D3DKMT_THUNK_CreateAllocation)
        must(((D3DKMT_CREATEALLOCATION *)(void *)arg)->NumAllocations == counts[2]);
    if (NT_SUCCESS(s) && thunk == D3DKMT_THUNK_OpenResource)
        check_opened((D3DKMT_OPENRESOURCE *)(void *)arg, counts[0], buffers[3], counts[3]);
    for (unsigned i = 0; i < t->num; i++)
        free(buffers[i]);
    return 0;
}
