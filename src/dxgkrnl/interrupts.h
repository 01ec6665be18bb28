/* SPDX-License-Identifier: MIT */
/* interrupts.h: from the miniport's interrupt routine to its DPC.
 *
 *   DxgkCbNotifyInterrupt (DIRQL) ─dxgk_interrupts_notify─▶ record ─dxgk_interrupts_dispatch─▶ node, display   DxgkCbNotifyDpc
 */
#pragma once

#include "dxgkrnl/dxgkrnl.h"
#include "dxgkrnl/sched.h"

enum {
    MAX_HW_LIMIT = 64, /* of HwQueuedRenderPacketGroupLimit */
    MAX_RECORDS =
        MAX_NODES * (MAX_HW_LIMIT +
                     4) /* between an interrupt routine and its DPC: all that is at the device, and vblanks */
};

struct interrupts {
    struct record {
        DXGKARGCB_NOTIFY_INTERRUPT_DATA data;
        uint64_t time_ns;
        const char *in; /* the DDI that reported it; NULL: none was under way */
    } records[MAX_RECORDS];
    unsigned head, count;
    const char *in; /* of the one that is dispatched */
};

void dxgk_interrupts_notify(struct dxgk *d, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
void dxgk_interrupts_dispatch(struct dxgk *d);
/* What the record that is dispatched says is wrong: a broken rule, of who reported it. */
void dxgk_interrupts_wrong(struct dxgk *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
