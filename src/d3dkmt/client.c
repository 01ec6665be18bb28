/* SPDX-License-Identifier: MIT */
/* client.c: the D3DKMT* functions, and the connections to a service.
 *
 *   D3DKMT*(arg) ──▶ transport of this process, or: d3dkmt_wire_write ──▶ this thread's connection ──▶ reply
 *                ──▶ d3dkmt_wire_parse_reply ──▶ views (memory that came with the reply)
 *
 * Invariants:
 *  1. `lock` guards where the functions lead and the views; it is not held while a call waits for its reply.
 *  2. A connection belongs to one thread and ends with it. The first says hello without a cookie and is given one;
 *     the others present it: all are one client.
 *  3. A service that is gone answers STATUS_DEVICE_REMOVED once, and STATUS_NO_SUCH_DEVICE while none is there.
 */
#include "d3dkmt/d3dkmt.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <aerogpu/blackbox.h>

#include "base/check.h"
#include "base/error.h"
#include "base/fds.h"
#include "d3dkmt/vblanks.h"
#include "d3dkmt/views.h"
#include "d3dkmt/wire.h"
#include "dxgkrnl/progress.h"

#define LOOK_NS UINT64_C(200000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct d3dkmt_transport *transport;
static struct sockaddr_un address;
static uint64_t cookie;
static unsigned generation; /* of connections; a thread's connection of an older one is closed */
/* A thread's, made with its first call. It is not in the thread's storage: where a compiler emulates that (Windows), it may be freed
 * before the key's destructor runs. */
struct connection {
    int fd; /* -1: none */
    unsigned generation;
    _Alignas(16) uint8_t buffer[WIRE_MAX];
};
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* With `lock`. */
static void client_check(const struct connection *self)
{
    INVARIANT(self->fd < 0 || self->generation != generation || address.sun_family == AF_UNIX); /* 2 */
    INVARIANT(!cookie || address.sun_family == AF_UNIX);
}

static void thread_ends(void *arg)
{
    struct connection *self = arg;

    if (self->fd >= 0)
        close(self->fd);
    free(self);
}

/* This thread's, once there is a key. */
static void end_connection(void)
{
    struct connection *self = pthread_getspecific(key);

    if (self)
        thread_ends(self);
    pthread_setspecific(key, NULL);
}

/* A child has the connections of its parent's threads open, but it is not their client. */
static void forked(void)
{
    pthread_mutex_init(&lock, NULL);
    end_connection();
    cookie = 0;
    generation++;
    d3dkmt_view_drop_all();
    d3dkmt_vblanks_unmap();
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ends);
    pthread_atfork(NULL, NULL, forked);
}

/* NULL: there is no memory for one. */
static struct connection *own_connection(void)
{
    struct connection *self;

    pthread_once(&once, make_key);
    self = pthread_getspecific(key);
    if (self)
        return self;
    self = malloc(sizeof(*self));
    if (!self)
        return NULL;
    self->fd = -1;
    if (!pthread_setspecific(key, self))
        return self;
    free(self);
    return NULL;
}

void d3dkmt_use(const struct d3dkmt_transport *t)
{
    transport = t;
}

/* Sends and receives; *fd is the descriptor that came with the reply, or -1. The size, or a negative errno. */
static ssize_t exchange(int s, void *msg, size_t size, int send_fd, int *fd)
{
    size_t num = 1;
    ssize_t n = fds_send(s, msg, size, &send_fd, send_fd >= 0, 0);

    *fd = -1;
    if (n < 0)
        return n;
    n = fds_receive(s, msg, WIRE_MAX, fd, &num, 0);
    if (n <= 0 || !num)
        *fd = -1;
    return n ? n : -ECONNRESET;
}

/* A path of the kind that a service takes where its user has no folder of his own (aerogpu-serve(1)) is anybody's to take first. */
static bool is_usurped(int s)
{
#ifdef SO_PEERCRED
    struct ucred peer;
    socklen_t size = sizeof(peer);
    unsigned uid;
    int end = 0;

    return sscanf(address.sun_path, D3DKMT_SOCKET_OF_USER "%n", &uid, &end) == 1 && end &&
           !address.sun_path[end] &&
           (getsockopt(s, SOL_SOCKET, SO_PEERCRED, &peer, &size) || (peer.uid != uid && peer.uid));
#else
    (void)s;
    return false;
#endif
}

