/* SPDX-License-Identifier: MIT */
/* explore.c: clients, an observer and a saboteur, each a coroutine that draws what it does next from a seed of its own, so that one
 * who does more changes nothing for the others. broken() keeps the first promise that was not kept and ends the life. */
#include "sim/explore.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "abi/builder.h"
#include "aerogpu/alloc.h"
#include "aerogpu/escape.h"
#include "aerogpu/ext.h"
#include "aerogpu/pci.h"
#include "base/rng.h"
#include "dxgkrnl/faults.h"
#include "dxgkrnl/kernel.h"
#include "dxgkrnl/progress.h"
#include "stack/stack.h"

#define DRIVER_KEY "HKLM\\SYSTEM\\CurrentControlSet\\Services\\aerogpu\\Parameters"

enum { PERIOD = 16666667, MAX_CLIENTS = 64, WIDTH = 1024, HEIGHT = 768 };

struct world {
    const struct explore_params *p;
    struct explore_result *r;
    struct stack *stack;
    struct dxgk *dxgk;
    struct kernel *kernel;
    struct rng rng;
    uint64_t end_ns;
    unsigned running; /* clients that have not ended */
    bool may_fail, display_taken;
    bool deaths; /* an executor that died knows no resources, nor whose they are */
    struct actor {
        struct world *w;
        struct rng rng;
        unsigned id;
        struct dxgk_client *client;
        bool killed, waiting, stranger;
    } actors[MAX_CLIENTS];
};

static void broken(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void broken(struct world *w, const char *fmt, ...)
{
    va_list ap;
    size_t n;

    if (w->r->broken[0])
        return; /* the first one counts */
    n = (size_t)snprintf(w->r->broken, sizeof(w->r->broken),
                         "at %.6f s: ", (double)clock_now(stack_clock(w->stack)) / 1e9);
    va_start(ap, fmt);
    vsnprintf(w->r->broken + n, sizeof(w->r->broken) - n, fmt, ap);
    va_end(ap);
}

static uint64_t now(struct world *w)
{
    return clock_now(stack_clock(w->stack));
}

static void pass(struct world *w, uint64_t ns)
{
    struct kwaiters nobody = {0};

    dxgk_kernel_wait(w->kernel, &nobody, now(w) + ns);
}

static bool going(const struct world *w)
{
    return clock_now(stack_clock(w->stack)) < w->end_ns && !w->r->broken[0];
}

static uint64_t device_vblanks(struct world *w)
{
    return machine_read64(stack_machine(w->stack), AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO);
}

/* ---- a client ------------------------------------------------------------ */

struct session {
    struct actor *a;
    D3DKMT_HANDLE adapter, device, context, primary, back, plain;
    uint8_t *command;
    D3DDDI_ALLOCATIONLIST *list;
    const struct dxgk_progress *progress;
    struct abi_builder b;
    uint64_t seen; /* progress, last time */
    int event;
    uint64_t signals, signalled;
    uint64_t signal_after[64]; /* packets that were queued before each signal */
    uint64_t flips, intervals, first_seq;
};

/* A stranger has a share of things, and may be barred. */
static bool refused(const struct actor *a, NTSTATUS st)
{
    return a->stranger && (st == STATUS_NO_MEMORY || st == STATUS_INSUFFICIENT_RESOURCES ||
                           st == STATUS_GRAPHICS_NO_VIDEO_MEMORY || st == STATUS_ACCESS_DENIED);
}

/* What a thunk may answer to a program that did nothing wrong. */
static bool expected(struct session *s, NTSTATUS st, const char *what)
{
    if (NT_SUCCESS(st))
        return true;
    if (st != STATUS_DEVICE_REMOVED && st != STATUS_CANCELLED && st != STATUS_GRAPHICS_PRESENT_OCCLUDED &&
        st != STATUS_GRAPHICS_PRESENT_MODE_CHANGED && !(st == STATUS_INVALID_HANDLE && s->a->killed) &&
        !refused(s->a, st))
        broken(s->a->w, "client %u: %s answered %08x", s->a->id, what, (unsigned)st);
    return false;
}

static void look(struct session *s)
{
    uint64_t queued = s->progress->queued, completed = s->progress->completed, n;

    if (completed < s->seen || completed > queued)
        broken(s->a->w, "promise 1: client %u: completed went from %llu to %llu of %llu", s->a->id,
               (unsigned long long)s->seen, (unsigned long long)completed, (unsigned long long)queued);
    s->seen = completed;
    if (s->event < 0 || read(s->event, &n, sizeof(n)) != sizeof(n))
        return;
    s->signalled += n;
    if (s->signalled > s->signals)
        broken(s->a->w, "promise 1: client %u: %llu signals came, %llu were asked for", s->a->id,
               (unsigned long long)s->signalled, (unsigned long long)s->signals);
    else if (completed < s->signal_after[(s->signalled - 1) % 64])
        broken(s->a->w, "promise 1: client %u: signal %llu came before the work in front of it", s->a->id,
               (unsigned long long)s->signalled);
}

static NTSTATUS allocate(struct session *s, uint32_t id, uint64_t size, bool primary, D3DKMT_HANDLE *out)
{
    struct aerogpu_alloc_priv_v2 priv = {.magic = AEROGPU_ALLOC_PRIV_MAGIC,
                                         .version = 2,
                                         .alloc_id = id,
                                         .flags = AEROGPU_ALLOC_PRIV_FLAG_CPU_VISIBLE,
                                         .size_bytes = size,
                                         .kind = primary ? AEROGPU_ALLOC_KIND_TEXTURE2D
                                                         : AEROGPU_ALLOC_KIND_BUFFER};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &priv, .PrivateDriverDataSize = sizeof(priv)};
    D3DKMT_CREATEALLOCATION c = {.hDevice = s->device, .NumAllocations = 1, .pAllocationInfo = &info};
    NTSTATUS st;

    if (primary) {
        priv.width = WIDTH;
        priv.height = HEIGHT;
        priv.format = AEROGPU_DXGI_B8G8R8X8_UNORM;
        priv.row_pitch_bytes = 4 * WIDTH;
        info.Flags.Primary = 1;
    }
    st = dxgk_CreateAllocation(s->a->client, &c);
    *out = NT_SUCCESS(st) ? info.hAllocation : 0;
    return st;
}

