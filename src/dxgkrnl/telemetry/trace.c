/* SPDX-License-Identifier: MIT */
/* trace.c: see trace.h, and the routines by which a miniport has events of its own (EtwRegister and its neighbours).
 *
 * Invariants:
 *  1. There is a ring from a start to a stop, or to the first event or question after nobody has read for DXGK_TRACE_ALIVE_NS.
 *  2. Event n is at n % TRACE_RING while it is one of the last TRACE_RING.
 */
#include "dxgkrnl/telemetry/tracing.h"

#include <stdlib.h>
#include <string.h>

#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

static const struct {
    uint16_t id;
    uint8_t fields, opcode;
} events[] = {
#define NAMED(f) (sizeof(f) > 1 ? 1 : 0)
#define ROW(NAME, number, task, op, a, b, c, d)                                                              \
    {number, NAMED(a) + NAMED(b) + NAMED(c) + NAMED(d), DXGK_TRACE_OPCODE_##op},
    DXGK_TRACE_EVENTS(ROW)
#undef ROW
#undef NAMED
};

/* A place for the next event; NULL: nobody traces. */
static struct dxgk_trace_event *place(struct dxgk *d)
{
    struct trace *t = &d->trace;
    struct dxgk_trace_event *e;
    uint64_t now = dxgk_kernel_now(d->kernel);

    if (!t->ring)
        return NULL;
    if (now > t->until_ns) { /* 1 */
        free(t->ring);
        t->ring = NULL;
        t->tracers = 0;
        return NULL;
    }
    e = &t->ring[t->next++ % TRACE_RING];
    *e = (struct dxgk_trace_event){.time_ns = now};
    return e;
}

void dxgk_trace_event(struct dxgk *d, enum dxgk_trace_id id, uint64_t process,
                      const uint64_t field[DXGK_TRACE_FIELDS])
{
    static const uint8_t provider[16] = DXGK_TRACE_PROVIDER;
    struct dxgk_trace_event *e = place(d);

    if (!e)
        return;
    memcpy(e->provider, provider, sizeof(provider));
    memcpy(e->field, field, sizeof(e->field));
    e->keyword = DXGK_TRACE_KEYWORDS;
    e->process = process;
    e->id = (uint16_t)id;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        if (events[i].id == id) {
            e->size = events[i].fields * (uint32_t)sizeof(e->field[0]);
            e->opcode = events[i].opcode;
        }
}

void dxgk_trace_blob(struct dxgk *d, const GUID *provider, uint8_t opcode, const void *data, size_t size)
{
    struct dxgk_trace_event *e = place(d);

    if (!e)
        return;
    memcpy(e->provider, provider, sizeof(*provider));
    e->opcode = opcode;
    e->process = dxgk_kernel_caller(d->kernel).process;
    e->size = size < sizeof(e->field) ? (uint32_t)size : sizeof(e->field);
    memcpy(e->field, data, e->size);
}

/* The miniport is told, as Windows does: by its DDI and by the callbacks of its providers. */
static void tell(struct dxgk *d, bool on)
{
    if (d->miniport && d->ddi.DxgkDdiControlEtwLogging)
        KERNEL_CALL(d->kernel, "DxgkDdiControlEtwLogging", PASSIVE_LEVEL, d->tdr.ddi_delay_ns,
                    KERNEL_GUEST(d->ddi.DxgkDdiControlEtwLogging)(on, 0, 0));
    for (unsigned i = 0; i < TRACE_PROVIDERS; i++)
        if (d->trace.providers[i].used && d->trace.providers[i].callback)
            KERNEL_CALL(d->kernel, "an ETW provider's callback", PASSIVE_LEVEL, d->tdr.ddi_delay_ns,
                        KERNEL_GUEST(d->trace.providers[i].callback)(&d->trace.providers[i].id, on, 0,
                                                                     UINT64_MAX, 0, NULL,
                                                                     d->trace.providers[i].context));
}

static void read_events(struct trace *t, struct dxgk_trace_block *b)
{
    b->count = 0;
    b->lost = 0;
    if (b->next > t->next)
        b->next = t->next;
    if (t->next - b->next > TRACE_RING) {
        b->lost = t->next - TRACE_RING - b->next;
        b->next += b->lost;
    }
    while (b->next < t->next && b->count < DXGK_TRACE_MOST)
        b->event[b->count++] = t->ring[b->next++ % TRACE_RING]; /* 2 */
}

NTSTATUS dxgk_trace_escape(struct dxgk *d, bool admin, void *data, size_t size)
{
    struct dxgk_trace_block *b = data;
    struct trace *t = &d->trace;
    bool on = t->ring;

    if (size != sizeof(*b))
        return STATUS_INVALID_PARAMETER;
    if (!admin)
        return STATUS_ACCESS_DENIED;
    switch (b->op) {
    case DXGK_TRACE_STOP_OP:
        t->tracers -= t->tracers > 0;
        if (t->tracers)
            return STATUS_SUCCESS; /* others trace */
        free(t->ring);
        t->ring = NULL;
        if (on)
            tell(d, false);
        return STATUS_SUCCESS;
    case DXGK_TRACE_START_OP:
        if (!on)
            t->ring = calloc(TRACE_RING, sizeof(*t->ring));
        if (!t->ring)
            return STATUS_NO_MEMORY;
        t->until_ns = dxgk_kernel_now(d->kernel) + DXGK_TRACE_ALIVE_NS;
        t->tracers++;
        b->next = t->next;
        if (!on)
            tell(d, true);
        return STATUS_SUCCESS;
    case DXGK_TRACE_READ_OP:
        if (!on)
            return STATUS_INVALID_DEVICE_STATE;
        t->until_ns = dxgk_kernel_now(d->kernel) + DXGK_TRACE_ALIVE_NS;
        read_events(t, b);
        return STATUS_SUCCESS;
    default:
        return STATUS_INVALID_PARAMETER;
    }
}

unsigned dxgk_trace_providers(const struct dxgk *d)
{
    unsigned n = 0;

    for (unsigned i = 0; i < TRACE_PROVIDERS; i++)
        n += d->trace.providers[i].used;
    return n;
}

void dxgk_trace_finish(struct dxgk *d)
{
    free(d->trace.ring);
    d->trace = (struct trace){0};
}

/* ---- the miniport's providers -------------------------------------------- */

NTSTATUS NTAPI EtwRegister(LPCGUID ProviderId, PETWENABLECALLBACK EnableCallback, PVOID CallbackContext,
                           PREGHANDLE RegHandle)
{
    struct trace *t = &OWNER()->trace;
    ENTER(EtwRegister);

    for (unsigned i = 0; i < TRACE_PROVIDERS; i++)
        if (!t->providers[i].used) {
            t->providers[i].id = *ProviderId;
            t->providers[i].callback = EnableCallback;
            t->providers[i].context = CallbackContext;
            t->providers[i].used = true;
            *RegHandle = i + 1;
            return STATUS_SUCCESS;
        }
    return STATUS_INSUFFICIENT_RESOURCES;
}

static bool is_registered(const struct trace *t, REGHANDLE handle)
{
    return handle && handle <= TRACE_PROVIDERS && t->providers[handle - 1].used;
}

NTSTATUS NTAPI EtwUnregister(REGHANDLE RegHandle)
{
    struct trace *t = &OWNER()->trace;
    ENTER(EtwUnregister);

    if (!is_registered(t, RegHandle)) {
        dxgk_kernel_violation(k, "EtwUnregister of %#llx, which is not registered, or no more",
                              (unsigned long long)RegHandle);
        return STATUS_INVALID_HANDLE;
    }
    t->providers[RegHandle - 1].used = false;
    return STATUS_SUCCESS;
}

BOOLEAN NTAPI EtwProviderEnabled(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword)
{
    const struct trace *t = &OWNER()->trace;

    UNREFERENCED_PARAMETER(Level);
    UNREFERENCED_PARAMETER(Keyword);
    return t->ring && is_registered(t, RegHandle);
}

BOOLEAN NTAPI EtwEventEnabled(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor)
{
    return EtwProviderEnabled(RegHandle, EventDescriptor->Level, EventDescriptor->Keyword);
}

NTSTATUS NTAPI EtwWrite(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, LPCGUID ActivityId,
                        ULONG UserDataCount, PEVENT_DATA_DESCRIPTOR UserData)
{
    struct dxgk *d = OWNER();
    struct dxgk_trace_event *e;

    UNREFERENCED_PARAMETER(ActivityId);
    if (!is_registered(&d->trace, RegHandle))
        return STATUS_INVALID_HANDLE;
    e = place(d);
    if (!e)
        return STATUS_SUCCESS; /* nobody wants it */
    memcpy(e->provider, &d->trace.providers[RegHandle - 1].id, sizeof(e->provider));
    e->keyword = EventDescriptor->Keyword;
    e->id = EventDescriptor->Id;
    e->opcode = EventDescriptor->Opcode;
    e->level = EventDescriptor->Level;
    e->process = dxgk_kernel_caller(d->kernel).process;
    for (ULONG i = 0; i < UserDataCount; i++) {
        size_t room = sizeof(e->field) - e->size, n = UserData[i].Size < room ? UserData[i].Size : room;
        memcpy((uint8_t *)e->field + e->size, (const void *)(uintptr_t)UserData[i].Ptr, n);
        e->size += (uint32_t)n;
    }
    return STATUS_SUCCESS;
}
