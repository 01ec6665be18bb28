/* SPDX-License-Identifier: MIT */
/* dxgkrnl.c: the life of a miniport and of its adapter. See dxgkrnl.h. */
#include "dxgkrnl/adapter.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dxgkrnl/telemetry/flight.h"
#include "dxgkrnl/image/elf.h"
#include "dxgkrnl/image/image.h"
#include "dxgkrnl/kernel/lastwords.h"
#include "dxgkrnl/ntos/routines.h"
#include "wddm/ntstatus.h"

/* ---- loading ------------------------------------------------------------- */

static _Thread_local struct dxgk *loading;

static struct dxgk *loading_at(const char *routine)
{
    if (loading)
        dxgk_kernel_check(loading->kernel, routine, PASSIVE_LEVEL);
    return loading;
}

NTSTATUS NTAPI DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                              PDRIVER_INITIALIZATION_DATA data)
{
    struct dxgk *d = loading_at("DxgkInitialize");

    if (!d || DriverObject != (PDRIVER_OBJECT)d->objects->driver || !RegistryPath || !data || d->initialized)
        return STATUS_INVALID_PARAMETER;
    d->version = data->Version;
    switch (data->Version) {
    case DXGKDDI_INTERFACE_VERSION_WIN7:
        d->ddi = *data;
        break;
    case DXGKDDI_INTERFACE_VERSION_VISTA:
    case DXGKDDI_INTERFACE_VERSION_VISTA_SP1: /* the structure ends before DxgkDdiDescribePageTable */
        memcpy(&d->ddi, data, offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiDescribePageTable));
        break;
    default:
        d->refused = true;
        return STATUS_GRAPHICS_INVALID_DRIVER_MODEL;
    }
    d->initialized = true;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                               PKMDDOD_INITIALIZATION_DATA data)
{
    struct dxgk *d = loading_at("DxgkInitializeDisplayOnlyDriver");
    NTSTATUS s;

    if (!d || DriverObject != (PDRIVER_OBJECT)d->objects->driver || !RegistryPath || !data || d->initialized)
        return STATUS_INVALID_PARAMETER;
    if (data->Version < DXGKDDI_INTERFACE_VERSION_WIN8)
        return STATUS_GRAPHICS_INVALID_DRIVER_MODEL;
    d->version = data->Version;
    s = dxgk_displayonly_init(d, data);
    d->initialized = NT_SUCCESS(s);
    return s;
}

