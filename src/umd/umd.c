/* SPDX-License-Identifier: MIT */
/* umd.c: devices and submissions. The contract is in umd.h. */
#include "umd/priv.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/check.h"
#include "dxgkrnl/progress.h"

#include <aerogpu/ext.h>

NTSTATUS umd_check(struct umd_device *d, NTSTATUS s)
{
    if (s == STATUS_DEVICE_REMOVED && !d->failed) {
        d->failed = s;
        umd_log("device 0x%x is removed, %llu submissions were made", d->device,
                (unsigned long long)d->stats.submissions);
    }
    return s;
}

NTSTATUS umd_escape(D3DKMT_HANDLE adapter, uint32_t op, void *block, uint32_t size)
{
    struct aerogpu_escape_header *h = block;
    D3DKMT_ESCAPE e = {.hAdapter = adapter,
                       .Type = D3DKMT_ESCAPE_DRIVERPRIVATE,
                       .pPrivateDriverData = block,
                       .PrivateDriverDataSize = size};

    *h = (struct aerogpu_escape_header){.version = AEROGPU_ESCAPE_VERSION, .op = op, .size = size};
    return D3DKMTEscape(&e);
}

const char *umd_status_name(NTSTATUS status, char buffer[16])
{
#define ROW(name, value)                                                                                     \
    if ((uint32_t)status == (uint32_t)(value))                                                               \
        return #name;
    WDDM_STATUS_CODES(ROW)
#undef ROW
    snprintf(buffer, 16, "0x%08X", (uint32_t)status);
    return buffer;
}

static NTSTATUS open_adapter(struct umd_device *d, const char *display)
{
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC)(uintptr_t)display};
    NTSTATUS s = D3DKMTOpenAdapterFromHdc(&open);

    d->adapter = open.hAdapter;
    d->source = open.VidPnSourceId;
    return s;
}

static void query_private(struct umd_device *d)
{
    D3DKMT_QUERYADAPTERINFO q = {.hAdapter = d->adapter,
                                 .Type = KMTQAITYPE_UMDRIVERPRIVATE,
                                 .pPrivateDriverData = &d->info,
                                 .PrivateDriverDataSize = sizeof(d->info)};

    if (!NT_SUCCESS(D3DKMTQueryAdapterInfo(&q)))
        memset(&d->info, 0, sizeof(d->info));
    d->own_names = d->info.flags & AEROGPU_EXT_UMD_PRIVATE_FLAG_OWN_HANDLES;
}

void umd_device_check(const struct umd_device *d)
{
    const struct umd_pace *p = &d->pace;
    const unsigned marks = sizeof(p->marks) / sizeof(p->marks[0]);

    INVARIANT((d->adapter || !d->device) && (d->device || !d->context));
    INVARIANT(NT_SUCCESS(d->failed) == !d->failed); /* 5 */
    INVARIANT(d->num_free_names <= sizeof(d->free_names) / sizeof(d->free_names[0]));
    INVARIANT(!d->own_names || d->num_free_names <= d->last_name);
    INVARIANT(d->budget && p->first < marks && p->count <= marks);
    INVARIANT(p->since_work <= p->submitted);
    INVARIANT(!p->count || p->marks[(p->first + p->count - 1) % marks].work == p->submitted);
    for (const struct umd_resource *r = d->resources; r; r = r->next) {
        INVARIANT(r->device == d && r->handle && (!d->own_names || r->handle <= d->last_name)); /* 2 */
        INVARIANT(!r->noted || r->alloc_id);                                                    /* 3 */
        INVARIANT((r->noted || !r->noted_write) && (r->pinned || !r->pinned_write));
    }
}

NTSTATUS umd_open(struct umd_device **out, const struct umd_params *params)
{
    static const struct umd_params defaults;
    struct umd_device *d = calloc(1, sizeof(*d));
    struct aerogpu_context_priv priv = {.magic = AEROGPU_CONTEXT_PRIV_MAGIC, .version = 1};
    D3DKMT_CREATEDEVICE device = {0};
    D3DKMT_CREATECONTEXT context = {.ClientHint = D3DKMT_CLIENTHINT_DX10};
    NTSTATUS s;

    if (!params)
        params = &defaults;
    *out = NULL;
    if (!d)
        return STATUS_NO_MEMORY;
    abi_builder_init(&d->stream);
    d->budget = 1;
    s = open_adapter(d, params->display);
    if (!NT_SUCCESS(s))
        goto fail;
    query_private(d);
    device.hAdapter = d->adapter;
    s = D3DKMTCreateDevice(&device);
    if (!NT_SUCCESS(s))
        goto fail;
    d->device = device.hDevice;
    context.hDevice = d->device;
    query_private(d); /* now that the process has a device it has an engine, too */
    context.NodeOrdinal = AEROGPU_EXT_UMD_PRIVATE_ENGINE(d->info.flags);
    if (params->dma_buffer_bytes) {
        priv.dma_buffer_bytes = params->dma_buffer_bytes;
        context.pPrivateDriverData = &priv;
        context.PrivateDriverDataSize = sizeof(priv);
    }
    s = D3DKMTCreateContext(&context);
    if (!NT_SUCCESS(s))
        goto fail;
    d->context = context.hContext;
    d->command = context.pCommandBuffer;
    d->command_size = context.CommandBufferSize;
    d->list = context.pAllocationList;
    d->list_size = context.AllocationListSize;
    d->progress = d3dkmt_progress(d->context);
    umd_device_check(d);
    umd_log("open: device 0x%x, ABI 0x%x, features 0x%llx, flags 0x%x", d->device, d->info.device_abi_version,
            (unsigned long long)d->info.device_features, d->info.flags);
    *out = d;
    return STATUS_SUCCESS;
fail:
    umd_log("open failed: 0x%08x", (uint32_t)s);
    umd_close(d);
    return s;
}

