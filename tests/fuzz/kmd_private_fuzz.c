/* SPDX-License-Identifier: MIT */
/* Fuzzes what a client says to the miniport through dxgkrnl's own calls: private data of allocations and contexts,
 * and streams. Commands: a byte of what, a 16-bit length, the bytes. The sim decodes what is submitted as the executor
 * does. No rule may be broken, nothing may hang, and a client that was told no goes on. */
#include "fuzz.h"

#include <string.h>

#include "aerogpu/alloc.h"
#include "aerogpu/ext.h"
#include "base/bytes.h"
#include "stack/stack.h"

enum { MAX_ALLOCS = 8, MAX_COMMANDS = 64 };

static struct stack *stack;

static void start(void)
{
    struct error e = {0};

    must(!stack_create(
        &stack,
        &(struct stack_params){.machine = {.kind = MACHINE_SIM, .ram_size = 128 << 20, .exec_max_ns = 30000}},
        &e));
    must(NT_SUCCESS(stack_start(stack, &e)));
}

struct client {
    struct dxgk_client *c;
    D3DKMT_HANDLE adapter, device, context, allocs[MAX_ALLOCS];
    unsigned count;
    void *command;
    D3DDDI_ALLOCATIONLIST *list;
    UINT size;
};

static void make_context(struct client *c, const uint8_t *priv, UINT size)
{
    D3DKMT_CREATEDEVICE d = {.hAdapter = c->adapter};
    D3DKMT_CREATECONTEXT x = {.pPrivateDriverData = (void *)(uintptr_t)priv, .PrivateDriverDataSize = size};
    NTSTATUS s;

    if (c->device)
        must(NT_SUCCESS(dxgk_DestroyDevice(c->c, &(D3DKMT_DESTROYDEVICE){.hDevice = c->device})));
    c->count = c->context = 0;
    must(NT_SUCCESS(dxgk_CreateDevice(c->c, &d)));
    x.hDevice = c->device = d.hDevice;
    s = dxgk_CreateContext(c->c, &x);
    must(NT_SUCCESS(s) || s == STATUS_INVALID_PARAMETER || s == STATUS_NO_MEMORY);
    if (!NT_SUCCESS(s))
        return;
    c->context = x.hContext;
    c->command = x.pCommandBuffer;
    c->list = x.pAllocationList;
    c->size = x.CommandBufferSize;
}

static void allocate(struct client *c, const uint8_t *p, UINT size)
{
    uint8_t *copy = malloc(size + 1);
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = copy, .PrivateDriverDataSize = size};
    D3DKMT_CREATEALLOCATION a = {.hDevice = c->device, .NumAllocations = 1, .pAllocationInfo = &info};
    NTSTATUS s;

    must(copy);
    memcpy(copy, p, size);
    if (size >= sizeof(struct aerogpu_alloc_priv)) /* of sizes, the small ones are the interesting ones */
        memset(copy + offsetof(struct aerogpu_alloc_priv, size_bytes) + 3, 0, 5);
    if (c->count < MAX_ALLOCS) {
        s = dxgk_CreateAllocation(c->c, &a);
        must(NT_SUCCESS(s) || s == STATUS_INVALID_PARAMETER || s == STATUS_GRAPHICS_NO_VIDEO_MEMORY ||
             s == STATUS_NO_MEMORY || s == STATUS_DEVICE_REMOVED);
        if (NT_SUCCESS(s))
            c->allocs[c->count++] = info.hAllocation;
    }
    free(copy);
}

static void render(struct client *c, const uint8_t *p, UINT size, unsigned written)
{
    D3DKMT_RENDER r = {.hContext = c->context,
                       .CommandLength = size < c->size ? size : c->size,
                       .AllocationCount = c->count};
    NTSTATUS s;

    if (!c->context)
        return;
    memcpy(c->command, p, r.CommandLength);
    for (unsigned i = 0; i < c->count; i++) {
        c->list[i] = (D3DDDI_ALLOCATIONLIST){.hAllocation = c->allocs[i]};
        c->list[i].WriteOperation = written >> i & 1;
    }
    s = dxgk_Render(c->c, &r);
    must(NT_SUCCESS(s) || s == STATUS_INVALID_PARAMETER || s == STATUS_ACCESS_DENIED ||
         s == STATUS_BUFFER_TOO_SMALL || s == STATUS_NOT_SUPPORTED || s == STATUS_DEVICE_REMOVED ||
         s == STATUS_NO_MEMORY);
    s = dxgk_WaitForIdle(c->c, &(D3DKMT_WAITFORIDLE){.hDevice = c->device});
    must(s == STATUS_SUCCESS || s == STATUS_DEVICE_REMOVED); /* a stream that faults costs the device */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct aerogpu_context_priv small = {
        .magic = AEROGPU_CONTEXT_PRIV_MAGIC, .version = 1, .dma_buffer_bytes = 1};
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    struct client c = {0};
    struct bytes in;

    if (!stack)
        start();
    in = bytes_of(data, size);
    must(!dxgk_client_open(stack_dxgk(stack), &c.c, 100, false));
    must(NT_SUCCESS(dxgk_OpenAdapterFromHdc(c.c, &open)));
    c.adapter = open.hAdapter;
    make_context(&c, (const uint8_t *)&small, sizeof(small));
    for (unsigned i = 0; i < MAX_COMMANDS && bytes_left(&in) >= 3; i++) {
        unsigned what = bytes_u8(&in);
        size_t n = bytes_u16(&in);
        const uint8_t *p;
        n = n < bytes_left(&in) ? n : bytes_left(&in);
        p = bytes_take(&in, n);
        if (!p)
            break;
        if (what % 4 == 0)
            make_context(&c, n ? p : NULL, (UINT)n);
        else if (what % 4 == 1)
            allocate(&c, p, (UINT)n);
        else
            render(&c, p, (UINT)n, what >> 2);
    }
    dxgk_client_close(c.c);
    stack_sleep(stack,
                4 * NSEC_PER_MSEC); /* its names are said to the GPU: none is left for the next input */
    must(dxgk_state(stack_dxgk(stack)) == DXGK_STARTED);
    must(!dxgk_violations(stack_dxgk(stack)));
    must(!dxgk_event_count(stack_dxgk(stack), 4101)); /* nothing here may take for ever */
    return 0;
}
