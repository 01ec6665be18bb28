/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fair.h"

bool dxgk_client_is_first(const struct dxgk_client *client)
{
    const struct dxgk_client *c = client->d->clients;

    while (c != client && !(c->devices && c->process == client->process))
        c = c->next;
    return c == client && client->devices;
}

/* Whether one more process of this one's user is one too many: each may have what there are few of, and others are to find some. */
static bool is_crowd(const struct dxgk *d, const struct dxgk_client *client)
{
    const unsigned most =
        d->bus->processes && d->bus->processes < DEVICE_PROCESSES ? d->bus->processes : DEVICE_PROCESSES;
    unsigned mine = 0, all = 0;

    if (!client->has_user)
        return false;
    for (const struct dxgk_client *c = d->clients; c; c = c->next) {
        if (c->devices && c->process == client->process)
            return false; /* it has what it may have */
        if (dxgk_client_is_first(c)) {
            mine += c->has_user && c->user == client->user;
            all++;
        }
    }
    return !fair_share(mine, 1, all, most);
}

static NTSTATUS call_create(struct dxgk *d, DXGKARG_CREATEDEVICE *args)
{
    NTSTATUS s = STATUS_DEVICE_REMOVED;

    if (KERNEL_CALL(d->kernel, "DxgkDdiCreateDevice", PASSIVE_LEVEL, d->tdr.ddi_delay_ns,
                    {
                        dxgk_fault_block(d);
                        s = KERNEL_GUEST(d->ddi.DxgkDdiCreateDevice)(d->miniport, args);
                    }) &&
        s != STATUS_SUCCESS)
        dxgk_answers_status(d, "DxgkDdiCreateDevice", s);
    return s;
}

struct device *dxgk_device_create(struct dxgk *d, struct dxgk_client *client, NTSTATUS *status)
{
    struct device *dev = calloc(1, sizeof(*dev));
    DXGKARG_CREATEDEVICE args = {.hDevice = (HANDLE)dev, .Flags.SystemDevice = !client};
    const UINT given = args.Flags.Value;
    struct judge j = {.d = d, .ddi = "DxgkDdiCreateDevice"};

    *status = STATUS_NO_MEMORY;
    if (!dev)
        return NULL;
    if (client && (client->devices == CLIENT_MAX_DEVICES || is_crowd(d, client))) {
        *status = STATUS_INSUFFICIENT_RESOURCES;
        free(dev);
        return NULL;
    }
    dev->d = d;
    dev->client = client;
    dev->state = D3DKMT_DEVICEEXECUTION_ACTIVE;
    dev->handle = dxgk_handle_new(d, HANDLE_DEVICE, client, dev);
    if (!dev->handle) {
        free(dev);
        return NULL;
    }
    *status = DDI_AROUND(d, CreateDevice, &args, call_create(d, handed_));
    if (!NT_SUCCESS(*status)) {
        dxgk_handle_free(d, dev->handle);
        free(dev);
        return NULL;
    }
    dev->driver = args.hDevice;
    if (d->caps.SchedulingCaps.MultiEngineAware) /* else pInfo is there, which it answers */
        ANSWER(&j, ANSWER_REMARK, &args, Flags.Value, v == given,
               "what it was given, which it has to read only");
    dxgk_answers_handle(d, "DxgkDdiCreateDevice", "hDevice", dev->driver, dev);
    if (!d->caps.SchedulingCaps.MultiEngineAware && !dxgk_answers_device(d, args.pInfo, &dev->info)) {
        DDI(d, DestroyDevice, dev->driver);
        dxgk_handle_free(d, dev->handle);
        free(dev);
        *status = STATUS_INVALID_PARAMETER;
        return NULL;
    }
    dev->next = d->devices;
    d->devices = dev;
    if (client)
        client->devices++;
    dxgk_adapter_kick_tdr(d); /* there may be somebody to look at */
    return dev;
}