void umd_made(struct umd_device *d, uint32_t name, bool layout)
{
    /* One that stays is better than one that cannot be used. */
    if (d->own_names || array_reserve(d->made, d->room_made, d->num_made + 1))
        return;
    d->made[d->num_made].layout = layout;
    d->made[d->num_made++].name = name;
}

/* What a driver would leave that keeps no account of it. */
static void destroy_made(struct umd_device *d)
{
    for (size_t i = 0; i < d->num_made; i++)
        if (d->made[i].layout)
            ABI_EMIT(&d->stream, DESTROY_INPUT_LAYOUT, destroy_input_layout,
                     .input_layout_handle = d->made[i].name);
        else
            ABI_EMIT(&d->stream, DESTROY_SHADER, destroy_shader, .shader_handle = d->made[i].name);
    for (struct umd_resource *r = d->resources; r; r = r->next)
        ABI_EMIT(&d->stream, DESTROY_RESOURCE, destroy_resource, .resource_handle = r->handle);
}

void umd_close(struct umd_device *d)
{
    if (!d)
        return;
    umd_device_check(d);
    /* The device takes contexts and allocations with it, flips that wait for a vblank included; shared surfaces of ours
     * are given up in the order of the stream first. */
    for (struct umd_resource *r = d->resources; r && d->context; r = r->next)
        if (r->share_token && !r->imported)
            ABI_EMIT(&d->stream, RELEASE_SHARED_SURFACE, release_shared_surface,
                     .share_token = r->share_token);
    if (d->context && !d->own_names)
        destroy_made(d);
    if (d->context && !d->failed)
        umd_flush(d, NULL);
    umd_log("close: device 0x%x, %llu submissions, %llu presents, %llu bytes", d->device,
            (unsigned long long)d->stats.submissions, (unsigned long long)d->stats.presents,
            (unsigned long long)d->stats.bytes);
    free(d->made);
    for (struct umd_resource *r = d->resources, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    if (d->device)
        D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = d->device});
    if (d->adapter)
        D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = d->adapter});
    abi_builder_finish(&d->stream);
    free(d);
}

D3DKMT_HANDLE umd_adapter(const struct umd_device *d)
{
    return d->adapter;
}

D3DKMT_HANDLE umd_kmt_device(const struct umd_device *d)
{
    return d->device;
}

D3DKMT_HANDLE umd_context(const struct umd_device *d)
{
    return d->context;
}

const struct aerogpu_umd_private *umd_private(const struct umd_device *d)
{
    return &d->info;
}

const struct umd_stats *umd_stats(const struct umd_device *d)
{
    return &d->stats;
}

struct abi_builder *umd_stream(struct umd_device *d)
{
    return &d->stream;
}

/* 31 bits: 16 of the process id, 15 that count. Processes that are 65536 ids apart do not live at once. */
static uint32_t name_of_everybody(void)
{
    static atomic_uint last;
    uint32_t name;

    do
        name = ((uint32_t)getpid() & 0xFFFF) << 15 | (atomic_fetch_add(&last, 1) & 0x7FFF);
    while (!name);
    return name;
}

/* Names are the device's own, below 2^20, or nobody else's; those of destroyed resources come round again. */
uint32_t umd_name(struct umd_device *d)
{
    if (d->num_free_names)
        return d->free_names[--d->num_free_names];
    return d->own_names ? ++d->last_name : name_of_everybody();
}

void umd_free_name(struct umd_device *d, uint32_t name)
{
    if (d->num_free_names == sizeof(d->free_names) / sizeof(d->free_names[0]))
        return; /* it stays unused */
    d->free_names[d->num_free_names++] = name;
}

void umd_use(struct umd_resource *r, bool write)
{
    if (!r || !r->alloc_id)
        return;
    r->noted = true;
    r->noted_write |= write;
}