static int open_connection(struct connection *self)
{
    struct {
        struct wire_header h;
        struct wire_hello hello;
    } * m;
    int size = 2 * WIRE_MAX, fd, r = 0;

    m = (void *)self->buffer;
    self->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (self->fd < 0)
        return -errno;
    setsockopt(self->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    if (connect(self->fd, (struct sockaddr *)&address, sizeof(address)))
        r = -errno;
    else if (is_usurped(self->fd))
        r = -EPERM;
    *m = (typeof(*m)){.h = {.magic = WIRE_MAGIC, .thunk = WIRE_HELLO, .size = sizeof(*m)},
                      .hello = {.cookie = cookie, .is_wow64 = sizeof(void *) < sizeof(uint64_t)}};
    if (!r) {
        ssize_t n = exchange(self->fd, m, sizeof(*m), -1, &fd);
        r = n < 0 ? (int)n : n != sizeof(*m) || m->h.status ? -EPROTO : 0;
    }
    if (r) {
        close(self->fd);
        self->fd = -1;
        return r;
    }
    cookie = m->hello.cookie;
    self->generation = generation;
    return 0;
}

static int set_address(const char *path)
{
    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path);
    cookie = 0;
    generation++;
    return 0;
}

/* Makes sure that this thread has a connection. */
static int connection(struct connection **out)
{
    struct connection *self = own_connection();
    const char *path;
    int r = 0;

    *out = self;
    if (!self)
        return -ENOMEM;
    pthread_mutex_lock(&lock);
    client_check(self);
    if (self->fd >= 0 && self->generation != generation) {
        close(self->fd);
        self->fd = -1;
    }
    if (self->fd < 0 && !address.sun_family) {
        path = getenv(D3DKMT_SOCKET_VARIABLE);
        r = path && *path ? set_address(path) : -ENOTCONN;
    }
    if (self->fd < 0 && !r)
        r = open_connection(self);
    INVARIANT(r || (self->fd >= 0 && self->generation == generation));
    client_check(self);
    pthread_mutex_unlock(&lock);
    return r;
}

int d3dkmt_connect(const char *path, struct error *err)
{
    struct connection *self;
    int r;

    pthread_mutex_lock(&lock);
    r = set_address(path);
    pthread_mutex_unlock(&lock);
    if (r)
        return error_set(err, r, "the socket's path %s is too long", path);
    transport = NULL;
    r = connection(&self);
    if (r) {
        address.sun_family = 0;
        return error_set(err, r, "cannot reach the service at %s: %s", path, strerror(-r));
    }
    return 0;
}

void d3dkmt_disconnect(void)
{
    pthread_mutex_lock(&lock);
    address.sun_family = 0;
    generation++;
    cookie = 0;
    d3dkmt_view_drop_all();
    d3dkmt_vblanks_unmap();
    pthread_mutex_unlock(&lock);
    pthread_once(&once, make_key);
    end_connection();
}

/* ---- memory of the service ----------------------------------------------- */