void dxgk_device_destroy(struct device *dev)
{
    struct dxgk *d = dev->d;

    INVARIANT(dxgk_handle_get(d, dev->handle, HANDLE_DEVICE, dev->client) == dev);
    DXGK_TRACE(d, DEVICE_STOP, dev->client ? dev->client->process : 0, dev->handle);
    dxgk_handle_free(d, dev->handle);
    dxgk_device_lose(dev, D3DKMT_DEVICEEXECUTION_STOPPED);
    dxgk_display_drop_flips(d, dev);
    for (; dev->contexts; dxgk_kernel_breathe(d->kernel))
        dxgk_context_destroy(dev->contexts);
    for (; dev->resources; dxgk_kernel_breathe(d->kernel))
        dxgk_vidmm_close(dev->resources);
    while (dev->closing) /* by the scheduler's thread */
        dxgk_kernel_wait(d->kernel, &d->progress, LOOP_FOREVER);
    for (; dev->syncs; dxgk_kernel_breathe(d->kernel))
        dxgk_sync_close(dev->syncs);
    INVARIANT(!dev->contexts && !dev->resources && !dev->syncs && !dev->allocs);
    for (unsigned i = 0; i < d->display.num_sources; i++)
        if (d->display.sources[i].owner == dev) {
            d->display.sources[i].owner = NULL;
            d->display.sources[i].owner_type = D3DKMT_VIDPNSOURCEOWNER_UNOWNED;
        }
    LIST_DROP(&d->devices, dev, next);
    INVARIANT(!dev->client || dev->client->devices);
    if (dev->client)
        dev->client->devices--;
    if (d->miniport && dxgk_adapter_lock_cleanup(d)) {
        DDI(d, DestroyDevice, dev->driver);
        dxgk_adapter_unlock(d);
    }
    free(dev);
}

/* Windows calls the context DDIs of a MultiEngineAware miniport only. Another takes the device for its one context: its handle
 * stands wherever a context's would. */
static NTSTATUS create_driver_side(struct device *dev, DXGKARG_CREATECONTEXT *args)
{
    struct dxgk *d = dev->d;

    if (d->caps.SchedulingCaps.MultiEngineAware) {
        const void *given = args->hContext;
        NTSTATUS s = DDI_ARG(d, CreateContext, dev->driver, args);
        if (NT_SUCCESS(s))
            dxgk_answers_handle(d, "DxgkDdiCreateContext", "hContext", args->hContext, given);
        return s;
    }
    if (dev->contexts)
        return STATUS_NOT_SUPPORTED;
    args->hContext = dev->driver;
    args->ContextInfo = dev->info;
    return STATUS_SUCCESS;
}