static bool session_open(struct session *s, struct actor *a)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE d = {0};
    D3DKMT_CREATECONTEXT x = {0};
    struct aerogpu_umd_private info = {0};
    D3DKMT_QUERYADAPTERINFO q = {.Type = KMTQAITYPE_UMDRIVERPRIVATE,
                                 .pPrivateDriverData = &info,
                                 .PrivateDriverDataSize = sizeof(info)};

    *s = (struct session){.a = a, .event = -1};
    if (!expected(s, dxgk_OpenAdapterFromHdc(a->client, &open), "OpenAdapterFromHdc"))
        return false;
    s->adapter = d.hAdapter = open.hAdapter;
    if (!expected(s, dxgk_CreateDevice(a->client, &d), "CreateDevice"))
        return false;
    s->device = x.hDevice = d.hDevice;
    q.hAdapter = s->adapter;
    if (!expected(s, dxgk_QueryAdapterInfo(a->client, &q), "QueryAdapterInfo"))
        return false;
    if (rng_below(&a->rng, 4)) /* else the one that is everybody's */
        x.NodeOrdinal = AEROGPU_EXT_UMD_PRIVATE_ENGINE(info.flags);
    if (!expected(s, dxgk_CreateContext(a->client, &x), "CreateContext"))
        return false;
    s->context = x.hContext;
    s->command = x.pCommandBuffer;
    s->list = x.pAllocationList;
    s->progress = dxgk_context_progress(a->client, x.hContext);
    s->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    abi_builder_init(&s->b);
    return true;
}

static void session_close(struct session *s)
{
    if (s->context)
        abi_builder_finish(&s->b);
    if (s->device)
        dxgk_DestroyDevice(s->a->client, &(D3DKMT_DESTROYDEVICE){s->device});
    if (s->adapter)
        dxgk_CloseAdapter(s->a->client, &(D3DKMT_CLOSEADAPTER){s->adapter});
    if (s->event >= 0)
        close(s->event);
}