/* What a full WDDM 1.1 miniport has to fill in, and one that only displays. */
static const char *missing_ddi(const struct dxgk *d)
{
    const DRIVER_INITIALIZATION_DATA *i = &d->ddi;

    if (d->displayonly)
        return dxgk_displayonly_missing(d);
#define DDI_NEED(name)                                                                                       \
    if (!i->DxgkDdi##name)                                                                                   \
        return "DxgkDdi" #name;
#define DDI_MAY(name)
#define DDI_ROW(need, name, ...) DDI_##need(name)
    WDDM_DDIS(DDI_ROW, DDI_ROW, DDI_MAY)
#undef DDI_NEED
#undef DDI_MAY
#undef DDI_ROW
    return NULL;
}

/* Says what it returned, or why it did not; if `routine` is more than one DDI, which failed last; the first rule that was broken, and
 * what else was found that may be the reason. */
static int miniport_failed(struct dxgk *d, struct error *err, const char *routine, NTSTATUS s)
{
    const char *why = dxgk_kernel_death(d->kernel),
               *rule = dxgk_kernel_violation_text(d->kernel, d->first_rule);
    char text[280], broken[240] = "", found[240] = "", unpaged[120] = "";
    int n;

    why = why ? why : *d->stuck ? d->stuck : NULL;
    n = why ? snprintf(text, sizeof(text), "%s", why)
            : snprintf(text, sizeof(text), "%s returned %08x", routine, (unsigned)s);
    if (!why && d->failed.what)
        snprintf(text + n, sizeof(text) - (size_t)n, " (%s %s)", d->failed.name, d->failed.what);
    else if (!why && d->failed.name && strcmp(d->failed.name, routine))
        snprintf(text + n, sizeof(text) - (size_t)n, " (%s returned %08x)", d->failed.name,
                 (unsigned)d->failed.status);
    if (rule && !(why && !strncmp(rule, why, strcspn(rule, "\n"))))
        snprintf(broken, sizeof(broken), "; it broke a rule: %.*s", (int)strcspn(rule, "\n"), rule);
    if (d->remarks.count)
        snprintf(found, sizeof(found), "; remarked before that: %s", d->remarks.last);
    if (d->unpaged && !why && !rule) /* these are reasons, and it may have done that otherwise */
        snprintf(unpaged, sizeof(unpaged),
                 "; DxgkDdiBuildPagingBuffer had put nothing into its buffer for %s", d->unpaged);
    return error_set(err, -ENXIO, "%s%s%s%s", text, broken, found, unpaged);
}

unsigned dxgk_failed_ddis(struct dxgk *d, char *text, size_t size)
{
    struct dxgk_failed f;

    dxgk_kernel_enter(d->kernel);
    f = d->failed;
    dxgk_kernel_leave(d->kernel);
    if (f.what)
        snprintf(text, size, "%s %s", f.name, f.what);
    else if (f.count)
        snprintf(text, size, "%s returned %08x", f.name, (unsigned)f.status);
    return f.count;
}

int dxgk_load(struct dxgk *d, DRIVER_INITIALIZE *driver_entry, struct error *err)
{
    WCHAR path[128];
    char text[128];
    UNICODE_STRING name = {.Buffer = path};
    const char *missing;
    NTSTATUS s;
    size_t n;

    if (d->state != DXGK_EMPTY)
        return error_set(err, -EBUSY, "a miniport is loaded already");
    n = (size_t)snprintf(text, sizeof(text), "\\Registry\\Machine\\SYSTEM\\CurrentControlSet\\Services\\%s",
                         d->service);
    for (size_t i = 0; i <= n; i++)
        path[i] = (WCHAR)text[i];
    name.Length = (USHORT)(2 * n);
    name.MaximumLength = (USHORT)(2 * n + 2);
    dxgk_kernel_enter(d->kernel);
    dxgk_kernel_revive(d->kernel);
    loading = d;
    d->stuck[0] = '\0';
    d->crashed = d->refused = false;
    d->remarks.count = 0;
    d->unpaged = NULL;
    d->first_rule = dxgk_kernel_violations(d->kernel);
    s = STATUS_DEVICE_REMOVED;
    KERNEL_CALL(d->kernel, "DriverEntry", PASSIVE_LEVEL, d->tdr.ddi_delay_ns,
                s = KERNEL_GUEST(driver_entry)((PDRIVER_OBJECT)d->objects->driver, &name));
    loading = NULL;
    if (d->state == DXGK_FAILED) /* nothing goes on behind its bug check */
        s = STATUS_UNSUCCESSFUL;
    else if (!NT_SUCCESS(s) && !dxgk_kernel_death(d->kernel))
        dxgk_ntos_check_leaks(d);
    missing = missing_ddi(d);
    if (NT_SUCCESS(s) && d->initialized && !missing) {
        d->state = DXGK_LOADED;
    } else {
        dxgk_ntos_finish(d); /* its code goes */
        d->state = DXGK_EMPTY;
    }
    dxgk_kernel_leave(d->kernel);
    if (d->state == DXGK_LOADED)
        return 0;
    if (s == STATUS_GRAPHICS_INVALID_DRIVER_MODEL && d->refused)
        return error_set(
            err, -ENOEXEC,
            "the miniport is for interface version 0x%x; Windows 7 takes 0x%x, and of Vista 0x%x and 0x%x",
            (unsigned)d->version, DXGKDDI_INTERFACE_VERSION_WIN7, DXGKDDI_INTERFACE_VERSION_VISTA,
            DXGKDDI_INTERFACE_VERSION_VISTA_SP1);
    if (!NT_SUCCESS(s))
        return miniport_failed(d, err, "DriverEntry", s);
    if (!d->initialized)
        return error_set(err, -ENXIO, "DriverEntry succeeded without DxgkInitialize");
    d->initialized = false;
    error_set(err, -ENXIO, "the miniport lacks %s, which WDDM %s demands", missing,
              d->displayonly ? "1.2" : "1.1");
    dxgk_displayonly_free(d);
    return -ENXIO;
}

struct opening {
    const char *path;
    void *object;
};

static void open_object(void *arg)
{
    struct opening *o = arg;

    o->object = dxgk_elf_load(o->path);
}

static void close_object(void *arg)
{
    dlclose(arg);
}

/* The loader runs code of the miniport, too: its constructors, and at the end its destructors. */
static void unload_object(struct dxgk *d)
{
    dxgk_kernel_enter(d->kernel);
    if (d->object)
        dxgk_kernel_final(d->kernel, "a destructor of the miniport", close_object, d->object);
    dxgk_kernel_object(d->kernel, NULL);
    dxgk_kernel_leave(d->kernel);
    d->object = NULL;
}

static int load_object(struct dxgk *d, const char *path, DRIVER_INITIALIZE **entry, struct error *err)
{
    struct opening o = {path, NULL};
    int r = dxgk_elf_check(path, err);
    Dl_info info;

    if (r)
        return r;
    dxgk_kernel_enter(d->kernel);
    dxgk_kernel_final(d->kernel, "a constructor of the miniport", open_object, &o);
    dxgk_kernel_leave(d->kernel);
    d->object = o.object;
    if (!d->object)
        return error_set(err, -ENOEXEC, "cannot load the miniport: %s", dlerror());
    *(void **)entry = dlsym(d->object, "DriverEntry");
    if (!*entry)
        return error_set(err, -ENOEXEC, "%s has no DriverEntry", path);
    if (dladdr(*(void **)entry, &info))
        dxgk_kernel_object(d->kernel, info.dli_fbase);
    return 0;
}

int dxgk_load_file(struct dxgk *d, const char *path, struct error *err)
{
    DRIVER_INITIALIZE *entry;
    char here[PATH_MAX];
    int r;

    if (dxgk_image_is(path)) {
        r = dxgk_image_load(&d->image, path, err);
        if (!r)
            r = dxgk_load(d, dxgk_image_entry(d->image), err);
        if (!r) {
            dxgk_image_discard(d->image);
        } else {
            dxgk_image_unload(d->image);
            d->image = NULL;
        }
        return r;
    }
    /* a file, and not what the loader would look for by that name */
    snprintf(here, sizeof(here), "%s%s", strchr(path, '/') ? "" : "./", path);
    r = load_object(d, here, &entry, err);
    if (!r)
        r = dxgk_load(d, entry, err);
    if (r)
        unload_object(d);
    return r;
}

void dxgk_unload(struct dxgk *d)
{
    dxgk_stop(d);
    if (d->state == DXGK_EMPTY)
        return;
    dxgk_kernel_enter(d->kernel);
    if (d->ddi.DxgkDdiUnload && !KERNEL_CALL(d->kernel, "DxgkDdiUnload", PASSIVE_LEVEL, d->tdr.ddi_delay_ns,
                                             KERNEL_GUEST(d->ddi.DxgkDdiUnload)()))
        d->crashed = true;
    dxgk_ntos_check_leaks(d);
    dxgk_ntos_finish(d);
    dxgk_kernel_leave(d->kernel);
    unload_object(d);
    dxgk_image_unload(d->image);
    d->image = NULL;
    d->initialized = false;
    dxgk_displayonly_free(d);
    memset(&d->ddi, 0, sizeof(d->ddi));
    d->state = DXGK_EMPTY;
}

/* ---- threads ------------------------------------------------------------- */

static void worker(void *arg)
{
    struct dxgk *d = arg;

    while (!d->workers.stopping) {
        if (!d->workers.work_pending)
            dxgk_kernel_wait(d->kernel, &d->workers.work, LOOP_FOREVER);
        d->workers.work_pending = false;
        if (d->workers.stopping)
            break;
        dxgk_display_work(d);
        dxgk_vidmm_reap(d);
        dxgk_sched_pump_all(d);
    }
    d->workers.count--;
    dxgk_kernel_wake_all(d->kernel, &d->workers.stopped);
}

static void tdr_worker(void *arg)
{
    struct dxgk *d = arg;

    while (!d->workers.stopping) {
        if (!d->workers.tdr_pending)
            dxgk_kernel_wait(d->kernel, &d->workers.tdr_work, dxgk_memory_due(d));
        d->workers.tdr_pending = false;
        if (!d->workers.stopping)
            dxgk_tdr_work(d);
    }
    d->workers.count--;
    dxgk_kernel_wake_all(d->kernel, &d->workers.stopped);
}

static void start_work(struct dxgk *d)
{
    d->workers.stopping = d->workers.work_pending = d->workers.tdr_pending = d->resetting = false;
    d->interrupts.count = 0;
    dxgk_sched_start(d);
    d->workers.count += !dxgk_kernel_spawn(d->kernel, "vidsch", worker, d);
    d->workers.count += !dxgk_kernel_spawn(d->kernel, "tdr", tdr_worker, d);
}

static void stop_work(struct dxgk *d)
{
    if (d->state == DXGK_STARTED)
        dxgk_nodes_wait_idle(d);
    dxgk_faults_stop(d);
    while (d->devices) /* what clients left open, and the system's */
        dxgk_device_destroy(d->devices);
    d->system = NULL;
    d->vidmm.context = NULL;
    dxgk_display_drop_flips(d, NULL);
    dxgk_sched_drop_all(d);
    d->interrupts.count = 0;
    d->workers.stopping = true;
    while (d->workers.count) {
        dxgk_kernel_wake_all(d->kernel, &d->workers.work);
        dxgk_kernel_wake_all(d->kernel, &d->workers.tdr_work);
        dxgk_kernel_wake_all(d->kernel, &d->progress);
        if (!dxgk_kernel_wait(d->kernel, &d->workers.stopped, dxgk_kernel_now(d->kernel) + NSEC_PER_SEC))
            break; /* a worker is stuck in a DDI */
    }
}

/* ---- starting ------------------------------------------------------------ */

static CM_RESOURCE_LIST *make_resources(const struct dxgk_bus *bus)
{
    size_t size = offsetof(CM_RESOURCE_LIST, List[0].PartialResourceList.PartialDescriptors) +
                  bus->num_resources * sizeof(CM_PARTIAL_RESOURCE_DESCRIPTOR);
    CM_RESOURCE_LIST *l = calloc(1, size < sizeof(*l) ? sizeof(*l) : size);
    CM_PARTIAL_RESOURCE_LIST *p;

    if (!l)
        return NULL;
    l->Count = 1;
    l->List[0].InterfaceType = PCIBus;
    p = &l->List[0].PartialResourceList;
    p->Version = p->Revision = 1;
    p->Count = bus->num_resources;
    for (unsigned i = 0; i < bus->num_resources; i++) {
        CM_PARTIAL_RESOURCE_DESCRIPTOR *r = &p->PartialDescriptors[i];
        r->Type = bus->resources[i].type;
        r->Flags = bus->resources[i].flags;
        if (r->Type == CmResourceTypeMemory) {
            r->u.Memory.Start.QuadPart = (LONGLONG)bus->resources[i].start;
            r->u.Memory.Length = bus->resources[i].length;
        } else if (r->Type == CmResourceTypeInterrupt) {
            r->u.Interrupt.Level = DIRQL;
            r->u.Interrupt.Vector = bus->resources[i].vector;
            r->u.Interrupt.Affinity = 1;
        }
    }
    return l;
}

/* Lines are shared: a miniport that takes all interrupts for its own starves who comes behind it on the line. The device may have
 * raised one meanwhile, but hardly each time. */
static void check_neighbours(struct dxgk *d)
{
    unsigned claimed = 0;

    for (unsigned i = 0; i < 3 && !d->greedy; i++)
        claimed += dxgk_kernel_interrupt_of_neighbour(d->kernel);
    d->greedy |= claimed == 3;
    if (claimed == 3)
        dxgk_kernel_violation(d->kernel,
                              "DxgkDdiInterruptRoutine claims interrupts that are not its adapter's");
}

/* A block of 128 bytes of the monitor's EDID. */
static NTSTATUS query_edid(struct dxgk *d, ULONG uid, ULONG at, UCHAR *out)
{
    UCHAR block[128] = {0};
    DXGK_DEVICE_DESCRIPTOR desc = {at, sizeof(block), dxgk_argument(d, block, sizeof(block))};
    PVOID room = desc.DescriptorBuffer;
    struct judge j = {.d = d, .ddi = "DxgkDdiQueryDeviceDescriptor"};
    NTSTATUS s;

    if (!room)
        return STATUS_NO_MEMORY;
    s = DDI_AROUND(d, QueryDeviceDescriptor, &desc, DDI(d, QueryDeviceDescriptor, d->miniport, uid, handed_));
    dxgk_argument_back(d, j.ddi, "DescriptorBuffer", room, sizeof(block), block);
    dxgk_answer(&j, ANSWER_REMARK,
                desc.DescriptorOffset == at && desc.DescriptorLength == 128 && desc.DescriptorBuffer == room,
                "DescriptorLength, or another member that it was given,", desc.DescriptorLength,
                "what it was");
    if (s == STATUS_SUCCESS)
        memcpy(out, block, sizeof(block));
    return s == STATUS_SUCCESS ? s : NT_SUCCESS(s) ? STATUS_MONITOR_NO_DESCRIPTOR : s;
}

static bool query_connected(struct dxgk *d, const struct child *c)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = c->desc.ChildUid};
    struct judge j = {.d = d, .ddi = "DxgkDdiQueryChildStatus"};
    NTSTATUS s = DDI_ARG(d, QueryChildStatus, d->miniport, &status, TRUE);

    ANSWER(&j, ANSWER_REMARK, &status, Type, v == StatusConnection, "what it was: 1 (StatusConnection)");
    ANSWER(&j, ANSWER_REMARK, &status, ChildUid, v == c->desc.ChildUid, "what it was");
    dxgk_answers_boolean(d, j.ddi, "HotPlug.Connected", status.HotPlug.Connected);
    return c->desc.ChildCapabilities.HpdAwareness == HpdAwarenessAlwaysConnected ||
           (NT_SUCCESS(s) && status.HotPlug.Connected);
}

