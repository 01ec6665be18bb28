/* SPDX-License-Identifier: MIT */
/* Several clients of one stack at once, in a sim: commands of 6 bytes make, share, use, destroy and name again devices, contexts,
 * allocations and synchronisation objects, and let time pass in between. Handles are kept when what they named is gone, and said by
 * others than their owners.
 *
 * What must hold: a handle works for its owner as long as it lives and for nobody after; a device is lost only by what its own
 * client rendered; no rule is broken, nothing takes for ever; and when the clients have gone, nothing of theirs is left. */
#include "fuzz.h"

#include <string.h>

#include "abi/builder.h"
#include "aerogpu/alloc.h"
#include "aerogpu/ext.h"
#include "stack/stack.h"

enum { CLIENTS = 3, OBJECTS = 32, COMMAND = 6, MAX_COMMANDS = 96, MAX_PACKETS = 24 };
enum kind { EMPTY, DEVICE, CONTEXT, ALLOCATION, SYNC };

struct object {
    enum kind kind;
    unsigned client;
    bool live, guilty; /* guilty: a device whose client rendered what may fault */
    D3DKMT_HANDLE h, device, resource;
    void *command;
    D3DDDI_ALLOCATIONLIST *list;
    unsigned packets, locks;
};

static struct stack *stack;
static struct dxgk_client *clients[CLIENTS];
static D3DKMT_HANDLE adapters[CLIENTS], shares[4];
static struct object objects[OBJECTS];
static unsigned next_object, next_share;

static void open_client(unsigned i)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};

    must(!dxgk_client_open(stack_dxgk(stack), &clients[i], 100 + i, false));
    must(NT_SUCCESS(dxgk_OpenAdapterFromHdc(clients[i], &open)));
    adapters[i] = open.hAdapter;
}

static void start(void)
{
    struct error e = {0};

    must(!stack_create(&stack,
                       &(struct stack_params){.machine = {.kind = MACHINE_SIM, .ram_size = 256 << 20}}, &e));
    must(NT_SUCCESS(stack_start(stack, &e)));
}

/* What client `who` is answered when it says the handle of `o` as one of `kind`. */
static bool may(const struct object *o, enum kind kind, unsigned who)
{
    return o->live && o->kind == kind && o->client == who;
}

static struct object *device_of(const struct object *o)
{
    for (unsigned i = 0; i < OBJECTS; i++)
        if (objects[i].live && objects[i].kind == DEVICE && objects[i].h == o->device)
            return &objects[i];
    return NULL;
}

/* The call's status against whether it was allowed. True: it succeeded. */
static bool judge(NTSTATUS s, bool allowed, const struct object *device)
{
    if (!allowed) {
        must(s == STATUS_INVALID_HANDLE);
        return false;
    }
    must(s != STATUS_INVALID_HANDLE);
    must(s != STATUS_DEVICE_REMOVED || (device && device->guilty));
    return NT_SUCCESS(s);
}

static struct object *keep(enum kind kind, unsigned who, D3DKMT_HANDLE h, D3DKMT_HANDLE device)
{
    struct object *o = &objects[next_object++ % OBJECTS];

    for (unsigned i = 0; i < OBJECTS; i++)
        must(objects[i].h != h || !objects[i].live); /* no handle names two */
    *o = (struct object){.kind = kind, .client = who, .live = true, .h = h, .device = device};
    return o;
}

/* ---- commands ------------------------------------------------------------- */

static void make_context(unsigned who, const struct object *dev)
{
    struct aerogpu_context_priv small = {
        .magic = AEROGPU_CONTEXT_PRIV_MAGIC, .version = 1, .dma_buffer_bytes = 1};
    D3DKMT_CREATECONTEXT x = {
        .hDevice = dev->h, .pPrivateDriverData = &small, .PrivateDriverDataSize = sizeof(small)};

    if (judge(dxgk_CreateContext(clients[who], &x), may(dev, DEVICE, who), dev)) {
        struct object *o = keep(CONTEXT, who, x.hContext, dev->h);
        o->command = x.pCommandBuffer;
        o->list = x.pAllocationList;
    }
}

static void allocate(unsigned who, const struct object *dev, uint8_t id, uint8_t pages, bool shared)
{
    struct aerogpu_alloc_priv_v2 p = {.magic = AEROGPU_ALLOC_PRIV_MAGIC,
                                      .version = 2,
                                      .alloc_id = id,
                                      .flags = AEROGPU_ALLOC_PRIV_FLAG_CPU_VISIBLE |
                                               (shared ? AEROGPU_ALLOC_PRIV_FLAG_SHARED : 0u),
                                      .size_bytes = 4096u * pages,
                                      .kind = AEROGPU_ALLOC_KIND_BUFFER};
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = &p, .PrivateDriverDataSize = sizeof(p)};
    D3DKMT_CREATEALLOCATION a = {.hDevice = dev->h, .NumAllocations = 1, .pAllocationInfo = &info};
    struct object *o;

    a.Flags.CreateResource = a.Flags.CreateShared = shared;
    if (!judge(dxgk_CreateAllocation(clients[who], &a), may(dev, DEVICE, who), dev))
        return;
    o = keep(ALLOCATION, who, info.hAllocation, dev->h);
    o->resource = a.hResource;
    if (shared)
        shares[next_share++ % 4] = a.hGlobalShare;
}