static NTSTATUS render(struct session *s, unsigned packets)
{
    D3DKMT_RENDER r = {.hContext = s->context, .AllocationCount = s->plain ? 1 : 0};
    const void *bytes;

    for (unsigned i = 0; i < packets; i++)
        ABI_EMIT(&s->b, NOP, nop);
    bytes = abi_builder_end(&s->b, &r.CommandLength);
    memcpy(s->command, bytes, r.CommandLength);
    abi_builder_reset(&s->b);
    s->list[0] = (D3DDDI_ALLOCATIONLIST){.hAllocation = s->plain};
    s->a->w->r->renders++;
    return dxgk_Render(s->a->client, &r);
}

/* A write into memory that this client has given up: its device is lost, and nobody else's. */
static NTSTATUS write_to_freed(struct session *s)
{
    D3DKMT_RENDER r = {.hContext = s->context, .AllocationCount = 1};
    D3DKMT_HANDLE gone;
    const void *bytes;
    uint64_t before;
    NTSTATUS st = allocate(s, 5000, 4096, false, &gone);

    if (!NT_SUCCESS(st))
        return st;
    ABI_EMIT(&s->b, CREATE_BUFFER, create_buffer, .buffer_handle = 77, .size_bytes = 4096,
             .backing_alloc_id = 5000);
    bytes = abi_builder_end(&s->b, &r.CommandLength);
    memcpy(s->command, bytes, r.CommandLength);
    abi_builder_reset(&s->b);
    s->list[0] = (D3DDDI_ALLOCATIONLIST){.hAllocation = gone};
    st = dxgk_Render(s->a->client, &r);
    if (NT_SUCCESS(st))
        st = dxgk_DestroyAllocation(s->a->client, &(D3DKMT_DESTROYALLOCATION){.hDevice = s->device,
                                                                              .phAllocationList = &gone,
                                                                              .AllocationCount = 1});
    if (!NT_SUCCESS(st))
        return st;
    before = s->progress->completed;
    ABI_EMIT(&s->b, COPY_BUFFER, copy_buffer, .dst_buffer = 77, .src_buffer = 77, .size_bytes = 64,
             .flags = AEROGPU_COPY_FLAG_WRITEBACK_DST);
    r = (D3DKMT_RENDER){.hContext = s->context};
    bytes = abi_builder_end(&s->b, &r.CommandLength);
    memcpy(s->command, bytes, r.CommandLength);
    abi_builder_reset(&s->b);
    st = dxgk_Render(s->a->client, &r);
    if (NT_SUCCESS(st))
        st = dxgk_WaitForIdle(s->a->client, &(D3DKMT_WAITFORIDLE){.hDevice = s->device});
    if (NT_SUCCESS(st) && !s->a->w->deaths && !s->a->killed)
        broken(s->a->w, "promise 4: client %u wrote into memory that is gone (packet %llu)", s->a->id,
               (unsigned long long)before + 1);
    return st;
}

static NTSTATUS signal_event(struct session *s)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 sig = {.hContext = s->context,
                                               .CpuEventHandle = (HANDLE)(intptr_t)s->event};
    uint64_t before = s->progress->queued;
    NTSTATUS st;

    sig.Flags.EnqueueCpuEvent = 1;
    if (s->signals - s->signalled >= 60)
        return STATUS_SUCCESS;
    s->signal_after[s->signals % 64] = before;
    s->signals++;
    st = dxgk_SignalSynchronizationObject2(s->a->client, &sig);
    if (!NT_SUCCESS(st))
        s->signals--;
    return st;
}

static NTSTATUS idle(struct session *s)
{
    NTSTATUS st = dxgk_WaitForIdle(s->a->client, &(D3DKMT_WAITFORIDLE){.hDevice = s->device});

    if (NT_SUCCESS(st) && s->progress->completed != s->progress->queued)
        broken(s->a->w, "promise 1: client %u is idle with %llu of %llu packets completed", s->a->id,
               (unsigned long long)s->progress->completed, (unsigned long long)s->progress->queued);
    look(s);
    if (NT_SUCCESS(st) && s->signals != s->signalled)
        broken(s->a->w, "promise 1: client %u is idle after %llu of %llu signals", s->a->id,
               (unsigned long long)s->signalled, (unsigned long long)s->signals);
    return st;
}