static NTSTATUS query_children(struct dxgk *d, struct error *err)
{
    DXGK_CHILD_DESCRIPTOR list[MAX_CHILDREN + 1] = {0}, *lent;
    struct judge j = {.d = d, .ddi = "DxgkDdiStartDevice"};
    size_t size;
    NTSTATUS s;

    if (!d->displayonly) {
        dxgk_answer(&j, ANSWER_BREAKS, d->display.num_sources, "NumberOfVideoPresentSources", 0,
                    "1 and more (STATUS_GRAPHICS_ADAPTER_MUST_HAVE_AT_LEAST_ONE_SOURCE)");
        dxgk_answer(&j, ANSWER_BREAKS, d->display.num_children, "NumberOfChildren", 0,
                    "1 and more (STATUS_GRAPHICS_ADAPTER_MUST_HAVE_AT_LEAST_ONE_TARGET)");
    }
    if (j.broken) {
        miniport_failed(d, err, "starting the adapter",
                        STATUS_GRAPHICS_ADAPTER_MUST_HAVE_AT_LEAST_ONE_SOURCE);
        return STATUS_GRAPHICS_ADAPTER_MUST_HAVE_AT_LEAST_ONE_SOURCE;
    }
    if (d->display.num_children > MAX_CHILDREN || d->display.num_sources > MAX_SOURCES) {
        error_set(err, -ENXIO, "the miniport has %u sources and %u children; dxgkrnl supports %d and %d",
                  d->display.num_sources, d->display.num_children, MAX_SOURCES, MAX_CHILDREN);
        return STATUS_NOT_SUPPORTED;
    }
    size = (d->display.num_children + 1) * sizeof(list[0]);
    lent = dxgk_argument(d, list, size);
    s = STATUS_NO_MEMORY;
    if (lent) {
        s = DDI(d, QueryChildRelations, d->miniport, lent, (ULONG)size);
        dxgk_argument_back(d, "DxgkDdiQueryChildRelations", "ChildRelations", lent, size, list);
    }
    if (!NT_SUCCESS(s)) {
        miniport_failed(d, err, "DxgkDdiQueryChildRelations", s);
        return s;
    }
    if (!dxgk_answers_children(d, list, d->display.num_children)) {
        miniport_failed(d, err, "enumerating the adapter's children", STATUS_INVALID_PARAMETER);
        return STATUS_INVALID_PARAMETER;
    }
    for (ULONG i = 0; i < d->display.num_children; i++) {
        struct child *c = &d->display.children[i];
        *c = (struct child){.desc = list[i]};
        c->connected = query_connected(d, c);
        for (UINT at = 0; at < sizeof(c->edid) && c->connected && c->desc.ChildDeviceType == TypeVideoOutput;
             at += 128) {
            s = query_edid(d, c->desc.ChildUid, at, c->edid + at);
            if (!NT_SUCCESS(s) || (at == 0 && !c->edid[126]))
                at = NT_SUCCESS(s) ? (c->edid_size = 128, sizeof(c->edid)) : sizeof(c->edid);
            else
                c->edid_size = at + 128;
        }
    }
    return STATUS_SUCCESS;
}