static void open_share(unsigned who, const struct object *dev, D3DKMT_HANDLE share)
{
    uint8_t priv[256], runtime[64], resource[64];
    D3DDDI_OPENALLOCATIONINFO info = {0};
    D3DKMT_OPENRESOURCE o = {.hDevice = dev->h,
                             .hGlobalShare = share,
                             .NumAllocations = 1,
                             .pOpenAllocationInfo = &info,
                             .pPrivateRuntimeData = runtime,
                             .PrivateRuntimeDataSize = sizeof(runtime),
                             .pResourcePrivateDriverData = resource,
                             .ResourcePrivateDriverDataSize = sizeof(resource),
                             .pTotalPrivateDriverDataBuffer = priv,
                             .TotalPrivateDriverDataBufferSize = sizeof(priv)};
    NTSTATUS s = dxgk_OpenResource(clients[who], &o);

    must(!NT_SUCCESS(s) || may(dev, DEVICE, who)); /* the share may be gone, or not be the last */
    if (NT_SUCCESS(s))
        keep(ALLOCATION, who, info.hAllocation, dev->h)->resource = o.hResource;
}

static void destroy(unsigned who, struct object *o)
{
    D3DKMT_DESTROYALLOCATION a = {.hDevice = o->device, .hResource = o->resource};
    NTSTATUS s = STATUS_INVALID_HANDLE;
    bool allowed = o->live && o->client == who;

    if (o->kind == DEVICE)
        s = dxgk_DestroyDevice(clients[who], &(D3DKMT_DESTROYDEVICE){.hDevice = o->h});
    else if (o->kind == CONTEXT)
        s = dxgk_DestroyContext(clients[who], &(D3DKMT_DESTROYCONTEXT){.hContext = o->h});
    else if (o->kind == SYNC)
        s = dxgk_DestroySynchronizationObject(clients[who],
                                              &(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){.hSyncObject = o->h});
    else if (o->kind == ALLOCATION) {
        a.phAllocationList = o->resource ? NULL : &o->h;
        a.AllocationCount = !o->resource;
        s = dxgk_DestroyAllocation(clients[who], &a);
        if (!o->live && s == STATUS_SUCCESS) /* of a resource, whose handles outlive an allocation's here */
            must(o->resource != 0);
    }
    must(NT_SUCCESS(s) == allowed && (allowed || s == STATUS_INVALID_HANDLE));
    if (!allowed)
        return;
    for (unsigned i = 0; i < OBJECTS; i++)
        if (objects[i].client == who && ((o->kind == DEVICE && objects[i].device == o->h) ||
                                         (o->resource && objects[i].resource == o->resource)))
            objects[i].live = false;
    o->live = false;
}

static void render(unsigned who, struct object *x, const struct object *a, const struct object *b,
                   uint8_t how)
{
    struct abi_builder s;
    const void *bytes;
    uint32_t size;
    D3DKMT_RENDER r = {.hContext = x->h};
    struct object *dev = device_of(x);
    bool known = may(x, CONTEXT, who), allowed = known;

    if (x->kind != CONTEXT || x->packets >= MAX_PACKETS)
        return;
    abi_builder_init(&s);
    if (how & 1)
        ABI_EMIT(&s, CREATE_BUFFER, create_buffer, .buffer_handle = how, .size_bytes = 64);
    if (how & 2)
        ABI_EMIT(&s, DESTROY_RESOURCE, destroy_resource, .resource_handle = how & 0xFD);
    bytes = abi_builder_end(&s, &size);
    if (x->live) { /* else its memory is gone too */
        r.CommandLength = size;
        r.AllocationCount = 2;
        memcpy(x->command, bytes, size);
        x->list[0] = (D3DDDI_ALLOCATIONLIST){.hAllocation = a->h};
        x->list[1] = (D3DDDI_ALLOCATIONLIST){.hAllocation = b->h};
        x->list[0].WriteOperation = how >> 2 & 1;
        allowed &= (!a->h || may(a, ALLOCATION, who)) && (!b->h || may(b, ALLOCATION, who)); /* 0: no entry */
        if (known && how & 0x80) { /* a packet that ends behind its stream */
            ((uint32_t *)x->command)[2] = size;
            if (dev)
                dev->guilty = true;
        }
    }
    if (known && !allowed)
        must(dxgk_Render(clients[who], &r) != STATUS_SUCCESS);
    else if (judge(dxgk_Render(clients[who], &r), allowed, dev))
        x->packets++;
    abi_builder_finish(&s);
}