/* One client at a time has the screen, as a full-screen program or the compositor does. */
static NTSTATUS take_display(struct session *s)
{
    struct world *w = s->a->w;
    NTSTATUS st = allocate(s, 1000 + s->a->id, 4 * WIDTH * HEIGHT, true, &s->primary);

    if (NT_SUCCESS(st))
        st = allocate(s, 1000 + 64 + s->a->id, 4 * WIDTH * HEIGHT, true, &s->back);
    if (NT_SUCCESS(st))
        st = dxgk_SetDisplayMode(
            s->a->client, &(D3DKMT_SETDISPLAYMODE){.hDevice = s->device, .hPrimaryAllocation = s->primary});
    w->display_taken = NT_SUCCESS(st);
    return st;
}

static NTSTATUS present(struct session *s, unsigned interval)
{
    struct world *w = s->a->w;
    D3DKMT_PRESENT p = {
        .hContext = s->context, .hSource = s->back, .FlipInterval = (D3DDDI_FLIPINTERVAL_TYPE)interval};
    uint64_t asked = device_vblanks(w), seen;
    NTSTATUS st;

    p.Flags.Flip = 1;
    st = dxgk_Present(s->a->client, &p);
    if (!NT_SUCCESS(st))
        return st;
    w->r->presents++;
    s->back = s->primary;
    s->primary = p.hSource;
    st = dxgk_wait_progress(s->a->client, s->context, s->progress->queued, LOOP_FOREVER);
    seen = device_vblanks(w);
    if (!NT_SUCCESS(st) || !interval) {
        s->flips = s->intervals = 0; /* what follows an immediate flip has its own time */
        return st;
    }
    if (seen <= asked)
        broken(w, "promise 3: client %u: a flip completed before its vblank (%llu)", s->a->id,
               (unsigned long long)seen);
    if (!s->flips++)
        s->first_seq = seen;
    else
        s->intervals += interval;
    if (seen + 2 + s->flips / 4 < s->first_seq + s->intervals)
        broken(w, "promise 3: client %u: %llu flips took %llu vblanks instead of %llu", s->a->id,
               (unsigned long long)s->flips, (unsigned long long)(seen - s->first_seq),
               (unsigned long long)s->intervals);
    return st;
}