static size_t round_up(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static NTSTATUS context_created(D3DKMT_CREATECONTEXT *c, int fd, const struct wire_header *h)
{
    struct view *v = d3dkmt_view_add(c->hContext, c->hDevice, 0);
    size_t list = round_up(c->CommandBufferSize),
           patch = list + round_up(c->AllocationListSize * sizeof(D3DDDI_ALLOCATIONLIST)),
           progress = patch + round_up(c->PatchLocationListSize * sizeof(D3DDDI_PATCHLOCATIONLIST));
    NTSTATUS s = v ? d3dkmt_view_map(v, fd, h->fd_offset, h->fd_size) : STATUS_NO_MEMORY;

    if (NT_SUCCESS(s) && progress + sizeof(struct dxgk_progress) > v->size)
        s = STATUS_INTERNAL_ERROR;
    if (!NT_SUCCESS(s)) {
        d3dkmt_view_drop(c->hContext);
        return s;
    }
    c->pCommandBuffer = v->base;
    c->pAllocationList = (void *)((uint8_t *)v->base + list);
    c->pPatchLocationList = (void *)((uint8_t *)v->base + patch);
    v->progress = (void *)((uint8_t *)v->base + progress);
    v->context = *c;
    return s;
}

static void resource_opened(D3DKMT_HANDLE device, D3DKMT_HANDLE resource, const void *infos, size_t element,
                            size_t at, UINT count)
{
    for (UINT i = 0; i < count && infos; i++) {
        D3DKMT_HANDLE h;
        memcpy(&h, (const uint8_t *)infos + i * element + at, sizeof(h));
        d3dkmt_view_add(h, device, resource); /* without memory for it, a lock maps it anew */
    }
}

static NTSTATUS locked(D3DKMT_LOCK *l, int fd, const struct wire_header *h)
{
    struct view *v = d3dkmt_view_find(l->hAllocation);
    NTSTATUS s = STATUS_SUCCESS;

    if (!v)
        v = d3dkmt_view_add(l->hAllocation, l->hDevice, 0);
    if (!v)
        return STATUS_NO_MEMORY;
    if (!v->base)
        s = d3dkmt_view_map(v, fd, h->fd_offset, h->fd_size);
    INVARIANT(!NT_SUCCESS(s) || v->base);
    l->pData = v->base;
    return s;
}

/* What a successful call changes in the address space of this process. */
static NTSTATUS after(enum d3dkmt_thunk thunk, void *arg, const struct wire_header *h, int fd)
{
    D3DKMT_RENDER *r = arg;
    const D3DKMT_CREATEALLOCATION *c = arg;
    const D3DKMT_OPENRESOURCE *o = arg;
    const D3DKMT_DESTROYALLOCATION *d = arg;
    const struct view *v;

    switch ((int)thunk) {
    case D3DKMT_THUNK_CreateContext:
        return context_created(arg, fd, h);
    case D3DKMT_THUNK_Render:
        v = d3dkmt_view_find(r->hContext);
        if (v) {
            r->pNewCommandBuffer = v->context.pCommandBuffer;
            r->pNewAllocationList = v->context.pAllocationList;
            r->pNewPatchLocationList = v->context.pPatchLocationList;
        }
        break;
    case D3DKMT_THUNK_CreateAllocation:
        resource_opened(c->hDevice, c->hResource, c->pAllocationInfo, sizeof(*c->pAllocationInfo),
                        offsetof(D3DDDI_ALLOCATIONINFO, hAllocation), c->NumAllocations);
        break;
    case D3DKMT_THUNK_OpenResource:
        resource_opened(o->hDevice, o->hResource, o->pOpenAllocationInfo, sizeof(*o->pOpenAllocationInfo),
                        offsetof(D3DDDI_OPENALLOCATIONINFO, hAllocation), o->NumAllocations);
        break;
    case D3DKMT_THUNK_Lock:
        return locked(arg, fd, h);
    case D3DKMT_THUNK_DestroyAllocation:
        if (d->hResource)
            d3dkmt_view_drop_device(d->hDevice, d->hResource);
        for (UINT i = 0; i < d->AllocationCount && !d->hResource; i++)
            d3dkmt_view_drop(d->phAllocationList[i]);
        break;
    case D3DKMT_THUNK_DestroyContext:
        d3dkmt_view_drop(((D3DKMT_DESTROYCONTEXT *)arg)->hContext);
        break;
    case D3DKMT_THUNK_WaitForVerticalBlankEvent:
        d3dkmt_vblanks_map(fd, h->fd_size);
        break;
    case D3DKMT_THUNK_CloseAdapter:
        d3dkmt_vblanks_forget();
        break;
    case D3DKMT_THUNK_DestroyDevice:
        d3dkmt_vblanks_forget();
        d3dkmt_view_drop_device(((D3DKMT_DESTROYDEVICE *)arg)->hDevice, 0);
        break;
    }
    return STATUS_SUCCESS;
}

/* ---- calls --------------------------------------------------------------- */

static int event_of(enum d3dkmt_thunk thunk, void *arg)
{
    const D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *c = arg;
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 *s = arg;

    if (thunk == D3DKMT_THUNK_CreateSynchronizationObject2 && c->Info.Type == D3DDDI_CPU_NOTIFICATION)
        return (int)(intptr_t)c->Info.CPUNotification.Event;
    if (thunk == D3DKMT_THUNK_SignalSynchronizationObject2 && s->Flags.EnqueueCpuEvent)
        return (int)(intptr_t)s->CpuEventHandle;
    return -1;
}

static NTSTATUS remote(enum d3dkmt_thunk thunk, void *arg)
{
    struct connection *self;
    struct wide_call widened;
    struct wire_header h;
    int fd = -1;
    ssize_t n;
    size_t size;
    NTSTATUS s;
    void *wide;

    if (connection(&self))
        return STATUS_NO_SUCH_DEVICE;
    wide = d3dkmt_widen(&widened, d3dkmt_wire_thunks[thunk].type, arg);
    size = wide ? d3dkmt_wire_write(self->buffer, thunk, wide, sched_getcpu(), NULL) : 0;
    if (!size) {
        if (wide)
            d3dkmt_narrow(&widened);
        return STATUS_INVALID_PARAMETER; /* longer than a message */
    }
    n = exchange(self->fd, self->buffer, size, event_of(thunk, arg), &fd);
    if (n < (ssize_t)sizeof(h)) {
        d3dkmt_narrow(&widened);
        close(self->fd);
        self->fd = -1;
        pthread_mutex_lock(&lock);
        d3dkmt_vblanks_abandon();
        pthread_mutex_unlock(&lock);
        return STATUS_DEVICE_REMOVED; /* the service is gone */
    }
    memcpy(&h, self->buffer, sizeof(h));
    s = d3dkmt_wire_parse_reply(self->buffer, (size_t)n, thunk, wide);
    d3dkmt_narrow(&widened);
    pthread_mutex_lock(&lock);
    if (NT_SUCCESS(s)) {
        NTSTATUS more = after(thunk, arg, &h, fd);

        s = NT_SUCCESS(more) ? s : more; /* a success may say something: STATUS_TIMEOUT */
    }
    pthread_mutex_unlock(&lock);
    if (fd >= 0)
        close(fd);
    return s;
}

/* Waits without a call, once one has said that these arguments are good. STATUS_PENDING: only a call that waits knows. It is the
 * worse way: it begins when it arrives, and if that is after the vblank it waits for another; and others' devices are lost at
 * any time. */
static NTSTATUS vblank_without_call(const D3DKMT_WAITFORVERTICALBLANKEVENT *w)
{
    const struct dxgk_vblanks *known;
    uint32_t epoch, before;
    enum vblank_wait came;
    uint64_t seen;

    pthread_mutex_lock(&lock);
    known = d3dkmt_vblanks_known(w, &epoch);
    pthread_mutex_unlock(&lock);
    if (!known)
        return STATUS_PENDING;
    seen = d3dkmt_vblanks_last(known, w->VidPnSourceId);
    while ((came = d3dkmt_vblanks_wait(known, w->VidPnSourceId, epoch, seen)) == VBLANK_NEWS) {
        D3DKMT_GETDEVICESTATE g = {.hDevice = w->hDevice, .StateType = D3DKMT_DEVICESTATE_EXECUTION};
        NTSTATUS s;
        epoch = known->epoch;
        s = w->hDevice ? remote(D3DKMT_THUNK_GetDeviceState, &g) : STATUS_SUCCESS;
        if (!NT_SUCCESS(s))
            return s;
        if (w->hDevice && g.ExecutionState != D3DKMT_DEVICEEXECUTION_ACTIVE)
            return STATUS_PENDING;
        pthread_mutex_lock(&lock);
        if (d3dkmt_vblanks_known(w, &before)) /* not closed meanwhile */
            d3dkmt_vblanks_remember(w, epoch);
        pthread_mutex_unlock(&lock);
    }
    return came == VBLANK_CAME ? STATUS_SUCCESS : STATUS_PENDING;
}

static NTSTATUS wait_for_vblank(void *arg)
{
    NTSTATUS s = vblank_without_call(arg);
    uint32_t epoch;

    if (s != STATUS_PENDING)
        return s;
    pthread_mutex_lock(&lock);
    epoch = d3dkmt_vblanks_epoch();
    pthread_mutex_unlock(&lock);
    s = remote(D3DKMT_THUNK_WaitForVerticalBlankEvent, arg);
    pthread_mutex_lock(&lock);
    if (NT_SUCCESS(s))
        d3dkmt_vblanks_remember(arg, epoch);
    pthread_mutex_unlock(&lock);
    return s;
}

enum { FLIGHT_ANSWER = 128 }; /* plus the thunk */

static struct bb_flight *flight;
static pthread_once_t flight_once = PTHREAD_ONCE_INIT;

/* The flight recorder of a client, where AEROGPU_FLIGHT names a folder. */
static void open_flight(void)
{
    flight = bb_flight_of_process("client");
#define NAME_THUNK(name, type)                                                                               \
    bb_flight_name(flight, D3DKMT_THUNK_##name, #name);                                                      \
    bb_flight_name(flight, FLIGHT_ANSWER + D3DKMT_THUNK_##name, #name " answered(status)");
    D3DKMT_WIRE_THUNKS(NAME_THUNK)
#undef NAME_THUNK
}

static NTSTATUS call(enum d3dkmt_thunk thunk, void *arg)
{
    NTSTATUS s;

    if (!arg)
        return STATUS_INVALID_PARAMETER;
    pthread_once(&flight_once, open_flight);
    bb_flight_event(flight, (uint8_t)thunk, 0, 0, 0);
    if (transport)
        s = transport->call(transport->ctx, thunk, arg);
    else
        s = thunk == D3DKMT_THUNK_WaitForVerticalBlankEvent ? wait_for_vblank(arg) : remote(thunk, arg);
    bb_flight_event(flight, (uint8_t)(FLIGHT_ANSWER + thunk), (uint32_t)s, 0, 0);
    return s;
}

/* An HDC is the name of a display: over a connection it goes by that name. */
NTSTATUS D3DKMTAPI D3DKMTOpenAdapterFromHdc(D3DKMT_OPENADAPTERFROMHDC *arg)
{
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME o = {0};
    const char *name;
    NTSTATUS s;

    if (!arg)
        return STATUS_INVALID_PARAMETER;
    name = arg->hDc ? arg->hDc : "\\\\.\\DISPLAY1";
    for (int i = 0; name[i] && i < 31; i++)
        o.DeviceName[i] = (WCHAR)(unsigned char)name[i];
    s = call(D3DKMT_THUNK_OpenAdapterFromGdiDisplayName, &o);
    arg->hAdapter = o.hAdapter;
    arg->AdapterLuid = o.AdapterLuid;
    arg->VidPnSourceId = o.VidPnSourceId;
    return s;
}

/* Whether `name` is the interface path of a device with these ids. */
static bool names_device(const char *name, const D3DKMT_DEVICE_IDS *ids)
{
    unsigned vendor, device;

    return sscanf(name, "\\\\?\\PCI#VEN_%4x&DEV_%4x", &vendor, &device) == 2 && vendor == ids->VendorID &&
           device == ids->DeviceID;
}

NTSTATUS D3DKMTAPI D3DKMTOpenAdapterFromDeviceName(D3DKMT_OPENADAPTERFROMDEVICENAME *arg)
{
    char name[260] = "";
    D3DKMT_QUERY_DEVICE_IDS ids = {0};
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_QUERYADAPTERINFO query = {.Type = KMTQAITYPE_PHYSICALADAPTERDEVICEIDS,
                                     .pPrivateDriverData = &ids,
                                     .PrivateDriverDataSize = sizeof(ids)};
    bool display;
    NTSTATUS s;

    if (!arg || !arg->pDeviceName)
        return STATUS_INVALID_PARAMETER;
    for (size_t i = 0; arg->pDeviceName[i] && i < sizeof(name) - 1; i++)
        name[i] = arg->pDeviceName[i] < 127 ? (char)arg->pDeviceName[i] : '?';
    display = !strncmp(name, "\\\\.\\", 4);
    if (display)
        open.hDc = name;
    s = D3DKMTOpenAdapterFromHdc(&open);
    if (!NT_SUCCESS(s))
        return s;
    query.hAdapter = open.hAdapter;
    if (!display && (!NT_SUCCESS(D3DKMTQueryAdapterInfo(&query)) || !names_device(name, &ids.DeviceIds))) {
        D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){open.hAdapter});
        return STATUS_NO_SUCH_DEVICE;
    }
    arg->hAdapter = open.hAdapter;
    arg->AdapterLuid = open.AdapterLuid;
    return STATUS_SUCCESS;
}

static ULONGLONG number_of(HANDLE process)
{
    return process == (HANDLE)-1 ? 0 : (ULONGLONG)(ULONG_PTR)process;
}

NTSTATUS D3DKMTAPI D3DKMTSetProcessSchedulingPriorityClass(HANDLE hProcess,
                                                           D3DKMT_SCHEDULINGPRIORITYCLASS Priority)
{
    D3DKMT_PROCESSPRIORITY p = {.Process = number_of(hProcess), .Set = 1, .Class = (UINT)Priority};

    return hProcess ? call(D3DKMT_THUNK_ProcessPriority, &p) : STATUS_INVALID_HANDLE;
}

NTSTATUS D3DKMTAPI D3DKMTGetProcessSchedulingPriorityClass(HANDLE hProcess,
                                                           D3DKMT_SCHEDULINGPRIORITYCLASS *pPriority)
{
    D3DKMT_PROCESSPRIORITY p = {.Process = number_of(hProcess)};
    NTSTATUS s;

    if (!pPriority)
        return STATUS_INVALID_PARAMETER;
    s = hProcess ? call(D3DKMT_THUNK_ProcessPriority, &p) : STATUS_INVALID_HANDLE;
    if (NT_SUCCESS(s))
        *pPriority = (D3DKMT_SCHEDULINGPRIORITYCLASS)p.Class;
    return s;
}

#define DEFINE(name, type)                                                                                   \
    NTSTATUS D3DKMTAPI D3DKMT##name(type *arg)                                                               \
    {                                                                                                        \
        return call(D3DKMT_THUNK_##name, (void *)arg);                                                       \
    }
D3DKMT_PLAIN_THUNKS(DEFINE)

/* ---- progress ------------------------------------------------------------ */

static struct dxgk_progress *remote_progress(D3DKMT_HANDLE context, D3DKMT_HANDLE *device)
{
    struct dxgk_progress *p = NULL;
    const struct view *v;

    pthread_mutex_lock(&lock);
    v = d3dkmt_view_find(context);
    if (v) {
        p = v->progress;
        *device = v->device;
    }
    pthread_mutex_unlock(&lock);
    return p;
}

const struct dxgk_progress *d3dkmt_progress(D3DKMT_HANDLE context)
{
    D3DKMT_HANDLE device;

    return transport ? transport->progress(transport->ctx, context) : remote_progress(context, &device);
}

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* A look at the service now and then: one that is gone wakes nobody. */
static bool service_is_gone(D3DKMT_HANDLE device)
{
    D3DKMT_GETDEVICESTATE g = {.hDevice = device, .StateType = D3DKMT_DEVICESTATE_EXECUTION};

    return !NT_SUCCESS(D3DKMTGetDeviceState(&g));
}

NTSTATUS d3dkmt_wait(D3DKMT_HANDLE context, uint64_t value, uint64_t timeout_ns)
{
    D3DKMT_HANDLE device = 0;
    struct dxgk_progress *p;
    uint64_t end, now;

    if (transport)
        return transport->wait(transport->ctx, context, value, timeout_ns);
    p = remote_progress(context, &device);
    if (!p)
        return STATUS_INVALID_HANDLE;
    atomic_store_explicit(&p->awaited, value, memory_order_relaxed);
    now = now_ns();
    end = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
    for (;;) {
        uint32_t change = p->change;
        struct timespec ts;
        uint64_t left;

        if (p->state != D3DKMT_DEVICEEXECUTION_ACTIVE)
            return STATUS_DEVICE_REMOVED;
        if (p->completed >= value)
            return STATUS_SUCCESS;
        now = now_ns();
        if (now >= end)
            return STATUS_TIMEOUT;
        left = end - now < LOOK_NS ? end - now : LOOK_NS;
        ts = (struct timespec){(time_t)(left / 1000000000), (long)(left % 1000000000)};
        p->waiters++;
        if (p->change == change && syscall(SYS_futex, &p->change, FUTEX_WAIT, change, &ts, NULL, 0) &&
            errno == ETIMEDOUT && left == LOOK_NS && service_is_gone(device)) {
            p->waiters--;
            return STATUS_DEVICE_REMOVED;
        }
        p->waiters--;
    }
}
