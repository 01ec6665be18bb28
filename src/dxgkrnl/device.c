/* device.c: clients, devices and contexts. A device's objects go with it; a client's devices go with the client. */
#include "dxgkrnl/private.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct device *device_create(struct dxgk *d, struct dxgk_client *client, NTSTATUS *status)
{
    struct device *dev = calloc(1, sizeof(*dev));
    DXGKARG_CREATEDEVICE args = {.hDevice = (HANDLE)dev};

    *status = STATUS_NO_MEMORY;
    if (!dev)
        return NULL;
    dev->d = d;
    dev->client = client;
    dev->state = D3DKMT_DEVICEEXECUTION_ACTIVE;
    dev->handle = handle_new(d, HANDLE_DEVICE, client, dev);
    if (!dev->handle) {
        free(dev);
        return NULL;
    }
    args.Flags.SystemDevice = !client;
    {
        struct kernel_ddi ddi;
        kernel_ddi_enter(d->kernel, &ddi, "DxgkDdiCreateDevice", PASSIVE_LEVEL, d->tdr_ddi_delay_ns);
        fault_block(d);
        *status = d->ddi.DxgkDdiCreateDevice(d->miniport, &args);
        kernel_ddi_leave(d->kernel, &ddi);
    }
    if (!NT_SUCCESS(*status)) {
        handle_free(d, dev->handle);
        free(dev);
        return NULL;
    }
    dev->driver = args.hDevice;
    dev->next = d->devices;
    d->devices = dev;
    return dev;
}

void device_destroy(struct device *dev)
{
    struct dxgk *d = dev->d;

    handle_free(d, dev->handle);
    if (dev->state == D3DKMT_DEVICEEXECUTION_ACTIVE)
        device_set_state(dev, D3DKMT_DEVICEEXECUTION_STOPPED);
    display_drop_flips(d, dev);
    while (dev->contexts)
        context_destroy(dev->contexts);
    while (dev->resources)
        vidmm_close(dev->resources);
    while (dev->closing) /* by the scheduler's thread */
        kernel_wait(d->kernel, &d->progress, LOOP_FOREVER);
    while (dev->syncs) {
        struct syncobj *s = dev->syncs;
        dev->syncs = s->next;
        handle_free(d, s->handle);
        sync_unref(s);
    }
    for (unsigned i = 0; i < d->num_sources; i++)
        if (d->sources[i].owner == dev) {
            d->sources[i].owner = NULL;
            d->sources[i].owner_type = D3DKMT_VIDPNSOURCEOWNER_UNOWNED;
        }
    for (struct device **p = &d->devices; *p; p = &(*p)->next)
        if (*p == dev) {
            *p = dev->next;
            break;
        }
    if (d->miniport && adapter_lock_cleanup(d)) {
        DDI(d, DestroyDevice, dev->driver);
        adapter_unlock(d);
    }
    free(dev);
}

#define WATCH_NS (500 * NSEC_PER_USEC)

