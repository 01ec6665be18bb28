/* SPDX-License-Identifier: MIT */
/* Fuzzes what a compromised executor can do to the whole stack: it maps all of guest memory, and writes there whenever it likes.
 * A client renders and presents as clients do; meanwhile bytes change in the ring, the fence page, the DMA buffers and
 * allocation tables that were checked a moment ago, and anywhere else. Commands of 8 bytes: what, where, when, and what is
 * written. Work may be lost, devices may be removed, the adapter may be given up after too many time-outs; nothing hangs, no
 * rule of the DDI is broken, no invariant fails, and a stack that was given up can be replaced. */
#include "fuzz.h"

#include <string.h>

#include "aerogpu/cmd.h"
#include "aerogpu/ext.h"
#include "aerogpu/pci.h"
#include "base/loop.h"
#include "base/log.h"
#include "gpu/observer.h"
#include "stack/stack.h"

enum { MAX_COMMANDS = 96, WRITES = 16 };

static struct stack *stack;

/* What the executor has seen of guest memory, by the submissions that it was given. */
static uint64_t streams[4], tables[4], taken;

struct write {
    struct loop_timer timer;
    uint8_t where, how;
    uint16_t at;
    uint8_t value;
};
static struct write writes[WRITES];

static void on_event(void *ctx, const struct gpu_event *e)
{
    if (e->kind != GPU_EVENT_TAKE)
        return;
    streams[taken % 4] = e->submission->cmd_gpa;
    tables[taken % 4] = e->submission->alloc_gpa;
    taken++;
}

static struct gpu_observer observer = {.event = on_event};

static void start(void)
{
    struct error e = {0};

    must(!stack_create(
        &stack,
        &(struct stack_params){.machine = {.kind = MACHINE_SIM, .ram_size = 128 << 20, .exec_max_ns = 30000}},
        &e));
    must(NT_SUCCESS(stack_start(stack, &e)));
    gpu_observe(machine_gpu(stack_machine(stack)), &observer);
    memset(streams, 0, sizeof(streams));
    memset(tables, 0, sizeof(tables));
    taken = 0;
}

static void stop(void)
{
    gpu_unobserve(machine_gpu(stack_machine(stack)), &observer);
    stack_destroy(stack);
    stack = NULL;
}

/* ---- the executor -------------------------------------------------------- */

static void scribble(void *ctx)
{
    const struct write *w = ctx;
    struct machine *m = stack_machine(stack);
    uint64_t gpa;

    switch (w->where % 6) {
    case 0:
        gpa = machine_read64(m, AEROGPU_REG_RING_GPA_LO) + w->at % 0x200;
        break;
    case 1:
        gpa = machine_read64(m, AEROGPU_REG_FENCE_GPA_LO) + w->at % 64;
        break;
    case 2: /* one that was, and perhaps the next one */
        gpa = streams[(taken + w->where / 6) % 4] + w->at % 0x400;
        break;
    case 3:
        gpa = tables[(taken + w->where / 6) % 4] + w->at % 0x100;
        break;
    case 4:
        gpa = machine_read64(m, AEROGPU_REG_RING_GPA_LO) + w->at;
        break;
    default:
        gpa = (uint64_t)w->at << 10;
        break;
    }
    if (gpa >= machine_ram_size(m) - 8)
        return;
    if (w->how % 4 == 0)
        machine_ram(m)[gpa] ^= w->value;
    else
        memset(machine_ram(m) + (gpa & ~UINT64_C(3)),
               w->how % 4 == 1   ? w->value
               : w->how % 4 == 2 ? 0
                                 : 0xFF,
               w->how & 4 ? 8 : 4);
}

/* ---- the client ---------------------------------------------------------- */

struct client {
    struct dxgk_client *c;
    D3DKMT_HANDLE adapter, device, context;
    void *command;
    UINT size;
};

static bool is_answer(NTSTATUS s)
{
    return NT_SUCCESS(s) || s == STATUS_INVALID_PARAMETER || s == STATUS_ACCESS_DENIED ||
           s == STATUS_DEVICE_REMOVED || s == STATUS_NO_MEMORY || s == STATUS_BUFFER_TOO_SMALL ||
           s == STATUS_TIMEOUT || s == STATUS_INSUFFICIENT_RESOURCES;
}