static void destroy_driver_side(struct context *c)
{
    struct dxgk *d = c->device->d;

    if (d->caps.SchedulingCaps.MultiEngineAware)
        DDI(d, DestroyContext, c->driver);
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
    /* The client has it too: what is mapped here must stay as long as it is. */
    c->buffer_fd = memfd_create("d3dkmt-command", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (c->buffer_fd < 0 || ftruncate(c->buffer_fd, (off_t)c->buffer_size) ||
        fcntl(c->buffer_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
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

struct context *dxgk_context_create(struct device *dev, UINT node, UINT affinity, void *priv, UINT priv_size,
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
    if (!dxgk_quota_take(d, dev->client, QUOTA_DESCRIPTORS, 1)) {
        *status = STATUS_INSUFFICIENT_RESOURCES;
        free(c);
        return NULL;
    }
    *status = create_driver_side(dev, &args);
    if (!NT_SUCCESS(*status)) {
        dxgk_quota_give(d, dev->client, QUOTA_DESCRIPTORS, 1);
        free(c);
        return NULL;
    }
    c->buffer_fd = -1;
    c->device = dev;
    c->driver = args.hContext;
    c->node = node;
    c->info = args.ContextInfo;
    c->queue_last = &c->queue;
    if (!dxgk_answers_context(
            d, d->caps.SchedulingCaps.MultiEngineAware ? "DxgkDdiCreateContext" : "DxgkDdiCreateDevice",
            &c->info)) {
        *status = STATUS_INVALID_PARAMETER;
        goto fail;
    }
    if (!dev->client) /* paging buffers are what maps others: PagingBufferSegmentId */
        c->info.DmaBufferSegmentSet = 0;
    *status = STATUS_NO_MEMORY;
    if (dev->client && make_buffers(c))
        goto fail;
    c->handle = dxgk_handle_new(d, HANDLE_CONTEXT, dev->client, c);
    if (!c->handle)
        goto fail;
    INVARIANT(!dev->client == !c->progress);
    c->next = dev->contexts;
    dev->contexts = c;
    c->next_all = d->sched.contexts;
    d->sched.contexts = c;
    *status = STATUS_SUCCESS;
    return c;
fail:
    dxgk_quota_give(d, dev->client, QUOTA_DESCRIPTORS, 1);
    destroy_driver_side(c);
    free_buffers(c);
    free(c);
    return NULL;
}

void dxgk_context_destroy(struct context *c)
{
    struct device *dev = c->device;
    struct dxgk *d = dev->d;

    DXGK_TRACE(d, CONTEXT_STOP, dev->client ? dev->client->process : 0, c->handle);
    dxgk_handle_free(d, c->handle);
    if (c->progress)
        c->progress->state = D3DKMT_DEVICEEXECUTION_STOPPED;
    dxgk_sched_drop_context(c);
    while (c->watchers) /* they look up after a while */
        dxgk_kernel_wait(d->kernel, &c->idle, LOOP_FOREVER);
    INVARIANT(!c->queue && !c->handling && !c->watchers); /* 3 */
    LIST_DROP(&dev->contexts, c, next);
    LIST_DROP(&d->sched.contexts, c, next_all);
    for (unsigned i = 0; i < d->sched.num_nodes; i++)
        if (d->sched.nodes[i].last_context == c)
            d->sched.nodes[i].last_context = NULL;
    if (d->miniport && dxgk_adapter_lock_cleanup(d)) {
        destroy_driver_side(c);
        dxgk_adapter_unlock(d);
    }
    dxgk_kernel_wake_all(d->kernel, &c->space); /* they find the handle gone */
    dxgk_kernel_wake_all(d->kernel, &c->idle);
    dxgk_kernel_wake_all(d->kernel, &c->done);
    dxgk_quota_give(d, dev->client, QUOTA_DESCRIPTORS, 1);
    free_buffers(c);
    free(c);
}

int dxgk_client_open(struct dxgk *d, struct dxgk_client **out, uint64_t process, bool admin)
{
    struct dxgk_client *c = calloc(1, sizeof(*c));

    if (!c)
        return -ENOMEM;
    *c = (struct dxgk_client){
        .d = d, .process = process ? process : 1, .session = 1, .seated = true, .admin = admin};
    pthread_mutex_init(&c->turn, NULL);
    dxgk_kernel_enter(d->kernel);
    c->serial = ++d->owners;
    c->priority = D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL;
    for (const struct dxgk_client *i = d->clients; i; i = i->next)
        if (i->process == c->process)
            c->priority = i->priority;
    c->next = d->clients;
    d->clients = c;
    dxgk_kernel_leave(d->kernel);
    *out = c;
    return 0;
}

void dxgk_client_set_user(struct dxgk_client *c, uint32_t user, bool seated)
{
    dxgk_kernel_enter(c->d->kernel);
    c->user = user;
    c->has_user = true;
    c->seated = seated;
    /* no user's is 0 or 1; the last ones share one */
    c->session = seated ? 1 : user < UINT32_MAX - 2 ? user + 2 : UINT32_MAX;
    dxgk_kernel_leave(c->d->kernel);
}

void dxgk_client_set_wow64(struct dxgk_client *c)
{
    c->is_wow64 = true;
}

void dxgk_client_set_owner(struct dxgk_client *c, uint32_t owner)
{
    dxgk_kernel_enter(c->d->kernel);
    c->user = owner;
    dxgk_kernel_leave(c->d->kernel);
}

void dxgk_client_cancel(struct dxgk_client *c)
{
    struct dxgk *d = c->d;

    dxgk_kernel_enter(d->kernel);
    c->cancelled = true;
    for (unsigned i = 0; i < d->display.num_sources; i++)
        dxgk_kernel_wake_all(d->kernel, &d->display.sources[i].vblank_waiters);
    for (struct context *x = d->sched.contexts; x; x = x->next_all)
        if (x->device->client == c) {
            dxgk_kernel_wake_all(d->kernel, &x->space);
            dxgk_kernel_wake_all(d->kernel, &x->idle);
            dxgk_kernel_wake_all(d->kernel, &x->done);
        }
    dxgk_kernel_wake_all(d->kernel, &d->progress);
    dxgk_kernel_leave(d->kernel);
}

void dxgk_client_close(struct dxgk_client *c)
{
    const struct dxgk_client *other;
    struct dxgk *d;
    bool again;

    if (!c)
        return;
    d = c->d;
    dxgk_client_cancel(c);
    dxgk_kernel_enter(d->kernel);
    do {
        again = false;
        for (struct device *dev = d->devices; dev; dev = dev->next)
            if (dev->client == c) {
                dxgk_device_destroy(dev);
                again = true;
                break;
            }
    } while (again);
    dxgk_keyed_close_all(d, c);
    dxgk_handle_free_all(d, c);
    LIST_DROP(&d->clients, c, next);
    for (other = d->clients; other && other->process != c->process; other = other->next)
        ;
    if (!other && d->bus->process_gone)
        d->bus->process_gone(d->bus->ctx, c->process);
    dxgk_kernel_leave(d->kernel);
    dxgk_metrics_closed(c);
    pthread_mutex_destroy(&c->turn);
    free(c);
}