static void lock(unsigned who, struct object *a, bool down)
{
    D3DKMT_LOCK l = {.hDevice = a->device, .hAllocation = a->h};
    bool allowed = may(a, ALLOCATION, who);

    l.Flags.DonotWait = 1;
    if (down) {
        if (judge(dxgk_Lock(clients[who], &l), allowed, device_of(a))) {
            memset(l.pData, 0xA5, 4096);
            a->locks++;
        }
        return;
    }
    if (!allowed || a->locks)
        must(NT_SUCCESS(dxgk_Unlock(clients[who], &(D3DKMT_UNLOCK){a->device, 1, &a->h})) == allowed);
    a->locks -= allowed && a->locks;
}

static void make_sync(unsigned who, const struct object *dev, uint8_t type, uint8_t value)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = dev->h};

    c.Info.Type = type % 3 == 0   ? D3DDDI_SYNCHRONIZATION_MUTEX
                  : type % 3 == 1 ? D3DDDI_SEMAPHORE
                                  : D3DDDI_FENCE;
    if (type % 3 == 0)
        c.Info.SynchronizationMutex.InitialState = value & 1;
    else if (type % 3 == 1)
        c.Info.Semaphore.InitialCount = value % 3, c.Info.Semaphore.MaxCount = 3;
    else
        c.Info.Fence.FenceValue = value;
    if (judge(dxgk_CreateSynchronizationObject2(clients[who], &c), may(dev, DEVICE, who), dev))
        keep(SYNC, who, c.hSyncObject, dev->h);
}

static void queue_sync(unsigned who, struct object *x, const struct object *o, uint8_t value, bool signal)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 s = {.hContext = x->h, .ObjectCount = 1, .ObjectHandleArray = {o->h}};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 w = {
        .hContext = x->h, .ObjectCount = 1, .ObjectHandleArray = {o->h}};

    if (x->kind != CONTEXT || x->packets >= MAX_PACKETS)
        return;
    s.Fence.FenceValue = w.Fence.FenceValue = value;
    if (judge(signal ? dxgk_SignalSynchronizationObject2(clients[who], &s)
                     : dxgk_WaitForSynchronizationObject2(clients[who], &w),
              may(x, CONTEXT, who) && may(o, SYNC, who), device_of(x)))
        x->packets++;
}

static void step(const uint8_t *c)
{
    unsigned who = c[1] % CLIENTS;
    struct object *a = &objects[c[2] % OBJECTS], *b = &objects[c[3] % OBJECTS], *d = &objects[c[4] % OBJECTS];
    D3DKMT_CREATEDEVICE new = {.hAdapter = adapters[who]};

    switch (c[0] % 12) {
    case 0:
        must(NT_SUCCESS(dxgk_CreateDevice(clients[who], &new)));
        keep(DEVICE, who, new.hDevice, 0);
        break;
    case 1:
        make_context(who, a);
        break;
    case 2:
        allocate(who, a, c[3], 1 + c[4] % 8, c[5] & 1);
        break;
    case 3:
        open_share(who, a, shares[c[3] % 4]);
        break;
    case 4:
        destroy(who, a);
        break;
    case 5:
    case 6:
        render(who, a, b, d, c[5]);
        break;
    case 7:
        lock(who, a, c[3] & 1);
        break;
    case 8:
        make_sync(who, a, c[3], c[4]);
        break;
    case 9:
        queue_sync(who, a, b, c[4], c[5] & 1);
        break;
    case 10:
        stack_sleep(stack, c[2] * UINT64_C(100000));
        break;
    default:
        dxgk_client_close(clients[who]);
        for (unsigned i = 0; i < OBJECTS; i++)
            objects[i].live &= objects[i].client != who;
        open_client(who);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!stack)
        start();
    memset(objects, 0, sizeof(objects));
    memset(shares, 0, sizeof(shares));
    next_object = next_share = 0;
    for (unsigned i = 0; i < CLIENTS; i++)
        open_client(i);
    for (size_t at = 0; at + COMMAND <= size && at < COMMAND * MAX_COMMANDS; at += COMMAND)
        step(data + at);
    for (unsigned i = 0; i < OBJECTS; i++) {
        D3DKMT_GETDEVICESTATE s = {.hDevice = objects[i].h, .StateType = D3DKMT_DEVICESTATE_EXECUTION};
        if (!objects[i].live || objects[i].kind != DEVICE)
            continue;
        must(NT_SUCCESS(dxgk_GetDeviceState(clients[objects[i].client], &s)));
        must(s.ExecutionState == D3DKMT_DEVICEEXECUTION_ACTIVE || objects[i].guilty);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        dxgk_client_close(clients[i]);
    stack_sleep(stack,
                4 * NSEC_PER_MSEC); /* their names are said to the GPU: none is left for the next input */
    must(dxgk_state(stack_dxgk(stack)) == DXGK_STARTED && !dxgk_violations(stack_dxgk(stack)));
    must(!dxgk_event_count(stack_dxgk(stack), 4101));
    return 0;
}