static NTSTATUS query_caps(struct dxgk *d, struct error *err)
{
    NTSTATUS s;
    bool kept = dxgk_answers_query_caps(d, &s);

    if (!NT_SUCCESS(s))
        miniport_failed(d, err, "DxgkDdiQueryAdapterInfo(DRIVERCAPS)", s);
    d->sched.num_nodes = 0;
    if (!NT_SUCCESS(s) || d->displayonly)
        return s;
    if (!dxgk_answers_caps(d) || !kept) {
        miniport_failed(d, err, "going by the miniport's capabilities", STATUS_INVALID_PARAMETER);
        return STATUS_INVALID_PARAMETER;
    }
    static_assert((int)MAX_NODES == DXGK_MAX_ASYMETRICAL_PROCESSING_NODES, "each node has its place");
    d->sched.num_nodes =
        d->caps.SchedulingCaps.MultiEngineAware ? d->caps.GpuEngineTopology.NbAsymetricProcessingNodes : 1;
    return s;
}

/* The device and the context that paging runs in. */
static NTSTATUS create_system(struct dxgk *d)
{
    bool many = d->caps.SchedulingCaps.MultiEngineAware;
    NTSTATUS s;

    d->system = dxgk_device_create(d, NULL, &s);
    if (d->system)
        d->vidmm.context = dxgk_context_create(d->system, many ? d->caps.MemoryManagementCaps.PagingNode : 0,
                                               1, NULL, 0, &s);
    return s;
}