#define MUST(call, status)                                                                                   \
    do {                                                                                                     \
        NTSTATUS got_ = (call);                                                                              \
        if (got_ != (status) && dxgk_state(w->dxgk) == DXGK_STARTED && !s->a->killed)                        \
            broken(w, "promise 4: client %u: " #call " answered %08x", s->a->id, (unsigned)got_);            \
    } while (0)

/* Calls that no program should make. */
static void misbehave(struct session *s)
{
    struct world *w = s->a->w;
    struct dxgk_client *c = s->a->client;
    struct aerogpu_escape_query_fence q = {.header = {AEROGPU_ESCAPE_VERSION, 9999, sizeof(q), 0}};
    struct dxgk_injection inject = {DXGK_FAULT_FAIL_RESET, 1};
    D3DKMT_HANDLE wild = (D3DKMT_HANDLE)rng_next(&s->a->rng) | 0x80000000u;
    D3DKMT_RENDER r = {.hContext = s->context};

    switch (rng_below(&s->a->rng, 7)) {
    case 0:
        MUST(dxgk_DestroyDevice(c, &(D3DKMT_DESTROYDEVICE){s->context}), STATUS_INVALID_HANDLE);
        break;
    case 1:
        MUST(dxgk_Lock(c, &(D3DKMT_LOCK){.hDevice = s->device, .hAllocation = wild}), STATUS_INVALID_HANDLE);
        break;
    case 2:
        r.CommandLength = UINT32_MAX;
        MUST(dxgk_Render(c, &r), STATUS_INVALID_PARAMETER);
        break;
    case 3:
        MUST(dxgk_GetScanLine(c, &(D3DKMT_GETSCANLINE){.hAdapter = s->adapter, .VidPnSourceId = 77}),
             STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
        break;
    case 4: /* garbage for a stream: the miniport refuses it, or the device is lost, and both are this client's alone */
        for (unsigned i = 0; i < 64; i++)
            s->command[i] = (uint8_t)rng_next(&s->a->rng);
        r.CommandLength = 64;
        if (s->progress->state == D3DKMT_DEVICEEXECUTION_ACTIVE && dxgk_Render(c, &r) == STATUS_SUCCESS)
            broken(w, "promise 4: client %u: a stream of garbage was taken", s->a->id);
        break;
    case 5:
        MUST(dxgk_Escape(c, &(D3DKMT_ESCAPE){.hAdapter = s->adapter,
                                             .pPrivateDriverData = &q,
                                             .PrivateDriverDataSize = sizeof(q)}),
             STATUS_NOT_SUPPORTED);
        break;
    case 6: /* not privileged */
        MUST(dxgk_Escape(c, &(D3DKMT_ESCAPE){.hAdapter = s->adapter,
                                             .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_INJECT,
                                             .pPrivateDriverData = &inject,
                                             .PrivateDriverDataSize = sizeof(inject)}),
             STATUS_ACCESS_DENIED);
        break;
    }
}

static NTSTATUS act(struct session *s)
{
    struct world *w = s->a->w;
    struct rng *rng = &s->a->rng;
    NTSTATUS st = STATUS_SUCCESS;

    switch (rng_below(rng, 13)) {
    case 0:
    case 1:
    case 2:
        return render(s, (unsigned)rng_below(rng, 20));
    case 3: /* more than the ring holds */
        for (unsigned i = 0; i < 300 && NT_SUCCESS(st); i++)
            st = render(s, 1);
        return st;
    case 4:
        return signal_event(s);
    case 5:
    case 6:
        return idle(s);
    case 7:
        pass(w, rng_below(rng, 30 * NSEC_PER_MSEC));
        return st;
    case 8:
        st = dxgk_WaitForVerticalBlankEvent(s->a->client,
                                            &(D3DKMT_WAITFORVERTICALBLANKEVENT){s->adapter, s->device, 0});
        w->r->vblanks += NT_SUCCESS(st);
        return st == STATUS_GRAPHICS_PRESENT_OCCLUDED ? STATUS_SUCCESS : st;
    case 9:
        if (s->back)
            for (unsigned i = 0; i < 10 && NT_SUCCESS(st); i++)
                st = present(s, (unsigned)rng_below(rng, 5));
        else if (!w->display_taken)
            st = take_display(s);
        return st;
    case 10:
        misbehave(s);
        return st;
    case 11:
        return rng_below(rng, 8) || s->a->w->p->calm ? st : write_to_freed(s);
    default:
        if (s->plain)
            return st;
        return allocate(s, 1 + (uint32_t)rng_below(rng, 1000), 4096 + rng_below(rng, 1 << 20), false,
                        &s->plain);
    }
}

/* Present at every vblank, as a program that draws does. */
static NTSTATUS act_steadily(struct session *s)
{
    struct world *w = s->a->w;
    NTSTATUS st = render(s, 4);

    if (NT_SUCCESS(st) && !s->a->id) {
        if (!s->back)
            st = take_display(s);
        return NT_SUCCESS(st) ? present(s, 1) : st;
    }
    if (NT_SUCCESS(st))
        st = dxgk_WaitForVerticalBlankEvent(s->a->client,
                                            &(D3DKMT_WAITFORVERTICALBLANKEVENT){s->adapter, s->device, 0});
    w->r->vblanks += NT_SUCCESS(st);
    w->r->presents += NT_SUCCESS(st);
    return st;
}

/* After a removal: everything of the old device says so. */
static void check_removed(struct session *s)
{
    struct world *w = s->a->w;
    NTSTATUS st = render(s, 1);

    if (st != STATUS_DEVICE_REMOVED && !s->a->killed)
        broken(w, "promise 5: client %u: a removed device renders: %08x", s->a->id, (unsigned)st);
    if (s->progress->state == D3DKMT_DEVICEEXECUTION_ACTIVE)
        broken(w, "promise 5: client %u: a removed device is active", s->a->id);
    look(s);
    w->r->removed++;
}

static void client_main(void *arg)
{
    struct actor *a = arg;
    struct world *w = a->w;

    while (going(w) && !a->killed && dxgk_state(w->dxgk) == DXGK_STARTED) {
        struct session s;
        NTSTATUS st = STATUS_SUCCESS;
        bool had_display;
        if (session_open(&s, a)) {
            while (NT_SUCCESS(st) && going(w) && !a->killed) {
                st = w->p->steady ? act_steadily(&s) : act(&s);
                if (st == STATUS_GRAPHICS_PRESENT_OCCLUDED || st == STATUS_GRAPHICS_PRESENT_MODE_CHANGED)
                    st = STATUS_SUCCESS;
                look(&s);
                if (!w->p->steady && !rng_below(&a->rng, 40))
                    break; /* a program that ends */
            }
            if (!NT_SUCCESS(st))
                expected(&s, st, "an operation");
            if (st == STATUS_DEVICE_REMOVED && dxgk_state(w->dxgk) == DXGK_STARTED)
                check_removed(&s);
        }
        had_display = s.primary != 0;
        session_close(&s);
        if (had_display)
            w->display_taken = false;
        pass(w, 1 + rng_below(&a->rng, NSEC_PER_MSEC));
    }
    dxgk_client_close(a->client);
    a->client = NULL;
    w->running--;
}

/* ---- the observer -------------------------------------------------------- */

static void check_vblanks(struct world *w, uint64_t *seq, uint64_t *time, unsigned *resets)
{
    uint64_t seq_now = device_vblanks(w), time_now = now(w), due = (time_now - *time) / PERIOD;
    unsigned resets_now = dxgk_event_count(w->dxgk, 4101);

    /* The scanout is off for a moment in a mode set and a reset: some may be missing, and never one too many. */
    if (seq_now - *seq > due + 4 ||
        (seq_now + 4 + 4 * (resets_now - *resets) + (w->p->calm ? 0 : due / 8) < *seq + due))
        broken(w, "promise 3: %llu vblanks in %.3f s", (unsigned long long)(seq_now - *seq),
               (double)(time_now - *time) / 1e9);
    *seq = seq_now;
    *time = time_now;
    *resets = resets_now;
}

static void observer_main(void *arg)
{
    struct world *w = arg;
    struct dxgk_client *c;
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    uint64_t seq = 0, time = now(w), last = 0;
    unsigned resets = 0, turns = 0;

    if (dxgk_client_open(w->dxgk, &c, 2, true) || dxgk_OpenAdapterFromHdc(c, &open)) {
        broken(w, "the observer cannot open the adapter");
        w->running--;
        return;
    }
    seq = device_vblanks(w);
    while (w->running > 2 && !w->r->broken[0]) {
        struct aerogpu_escape_query_fence q = {
            .header = {AEROGPU_ESCAPE_VERSION, AEROGPU_ESCAPE_OP_QUERY_FENCE, sizeof(q), 0}};
        uint64_t then = now(w);
        NTSTATUS st = dxgk_Escape(c, &(D3DKMT_ESCAPE){.hAdapter = open.hAdapter,
                                                      .pPrivateDriverData = &q,
                                                      .PrivateDriverDataSize = sizeof(q)});
        w->r->escapes++;
        if (st != STATUS_SUCCESS || now(w) - then > NSEC_PER_MSEC)
            broken(w, "promise 6: QUERY_FENCE answered %08x after %.3f ms", (unsigned)st,
                   (double)(now(w) - then) / 1e6);
        if (q.last_completed_fence < last || q.last_completed_fence > q.last_submitted_fence)
            broken(w, "promise 1: completed fences went from %llu to %llu of %llu", (unsigned long long)last,
                   (unsigned long long)q.last_completed_fence, (unsigned long long)q.last_submitted_fence);
        last = q.last_completed_fence;
        if (++turns % 20 == 0 && dxgk_state(w->dxgk) == DXGK_STARTED)
            check_vblanks(w, &seq, &time, &resets);
        pass(w, 50 * NSEC_PER_MSEC);
    }
    dxgk_client_close(c);
    w->running--;
}

/* ---- the saboteur -------------------------------------------------------- */

static void sabotage(struct world *w)
{
    static const struct {
        enum dxgk_fault fault;
        uint32_t max;
    } faults[] = {
        {DXGK_FAULT_LOSE_INTERRUPT, 3}, {DXGK_FAULT_DOUBLE_INTERRUPT, 3}, {DXGK_FAULT_DELAY_INTERRUPT, 40000},
        {DXGK_FAULT_MISS_VBLANK, 3},    {DXGK_FAULT_LATE_VBLANK, 30000},  {DXGK_FAULT_BURST_VBLANK, 5},
        {DXGK_FAULT_LOSE_DOORBELL, 2},  {DXGK_FAULT_STALE_FENCE, 3},      {DXGK_FAULT_BLOCK_DDI, 900},
        {DXGK_FAULT_KILL_EXECUTOR, 1},  {DXGK_FAULT_STOP_EXECUTOR, 1},    {DXGK_FAULT_LATE_EXECUTOR, 700000},
    };
    unsigned i = (unsigned)rng_below(&w->rng, sizeof(faults) / sizeof(faults[0]));

    w->deaths |= faults[i].fault == DXGK_FAULT_KILL_EXECUTOR || faults[i].fault == DXGK_FAULT_STOP_EXECUTOR;
    dxgk_inject(w->dxgk, faults[i].fault, 1 + (uint32_t)rng_below(&w->rng, faults[i].max));
    w->r->injected++;
}

static void saboteur_main(void *arg)
{
    struct world *w = arg;
    bool last_blow = !rng_below(&w->rng, 12);

    while (going(w) && w->running > 2) {
        uint64_t roll = rng_below(&w->rng, 10);
        pass(w, NSEC_PER_MSEC + rng_below(&w->rng, 300 * NSEC_PER_MSEC));
        if (w->p->calm)
            continue;
        if (roll < 8) {
            sabotage(w);
        } else if (roll == 8) { /* a client is killed, whatever it waits for */
            struct actor *a = &w->actors[rng_below(&w->rng, MAX_CLIENTS)];
            if (a->client) {
                a->killed = true;
                dxgk_client_cancel(a->client);
            }
        } else if (last_blow && now(w) > w->end_ns / 2) {
            w->may_fail = true;
            dxgk_inject(w->dxgk, rng_below(&w->rng, 2) ? DXGK_FAULT_FAIL_RESET : DXGK_FAULT_BLOCK_DDI, 6000);
        }
    }
    w->running--;
}

/* ---- a life -------------------------------------------------------------- */

static uint32_t rate(struct rng *rng, uint32_t max)
{
    return rng_below(rng, 2) ? (uint32_t)rng_below(rng, max) : 0;
}

static void draw_faults(struct rng *rng, struct machine_faults *f)
{
    *f = (struct machine_faults){.lost_doorbell = rate(rng, 3000),
                                 .lost_interrupt = rate(rng, 20000),
                                 .doubled_interrupt = rate(rng, 50000),
                                 .delayed_interrupt = rate(rng, 50000),
                                 .late_vblank = rate(rng, 50000),
                                 .hang = rate(rng, 1000),
                                 .death = rate(rng, 3000),
                                 .late_answer = rate(rng, 50000)};
}

static void on_event(void *ctx, const struct dxgk_event *e)
{
    fprintf(stderr, "%12.6f  %s %u: %s\n", (double)e->time_ns / 1e9, e->source, e->id, e->text);
}

static void settle(struct world *w)
{
    enum dxgk_state state = dxgk_state(w->dxgk);
    struct actor last = {.w = w, .rng = w->rng, .id = 999};
    struct session s;

    w->r->failed = state == DXGK_FAILED;
    w->r->recoveries = dxgk_event_count(w->dxgk, 4101);
    if (state != DXGK_STARTED && !w->may_fail)
        broken(w, "the adapter failed and nothing was to make it");
    if (state == DXGK_STARTED && !w->r->broken[0]) { /* promise 5: new work runs */
        NTSTATUS st = STATUS_UNSUCCESSFUL;
        for (unsigned f = 0; f < DXGK_NUM_FAULTS; f++)
            dxgk_inject(w->dxgk, f, 0);
        if (dxgk_client_open(w->dxgk, &last.client, 3, false))
            broken(w, "no memory");
        for (unsigned tries = 0; tries < 20 && !NT_SUCCESS(st) && !w->r->broken[0]; tries++) {
            if (session_open(&s, &last))
                st = render(&s, 1);
            if (NT_SUCCESS(st))
                st = idle(&s);
            session_close(&s);
        }
        if (!NT_SUCCESS(st))
            broken(w, "promise 5: new work does not run: %08x", (unsigned)st);
        dxgk_client_close(last.client);
    }
    dxgk_unload(w->dxgk);
    for (unsigned i = 0; i < dxgk_violations(w->dxgk); i++) {
        const char *text = dxgk_violation(w->dxgk, i);
        broken(w, "a rule was broken: %.200s", text ? text : "?");
    }
    if (stack_memory_used(w->stack) && !w->r->failed)
        broken(w, "%llu bytes of guest memory are left", (unsigned long long)stack_memory_used(w->stack));
}

static bool all_ended(void *ctx)
{
    return !((struct world *)ctx)->running;
}

int sim_explore(const struct explore_params *p, struct explore_result *out)
{
    struct world *w = calloc(1, sizeof(*w));
    struct settings settings = {0};
    struct stack_params sp = {.machine = {.kind = MACHINE_SIM, .ram_size = 1024u << 20},
                              .settings = &settings};
    struct error e = {0};
    unsigned clients;
    bool strangers;
    uint64_t start;

    *out = (struct explore_result){0};
    if (!w) {
        snprintf(out->broken, sizeof(out->broken), "no memory");
        return -EBADE;
    }
    *w = (struct world){.p = p, .r = out, .rng = {p->seed}};
    clients = (unsigned)rng_below(&w->rng, 12) ? 1 + (unsigned)rng_below(&w->rng, 8)
                                               : 1 + (unsigned)rng_below(&w->rng, MAX_CLIENTS);
    if (p->clients)
        clients = p->clients < MAX_CLIENTS ? p->clients : MAX_CLIENTS;
    if (!p->calm) {
        draw_faults(&w->rng, &sp.machine.faults);
        w->deaths = sp.machine.faults.death || sp.machine.faults.hang;
    }
    sp.machine.seed = rng_next(&w->rng);
    strangers = rng_below(&w->rng, 2);
    if (p->verbose)
        sp.on_event = on_event;
    dxgk_settings_set(&settings, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 1 + (uint32_t)rng_below(&w->rng, 2));
    dxgk_settings_set(&settings, SETTINGS_GRAPHICS_DRIVERS, "TdrLimitCount", 100000);
    if (!rng_below(&w->rng, 4)) { /* a ring that is full all the time */
        dxgk_settings_set(&settings, DRIVER_KEY, "RingEntries", 2u << rng_below(&w->rng, 4));
        dxgk_settings_set(&settings, SETTINGS_GRAPHICS_DRIVERS, "HwQueuedRenderPacketGroupLimit",
                          1 + (uint32_t)rng_below(&w->rng, 64));
    }
    if (stack_create(&w->stack, &sp, &e) || !NT_SUCCESS(stack_start(w->stack, &e))) {
        snprintf(out->broken, sizeof(out->broken), "the stack does not start: %.200s", e.text);
        goto out;
    }
    w->dxgk = stack_dxgk(w->stack);
    w->kernel = dxgk_kernel(w->dxgk);
    start = now(w);
    w->end_ns = start + (p->length_ns ? p->length_ns : NSEC_PER_SEC + rng_below(&w->rng, 8 * NSEC_PER_SEC));
    w->running = clients + 2;
    for (unsigned i = 0; i < clients; i++) {
        struct actor *a = &w->actors[i];
        *a = (struct actor){.w = w, .rng = {rng_next(&w->rng)}, .id = i, .stranger = strangers && i % 2};
        if (dxgk_client_open(w->dxgk, &a->client, 100 + i, false) ||
            dxgk_kernel_spawn(w->kernel, "client", client_main, a))
            broken(w, "no memory");
        else if (a->stranger) /* but the display is for all of them */
            dxgk_client_set_user(a->client, 1000 + i % 3, true);
    }
    dxgk_kernel_spawn(w->kernel, "saboteur", saboteur_main, w);
    dxgk_kernel_spawn(w->kernel, "observer", observer_main, w);
    if (machine_wait(stack_machine(w->stack), all_ended, w, w->end_ns - start + 300 * NSEC_PER_SEC))
        broken(w, "%u of %u clients, observer and saboteur never came to an end", w->running, clients + 2);
    out->virtual_ns = now(w) - start;
    if (w->running) { /* whoever is stuck inside cannot be cleaned up after */
        dxgk_settings_finish(&settings);
        return -EBADE;
    }
    settle(w);
out:
    stack_destroy(w->stack);
    dxgk_settings_finish(&settings);
    free(w);
    return out->broken[0] ? -EBADE : 0;
}
