/* SPDX-License-Identifier: MIT */
/* tracing.h: dxgkrnl's side of trace.h. */
#pragma once

#include "dxgkrnl/dxgkrnl.h"
#include "dxgkrnl/telemetry/trace.h"
#include "wddm/ntddk.h"

enum { TRACE_RING = 4096, TRACE_PROVIDERS = 16 };

struct trace {
    struct dxgk_trace_event *ring; /* NULL: nobody traces */
    uint64_t next, until_ns;
    unsigned
        tracers; /* that have started and not stopped; those that were killed count until the trace ends */
    struct {
        GUID id;
        PETWENABLECALLBACK callback;
        PVOID context;
        bool used;
    } providers[TRACE_PROVIDERS]; /* the miniport's */
};

void dxgk_trace_event(struct dxgk *d, enum dxgk_trace_id id, uint64_t process,
                      const uint64_t field[DXGK_TRACE_FIELDS]);
/* `d->trace` is looked at before anything is computed. */
#define DXGK_TRACE(d, NAME, process, ...)                                                                    \
    do {                                                                                                     \
        if (__builtin_expect((d)->trace.ring != NULL, 0))                                                    \
            dxgk_trace_event(d, DXGK_TRACE_##NAME, process, (uint64_t[DXGK_TRACE_FIELDS]){__VA_ARGS__});     \
    } while (0)

NTSTATUS dxgk_trace_escape(struct dxgk *d, bool admin, void *data, size_t size);
/* What a miniport hands to DxgkCbLogEtwEvent. */
void dxgk_trace_blob(struct dxgk *d, const GUID *provider, uint8_t opcode, const void *data, size_t size);
/* Providers that the miniport left registered. */
unsigned dxgk_trace_providers(const struct dxgk *d);
void dxgk_trace_finish(struct dxgk *d);