static void stop_miniport(struct dxgk *d)
{
    if (d->displayonly)
        dxgk_displayonly_stop(d);
    else
        DDI(d, StopDevice, d->miniport);
}

/* From here on the miniport is not called any more, not even if it never returns: its context may be gone already. */
static void remove_miniport(struct dxgk *d)
{
    PVOID miniport = d->miniport;

    dxgk_kernel_connect_interrupt(d->kernel, false);
    d->miniport = NULL;
    DDI(d, RemoveDevice, miniport);
    dxgk_argument_back(d, "the miniport", "DxgkInterface", d->lent_iface, d->iface.Size, NULL);
    d->lent_iface = NULL;
    d->first_rule = dxgk_kernel_violations(d->kernel);
}

static NTSTATUS start_locked(struct dxgk *d, struct error *err)
{
    NTSTATUS s;

    d->failed = (struct dxgk_failed){0};
    s = dxgk_answers_add(d);
    if (!NT_SUCCESS(s)) {
        miniport_failed(d, err, "DxgkDdiAddDevice", s);
        return s;
    }
    if (!d->miniport) { /* as documented: it does not support that one */
        error_set(
            err, -ENXIO,
            "DxgkDdiAddDevice answered MiniportDeviceContext = NULL: the miniport does not support this adapter");
        return STATUS_NO_SUCH_DEVICE;
    }
    dxgk_callbacks_fill(d);
    dxgk_kernel_connect_interrupt(d->kernel, true); /* connected before StartDevice, as on Windows */
    s = dxgk_answers_start(d);
    if (!NT_SUCCESS(s)) {
        miniport_failed(d, err, "DxgkDdiStartDevice", s);
        goto remove;
    }
    s = query_children(d, err);
    if (NT_SUCCESS(s))
        s = query_caps(d, err);
    if (NT_SUCCESS(s) && !d->displayonly) {
        s = dxgk_vidmm_start(d);
        if (!NT_SUCCESS(s))
            miniport_failed(d, err, "making the miniport's segments usable", s);
    }
    if (!NT_SUCCESS(s))
        goto stop;
    start_work(d);
    d->state = DXGK_STARTED;
    s = d->displayonly ? STATUS_SUCCESS : create_system(d);
    if (NT_SUCCESS(s))
        s = dxgk_display_start(d);
    if (NT_SUCCESS(s)) {
        check_neighbours(d);
        return s;
    }
    miniport_failed(d, err, "setting a display mode", s);
    dxgk_display_stop(d);
    stop_work(d);
    d->state = DXGK_STOPPED;
stop:
    stop_miniport(d);
remove:
    remove_miniport(d);
    return s;
}