void umd_pin(struct umd_resource *r, bool write)
{
    if (!r)
        return;
    r->pinned = true;
    r->pinned_write |= write;
}

void umd_unpin(struct umd_resource *r)
{
    if (r)
        r->pinned = r->pinned_write = false;
}

void umd_rebind(struct umd_resource **slot, struct umd_resource *r, bool write)
{
    struct umd_device *d = r ? r->device : *slot ? (*slot)->device : NULL;
    struct umd_resource *old = *slot;

    *slot = r;
    if (old && old != r) { /* still bound elsewhere? */
        bool bound = old == d->target || old == d->vertices || old == d->uav;
        for (unsigned i = 0; i < 8; i++)
            bound |= old == d->constants[i];
        if (!bound)
            umd_unpin(old);
    }
    umd_pin(r, write);
}

void umd_forget(struct umd_resource *r)
{
    struct umd_device *d = r->device;
    struct umd_resource **slots[] = {&d->target, &d->vertices, &d->uav};

    for (unsigned i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        if (*slots[i] == r)
            *slots[i] = NULL;
    for (unsigned i = 0; i < 8; i++)
        if (d->constants[i] == r)
            d->constants[i] = NULL;
}

static NTSTATUS fill_list(struct umd_device *d, uint32_t *count)
{
    uint32_t n = 0;

    for (struct umd_resource *r = d->resources; r; r = r->next) {
        bool write = r->noted_write || r->pinned_write;
        if (!r->alloc_id || !(r->noted || r->pinned))
            continue;
        if (n == d->list_size)
            return STATUS_GRAPHICS_TOO_MANY_REFERENCES;
        d->list[n] = (D3DDDI_ALLOCATIONLIST){.hAllocation = r->allocation};
        d->list[n++].WriteOperation = write;
    }
    *count = n;
    return STATUS_SUCCESS;
}

NTSTATUS umd_flush(struct umd_device *d, uint64_t *fence)
{
    uint32_t size = 0;
    const void *stream;
    D3DKMT_RENDER r = {.hContext = d->context};
    NTSTATUS s;

    umd_device_check(d);
    if (fence)
        *fence = d->progress ? atomic_load(&d->progress->queued) : 0;
    if (d->failed)
        return d->failed;
    stream = abi_builder_end(&d->stream, &size);
    if (!stream)
        return STATUS_NO_MEMORY;
    if (size <= sizeof(struct aerogpu_cmd_stream_header))
        return STATUS_SUCCESS;
    if (size > d->command_size) {
        abi_builder_reset(&d->stream);
        return STATUS_INVALID_BUFFER_SIZE;
    }
    memcpy(d->command, stream, size);
    s = fill_list(d, &r.AllocationCount);
    r.CommandLength = size;
    if (NT_SUCCESS(s))
        s = D3DKMTRender(&r);
    umd_log("submit: context 0x%x, packet %llu, %u bytes, %u allocations: 0x%08x", d->context,
            (unsigned long long)(d->progress ? atomic_load(&d->progress->queued) : 0), size,
            r.AllocationCount, (uint32_t)s);
    abi_builder_reset(&d->stream);
    for (struct umd_resource *u = d->resources; u; u = u->next)
        u->noted = u->noted_write = false;
    if (NT_SUCCESS(s)) {
        d->command = r.pNewCommandBuffer;
        d->command_size = r.NewCommandBufferSize;
        d->list = r.pNewAllocationList;
        d->list_size = r.NewAllocationListSize;
        d->stats.submissions++;
        d->stats.bytes += size;
        umd_pace_submitted(d, atomic_load(&d->progress->queued));
        if (fence)
            *fence = atomic_load(&d->progress->queued);
    }
    d->work = 0;
    s = umd_check(d, s);
    umd_device_check(d);
    return s;
}

uint64_t umd_completed(const struct umd_device *d)
{
    return d->progress ? atomic_load(&d->progress->completed) : 0;
}

bool umd_removed(const struct umd_device *d)
{
    return d->failed || (d->progress && atomic_load(&d->progress->state) != D3DKMT_DEVICEEXECUTION_ACTIVE);
}

NTSTATUS umd_wait(struct umd_device *d, uint64_t fence, int timeout_ms)
{
    NTSTATUS s;

    if (d->failed)
        return d->failed;
    s = d3dkmt_wait(d->context, fence,
                    timeout_ms < 0 ? D3DKMT_FOREVER : (uint64_t)timeout_ms * NSEC_PER_MSEC);
    umd_pace_look(d, s == STATUS_SUCCESS && umd_completed(d) == fence);
    s = umd_check(d, s);
    umd_device_check(d);
    return s;
}

NTSTATUS umd_finish(struct umd_device *d, int timeout_ms)
{
    uint64_t fence;
    NTSTATUS s = umd_flush(d, &fence);

    return NT_SUCCESS(s) ? umd_wait(d, fence, timeout_ms) : s;
}