static void publish(struct context *c)
{
    struct dxgk_progress *p = c->progress;

    if (!p)
        return;
    kernel_wake_all(c->device->d->kernel, &c->done);
    atomic_store_explicit(&p->state, (uint32_t)c->device->state, memory_order_relaxed);
    atomic_store_explicit(&p->completed, c->packets_done, memory_order_release); /* after the state */
    p->change++;
    if (p->waiters)
        syscall(SYS_futex, &p->change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void context_packet_queued(struct context *c)
{
    c->packets++;
    if (c->progress)
        atomic_store_explicit(&c->progress->queued, c->packets, memory_order_release);
}

void context_packet_done(struct context *c)
{
    c->packets_done++;
    publish(c);
}

void device_set_state(struct device *dev, D3DKMT_DEVICEEXECUTION_STATE state)
{
    dev->state = state;
    vblanks_changed(dev->d);
    for (struct context *c = dev->contexts; c; c = c->next)
        publish(c);
}

static size_t round_up(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static int make_buffers(struct context *c)
{
    size_t command = round_up(c->info.DmaBufferSize),
           list = round_up(c->info.AllocationListSize * sizeof(D3DDDI_ALLOCATIONLIST)),
           patch = round_up(c->info.PatchLocationListSize * sizeof(D3DDDI_PATCHLOCATIONLIST));

    c->buffer_size = command + list + patch + round_up(sizeof(struct dxgk_progress));
    c->buffer_fd = memfd_create("d3dkmt-command", MFD_CLOEXEC);
    if (c->buffer_fd < 0 || ftruncate(c->buffer_fd, (off_t)c->buffer_size))
        return -errno;
    c->command = mmap(NULL, c->buffer_size, PROT_READ | PROT_WRITE, MAP_SHARED, c->buffer_fd, 0);
    if (c->command == MAP_FAILED) {
        c->command = NULL;
        return -errno;
    }
    c->list = (D3DDDI_ALLOCATIONLIST *)((uint8_t *)c->command + command);
    c->patch = (D3DDDI_PATCHLOCATIONLIST *)((uint8_t *)c->command + command + list);
    c->progress = (struct dxgk_progress *)((uint8_t *)c->command + command + list + patch);
    c->progress->state = (uint32_t)c->device->state;
    return 0;
}

static void free_buffers(struct context *c)
{
    if (c->command)
        munmap(c->command, c->buffer_size);
    if (c->buffer_fd >= 0)
        close(c->buffer_fd);
}

struct context *context_create(struct device *dev, UINT node, UINT affinity, void *priv, UINT priv_size,
                               NTSTATUS *status)
{
    struct dxgk *d = dev->d;
    struct context *c = calloc(1, sizeof(*c));
    DXGKARG_CREATECONTEXT args = {.hContext = (HANDLE)c,
                                  .NodeOrdinal = node,
                                  .EngineAffinity = affinity ? affinity : 1,
                                  .pPrivateDriverData = priv,
                                  .PrivateDriverDataSize = priv_size};

    *status = STATUS_NO_MEMORY;
    if (!c)
        return NULL;
    args.Flags.SystemContext = !dev->client;
    *status = DDI(d, CreateContext, dev->driver, &args);
    if (!NT_SUCCESS(*status)) {
        free(c);
        return NULL;
    }
    c->buffer_fd = -1;
    c->device = dev;
    c->driver = args.hContext;
    c->node = node;
    c->info = args.ContextInfo;
    c->queue_last = &c->queue;
    *status = STATUS_NO_MEMORY;
    if (!c->info.DmaBufferSize || c->info.DmaBufferSize > UINT32_C(256) << 20 ||
        c->info.AllocationListSize > 65536 || c->info.PatchLocationListSize > 65536 ||
        c->info.DmaBufferPrivateDataSize > 1 << 20) {
        kernel_violation(d->kernel,
                         "DxgkDdiCreateContext asks for a DMA buffer of %u bytes, lists of %u and %u entries",
                         c->info.DmaBufferSize, c->info.AllocationListSize, c->info.PatchLocationListSize);
        *status = STATUS_INVALID_PARAMETER;
        goto fail;
    }
    if (dev->client && make_buffers(c))
        goto fail;
    c->handle = handle_new(d, HANDLE_CONTEXT, dev->client, c);
    if (!c->handle)
        goto fail;
    c->next = dev->contexts;
    dev->contexts = c;
    c->next_all = d->contexts;
    d->contexts = c;
    *status = STATUS_SUCCESS;
    return c;
fail:
    DDI(d, DestroyContext, c->driver);
    free_buffers(c);
    free(c);
    return NULL;
}

void context_destroy(struct context *c)
{
    struct device *dev = c->device;
    struct dxgk *d = dev->d;

    handle_free(d, c->handle);
    if (c->progress)
        c->progress->state = D3DKMT_DEVICEEXECUTION_STOPPED;
    sched_drop_context(c);
    while (c->watchers) /* they look up at the latest after WATCH_NS */
        kernel_wait(d->kernel, &c->idle, LOOP_FOREVER);
    for (struct context **p = &dev->contexts; *p; p = &(*p)->next)
        if (*p == c) {
            *p = c->next;
            break;
        }
    for (struct context **p = &d->contexts; *p; p = &(*p)->next_all)
        if (*p == c) {
            *p = c->next_all;
            break;
        }
    for (unsigned i = 0; i < d->num_nodes; i++)
        if (d->nodes[i].last_context == c)
            d->nodes[i].last_context = NULL;
    if (d->miniport && adapter_lock_cleanup(d)) {
        DDI(d, DestroyContext, c->driver);
        adapter_unlock(d);
    }
    kernel_wake_all(d->kernel, &c->space); /* they find the handle gone */
    kernel_wake_all(d->kernel, &c->idle);
    kernel_wake_all(d->kernel, &c->done);
    free_buffers(c);
    free(c);
}

const struct dxgk_progress *dxgk_context_progress(struct dxgk_client *c, D3DKMT_HANDLE context)
{
    struct context *x;
    const struct dxgk_progress *p;

    kernel_enter(c->d->kernel);
    x = handle_get(c->d, context, HANDLE_CONTEXT, c);
    p = x ? x->progress : NULL;
    kernel_leave(c->d->kernel);
    return p;
}

struct watch {
    const struct dxgk_progress *progress;
    uint64_t value;
};

static bool watched(void *arg)
{
    const struct watch *w = arg;

    return w->progress->completed >= w->value || w->progress->state != D3DKMT_DEVICEEXECUTION_ACTIVE;
}

/* Lets the host wait for the device: good for work that is done soon. Only for a while, since the end may come without an
 * interrupt, or be noticed by a thread that has the processor just then. */
static void wait_by_host(struct dxgk *d, struct context *x, uint64_t value, uint64_t end)
{
    struct watch w = {x->progress, value};
    uint64_t now = kernel_now(d->kernel);

    x->watchers++;
    kernel_leave(d->kernel);
    d->bus->wait(d->bus->ctx, watched, &w, end - now < WATCH_NS ? end - now : WATCH_NS);
    kernel_enter(d->kernel);
    if (!--x->watchers)
        kernel_wake_all(d->kernel, &x->idle);
}

static void note_awaited(struct context *x, uint64_t value)
{
    if (x && x->progress)
        atomic_store_explicit(&x->progress->awaited, value, memory_order_relaxed);
}

NTSTATUS dxgk_wait_progress(struct dxgk_client *c, D3DKMT_HANDLE context, uint64_t value, uint64_t timeout_ns)
{
    struct dxgk *d = c->d;
    NTSTATUS s = STATUS_PENDING;
    bool tried = false;
    uint64_t end;

    kernel_enter(d->kernel);
    note_awaited(handle_get(d, context, HANDLE_CONTEXT, c), value);
    end = timeout_ns == LOOP_FOREVER ? LOOP_FOREVER : kernel_now(d->kernel) + timeout_ns;
    while (s == STATUS_PENDING) {
        struct context *x = handle_get(d, context, HANDLE_CONTEXT, c);
        if (!x)
            s = STATUS_INVALID_HANDLE;
        else if (x->device->state != D3DKMT_DEVICEEXECUTION_ACTIVE)
            s = STATUS_DEVICE_REMOVED;
        else if (x->packets_done >= value)
            s = STATUS_SUCCESS;
        else if (c->cancelled)
            s = STATUS_CANCELLED;
        else if (kernel_now(d->kernel) >= end)
            s = STATUS_TIMEOUT;
        else if (!tried && d->bus->wait && kernel_is_live(d->kernel)) {
            tried = true;
            wait_by_host(d, x, value, end);
        } else
            kernel_wait(d->kernel, &x->done, end);
    }
    kernel_leave(d->kernel);
    return s;
}

int dxgk_client_open(struct dxgk *d, struct dxgk_client **out, uint64_t process, bool admin)
{
    struct dxgk_client *c = calloc(1, sizeof(*c));

    if (!c)
        return -ENOMEM;
    *c = (struct dxgk_client){.d = d, .process = process ? process : 1, .admin = admin};
    kernel_enter(d->kernel);
    c->serial = ++d->owners;
    c->next = d->clients;
    d->clients = c;
    kernel_leave(d->kernel);
    *out = c;
    return 0;
}

void dxgk_client_cancel(struct dxgk_client *c)
{
    struct dxgk *d = c->d;

    kernel_enter(d->kernel);
    c->cancelled = true;
    for (unsigned i = 0; i < d->num_sources; i++)
        kernel_wake_all(d->kernel, &d->sources[i].vblank_waiters);
    for (struct context *x = d->contexts; x; x = x->next_all)
        if (x->device->client == c) {
            kernel_wake_all(d->kernel, &x->space);
            kernel_wake_all(d->kernel, &x->idle);
            kernel_wake_all(d->kernel, &x->done);
        }
    kernel_wake_all(d->kernel, &d->progress);
    kernel_leave(d->kernel);
}

void dxgk_client_close(struct dxgk_client *c)
{
    struct dxgk *d;
    bool again;

    if (!c)
        return;
    d = c->d;
    dxgk_client_cancel(c);
    kernel_enter(d->kernel);
    do {
        again = false;
        for (struct device *dev = d->devices; dev; dev = dev->next)
            if (dev->client == c) {
                device_destroy(dev);
                again = true;
                break;
            }
    } while (again);
    for (unsigned i = 0; i < d->num_handles; i++)
        if (d->handles[i].type != HANDLE_FREE && d->handles[i].client == c)
            handle_free(d, (D3DKMT_HANDLE)d->handles[i].serial << 16 | (i + 1));
    for (struct dxgk_client **p = &d->clients; *p; p = &(*p)->next)
        if (*p == c) {
            *p = c->next;
            break;
        }
    kernel_leave(d->kernel);
    free(c);
}