NTSTATUS dxgk_start(struct dxgk *d, struct error *err)
{
    NTSTATUS s = STATUS_INVALID_DEVICE_STATE;

    if (d->state != DXGK_LOADED && d->state != DXGK_STOPPED) {
        error_set(err, -EINVAL, "no miniport is loaded, or it is started");
        return s;
    }
    dxgk_kernel_enter(d->kernel);
    free(d->resources);
    d->resources = make_resources(d->bus);
    d->stuck[0] = '\0';
    if (!d->resources) {
        error_set(err, -ENOMEM, "no memory for the adapter's resources");
        s = STATUS_NO_MEMORY;
    } else if (dxgk_adapter_lock(d)) {
        s = start_locked(d, err);
        dxgk_adapter_unlock(d);
    }
    dxgk_kernel_leave(d->kernel);
    return s;
}

void dxgk_stop(struct dxgk *d)
{
    if (d->state != DXGK_STARTED && d->state != DXGK_FAILED)
        return;
    dxgk_kernel_enter(d->kernel);
    if (d->state == DXGK_STARTED)
        check_neighbours(d);
    dxgk_display_stop(d);
    stop_work(d);
    d->crashed = d->state == DXGK_FAILED;
    if (!d->lock.held) { /* else a DDI never came back: leave the miniport alone */
        stop_miniport(d);
        if (d->crashed || d->state != DXGK_FAILED) /* else it was cut off there, which is a bug check */
            remove_miniport(d);
    }
    d->crashed |= d->state == DXGK_FAILED || dxgk_kernel_death(d->kernel); /* there, too */
    dxgk_kernel_connect_interrupt(d->kernel, false);
    d->miniport = NULL;
    d->state = DXGK_STOPPED;
    dxgk_kernel_leave(d->kernel);
}