static void make_context(struct client *c)
{
    D3DKMT_CREATEDEVICE d = {.hAdapter = c->adapter};
    struct aerogpu_context_priv small = {
        .magic = AEROGPU_CONTEXT_PRIV_MAGIC, .version = 1, .dma_buffer_bytes = 1};
    D3DKMT_CREATECONTEXT x = {.pPrivateDriverData = &small, .PrivateDriverDataSize = sizeof(small)};

    if (c->device)
        dxgk_DestroyDevice(c->c, &(D3DKMT_DESTROYDEVICE){.hDevice = c->device});
    c->device = c->context = 0;
    if (!NT_SUCCESS(dxgk_CreateDevice(c->c, &d)))
        return;
    x.hDevice = c->device = d.hDevice;
    if (!NT_SUCCESS(dxgk_CreateContext(c->c, &x)))
        return;
    c->context = x.hContext;
    c->command = x.pCommandBuffer;
    c->size = x.CommandBufferSize;
}

/* Makes buffers and destroys them: the names are noted from the DMA buffer. */
static void render(struct client *c, uint8_t n)
{
    struct aerogpu_cmd_stream_header header = {.magic = AEROGPU_CMD_STREAM_MAGIC,
                                               .abi_version = AEROGPU_ABI_VERSION_U32};
    struct aerogpu_cmd_create_buffer create = {.hdr = {AEROGPU_CMD_CREATE_BUFFER, sizeof(create)},
                                               .size_bytes = 64};
    struct aerogpu_cmd_destroy_resource destroy = {.hdr = {AEROGPU_CMD_DESTROY_RESOURCE, sizeof(destroy)}};
    D3DKMT_RENDER r = {.hContext = c->context};
    UINT at = sizeof(header);

    if (!c->context)
        return;
    for (uint32_t i = 1; i <= n % 16u && at + sizeof(create) + sizeof(destroy) <= c->size; i++) {
        create.buffer_handle = destroy.resource_handle = i;
        memcpy((uint8_t *)c->command + at, &create, sizeof(create));
        at += sizeof(create);
        if (n & 16) {
            memcpy((uint8_t *)c->command + at, &destroy, sizeof(destroy));
            at += sizeof(destroy);
        }
    }
    header.size_bytes = at;
    memcpy(c->command, &header, sizeof(header));
    r.CommandLength = at;
    must(is_answer(dxgk_Render(c->c, &r)));
}

static void step(struct client *c, const uint8_t *d, unsigned n)
{
    struct machine *m = stack_machine(stack);
    struct write *w = &writes[n % WRITES];

    switch (d[0] % 8) {
    case 0:
        make_context(c);
        break;
    case 1:
        if (c->device)
            must(is_answer(dxgk_WaitForIdle(c->c, &(D3DKMT_WAITFORIDLE){.hDevice = c->device})));
        break;
    case 2:
    case 3:
        render(c, d[1]);
        break;
    case 4:
        stack_sleep(stack, (uint64_t)d[1] * 1000);
        break;
    default:
        w->where = d[1];
        w->how = d[2];
        w->value = d[3];
        w->at = (uint16_t)(d[4] | d[5] << 8);
        if (d[6] < 64)
            scribble(w);
        else
            must(!loop_arm(machine_loop(m), &w->timer, machine_now(m) + (uint64_t)d[6] * 300, scribble, w));
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    struct client c = {0};

    log_to(-1);
    if (!stack)
        start();
    must(!dxgk_client_open(stack_dxgk(stack), &c.c, 100, false));
    must(NT_SUCCESS(dxgk_OpenAdapterFromHdc(c.c, &open)));
    c.adapter = open.hAdapter;
    make_context(&c);
    for (unsigned i = 0; i < MAX_COMMANDS && 8 * i + 8 <= size; i++)
        step(&c, data + 8 * i, i);
    for (unsigned i = 0; i < WRITES; i++)
        loop_cancel(machine_loop(stack_machine(stack)), &writes[i].timer);
    dxgk_client_close(c.c);
    stack_sleep(stack, NSEC_PER_MSEC);
    must(!dxgk_violations(stack_dxgk(stack)));
    if (dxgk_state(stack_dxgk(stack)) != DXGK_STARTED || dxgk_event_count(stack_dxgk(stack), 4101) > 1)
        stop(); /* given up, or on its way there: the next input finds a new one */
    return 0;
}