NTSTATUS dxgk_set_power(struct dxgk *d, DEVICE_POWER_STATE state, POWER_ACTION action)
{
    NTSTATUS s = STATUS_INVALID_DEVICE_STATE;

    dxgk_kernel_enter(d->kernel);
    if (d->state == DXGK_STARTED && dxgk_adapter_lock(d)) {
        if (state == PowerDeviceD0) {
            s = DDI(d, SetPowerState, d->miniport, DISPLAY_ADAPTER_HW_ID, state, action);
            dxgk_kernel_connect_interrupt(d->kernel, true);
            if (NT_SUCCESS(s))
                s = dxgk_display_restore(d);
        } else {
            dxgk_nodes_wait_idle(d);
            s = DDI(d, SetPowerState, d->miniport, DISPLAY_ADAPTER_HW_ID, state, action);
        }
        dxgk_adapter_unlock(d);
    }
    dxgk_kernel_leave(d->kernel);
    return s;
}

/* ---- the kernel's side --------------------------------------------------- */

static bool on_isr(void *ctx, unsigned message)
{
    struct dxgk *d = ctx;
    BOOLEAN ours = FALSE;

    if (!d->miniport || !d->ddi.DxgkDdiInterruptRoutine)
        return false;
    KERNEL_CALL(d->kernel, "DxgkDdiInterruptRoutine", DIRQL, 0,
                ours = KERNEL_GUEST(d->ddi.DxgkDdiInterruptRoutine)(d->miniport, message));
    return ours;
}

static void NTAPI on_dpc(PKDPC dpc, PVOID ctx, PVOID a, PVOID b)
{
    struct dxgk *d = ctx;

    UNREFERENCED_PARAMETER(dpc);
    UNREFERENCED_PARAMETER(a);
    UNREFERENCED_PARAMETER(b);
    if (!d->miniport || !d->ddi.DxgkDdiDpcRoutine)
        return;
    KERNEL_CALL(d->kernel, "DxgkDdiDpcRoutine", DISPATCH_LEVEL, 0,
                KERNEL_GUEST(d->ddi.DxgkDdiDpcRoutine)(d->miniport));
}

static void on_stuck(void *ctx, const char *ddi)
{
    struct dxgk *d = ctx;

    snprintf(d->stuck, sizeof(d->stuck), "%s has not returned within TdrDdiDelay (%llu s)", ddi,
             (unsigned long long)(d->tdr.ddi_delay_ns / NSEC_PER_SEC));
    dxgk_tdr_fail(d, VIDEO_TDR_FAILURE, d->stuck);
}

static void on_dead(void *ctx, unsigned bugcheck, const char *why)
{
    struct dxgk *d = ctx;

    if (d->state != DXGK_EMPTY)
        dxgk_tdr_fail(d, bugcheck, why);
}

/* What a call has left to the kernel in its frames, which are gone. */
static void check_frames(struct dxgk *d)
{
    const struct kernel_ddi *call = dxgk_kernel_call(d->kernel);
    const void *frames;
    size_t size = dxgk_kernel_returned(d->kernel, &frames);
    const char *used = size ? dxgk_ntos_in_use(d, frames, size) : NULL;

    if (used && !call->abandoned)
        dxgk_kernel_violation(d->kernel, "%s returned, and its stack had %s", call->name, used);
}

static void on_left(void *ctx)
{
    dxgk_ntos_check_locks(ctx);
    check_frames(ctx);
    dxgk_pool_look(ctx);
    if (dxgk_lastwords_stranger() ||
        !dxgk_kernel_is_live(((struct dxgk *)ctx)->kernel)) /* else time counts */
        dxgk_contiguous_look(ctx);
}

static const char *routine_name(void *ctx, const void *start)
{
    const char *name = dxgk_ntos_export_name(start);

    name = name ? name : dxgk_callback_name(ctx, start);
    return name ? name : dxgk_display_routine_name(start);
}

static void on_violation(void *ctx, const char *text)
{
    dxgk_log(ctx, "dxgkrnl", 0xC4, "%s", text); /* DRIVER_VERIFIER_DETECTED_VIOLATION */
}

static void on_above(void *ctx, bool above)
{
    dxgk_pool_fence(ctx, above);
}

static const char *name_memory(void *ctx, const void *at)
{
    struct dxgk *d = ctx;

    return dxgk_pool_is_fenced(&d->ntos.pool, at) ? "paged pool at DISPATCH_LEVEL and above"
                                                  : dxgk_arguments_name(&d->arguments, at);
}

int dxgk_create(struct dxgk **out, const struct dxgk_params *p, struct error *err)
{
    static const struct kernel_ops ops = {.isr = on_isr,
                                          .stuck = on_stuck,
                                          .violation = on_violation,
                                          .dead = on_dead,
                                          .left = on_left,
                                          .routine = routine_name,
                                          .above = on_above,
                                          .memory = name_memory};
    struct dxgk *d = calloc(1, sizeof(*d));
    int r;

    if (!d || !(d->objects = calloc(1, sizeof(*d->objects))) || !dxgk_arguments_init(&d->arguments)) {
        if (d)
            free(d->objects);
        free(d);
        return error_set(err, -ENOMEM, "no memory");
    }
    d->bus = p->bus;
    d->clock = p->clock;
    d->log.on_event = p->on_event;
    d->log.ctx = p->event_ctx;
    d->luid.LowPart = 0x1000;
    snprintf(d->service, sizeof(d->service), "%s", p->service ? p->service : "display");
    for (unsigned i = 0; i < NUM_KMTUMDVERSIONS; i++)
        snprintf(d->umd[0][i], sizeof(d->umd[0][i]), "%s", p->umd[i] ? p->umd[i] : "");
    for (unsigned i = 0; i < NUM_KMTUMDVERSIONS; i++)
        snprintf(d->umd[1][i], sizeof(d->umd[1][i]), "%s", p->umd_wow[i] ? p->umd_wow[i] : "");
    for (unsigned i = 0; p->settings && i < p->settings->count; i++)
        dxgk_settings_set(&d->settings, p->settings->values[i].key, p->settings->values[i].name,
                          p->settings->values[i].value);
    dxgk_ntos_init(d);
    d->dpc = (KDPC){.DeferredRoutine = on_dpc, .DeferredContext = d};
    r = dxgk_signaller_init(&d->signaller);
    if (!r) {
        r = dxgk_kernel_create(&d->kernel, p->clock, p->loop, &ops, d);
        if (r)
            dxgk_signaller_finish(&d->signaller);
    }
    if (r) {
        dxgk_settings_finish(&d->settings);
        dxgk_arguments_finish(&d->arguments);
        free(d->objects);
        free(d);
        return error_set(err, r, "cannot start the kernel: %s", strerror(-r));
    }
    d->flight = dxgk_flight_open();
    dxgk_tdr_configure(d);
    *out = d;
    return 0;
}

void dxgk_destroy(struct dxgk *d)
{
    if (!d)
        return;
    dxgk_unload(d);
    dxgk_kernel_destroy(d->kernel);
    dxgk_signaller_finish(&d->signaller);
    bb_flight_close(d->flight);
    dxgk_vblanks_finish(d);
    free(d->handles.table);
    for (int i = 0; i < SHARES; i++)
        map_finish(&d->handles.shares[i]);
    free(d->log.events);
    free(d->resources);
    free(d->tdr.debug_info);
    dxgk_settings_finish(&d->settings);
    dxgk_arguments_finish(&d->arguments);
    free(d->objects);
    free(d);
}

enum dxgk_state dxgk_state(struct dxgk *d)
{
    enum dxgk_state s;

    dxgk_kernel_enter(d->kernel);
    s = d->state;
    dxgk_kernel_leave(d->kernel);
    return s;
}

struct kernel *dxgk_kernel(struct dxgk *d)
{
    return d->kernel;
}

void dxgk_interrupt_line(struct dxgk *d, bool asserted)
{
    dxgk_kernel_interrupt_line(d->kernel, asserted);
}

bool dxgk_event(struct dxgk *d, unsigned i, struct dxgk_event *event)
{
    bool found;

    dxgk_kernel_enter(d->kernel);
    found = i < d->log.count;
    if (found)
        *event = d->log.events[i];
    dxgk_kernel_leave(d->kernel);
    return found;
}

unsigned dxgk_event_count(struct dxgk *d, unsigned id)
{
    unsigned n = 0;

    dxgk_kernel_enter(d->kernel);
    for (unsigned i = 0; i < d->log.count; i++)
        n += d->log.events[i].id == id;
    dxgk_kernel_leave(d->kernel);
    return n;
}

unsigned dxgk_violations(struct dxgk *d)
{
    unsigned n;

    dxgk_kernel_enter(d->kernel);
    n = dxgk_kernel_violations(d->kernel);
    dxgk_kernel_leave(d->kernel);
    return n;
}

const char *dxgk_violation(struct dxgk *d, unsigned i)
{
    return dxgk_kernel_violation_text(d->kernel, i);
}
