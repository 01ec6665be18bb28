/* SPDX-License-Identifier: MIT */
/* tdr.h: time-out detection and recovery.
 *
 *   head packet at the device ──TdrDelay──▶ ask the miniport for the current fence
 *        ├─ it moved: an interrupt was lost; complete what is done, go on
 *        ├─ it did not, and is a stranger's: what executes his work is ended; his fences fault, and his devices are lost ─▶ dxgkrnl 8
 *        └─ it did not, or that did not help within TdrDelay: DETECTED ─▶ CollectDbgInfo ─▶ ResetFromTimeout ─▶ drop everything ─▶ RestartFromTimeout ─▶ mode ─▶ 4101
 *                          └─ TdrLevel 1, more than TdrLimitCount in TdrLimitTime, a DDI that fails or never returns ─▶ FAILED
 *
 * Time in which the host gave no processor to what executes the head, or to one of the threads between doorbell and completion, is none
 * in which the device did not respond. What starved longest of them counts (base/sched/schedstat.h), from a quarter of TdrDelay on, and
 * moves the deadline, STARVED_MOST times TdrDelay at most: what starves may hang as well.
 *
 * Settings, under their registry names in HKLM\SYSTEM\CurrentControlSet\Control\GraphicsDrivers: TdrLevel (0 off,
 * 1 bug check, 3 recover), TdrDelay, TdrDdiDelay, TdrLimitTime (seconds), TdrLimitCount.
 *
 * Invariants:
 *  1. A recovery holds the adapter from before ResetFromTimeout until its end, and only the tdr thread recovers.
 *  2. `resetting` is set while one is under way, and never when the adapter has failed.
 *  3. When everything was dropped, nothing is at the device and nothing is resident.
 *  4. FAILED is for ever.
 */
#pragma once

#include "dxgkrnl/dxgkrnl.h"
#include "dxgkrnl/recovery.h"

struct node;

enum {
    MAX_HISTORY = 64, /* time-outs remembered for TdrLimitCount */
    STARVED_MOST = 4,
    ENDING_MOST = 8, /* times TdrDelay: what was ended alone and has not gone then hangs the adapter */
    DDI_DELAY_S = 5, /* TdrDdiDelay, where no setting says otherwise */
};

struct tdr {
    uint32_t level, limit_count;
    uint64_t delay_ns, ddi_delay_ns, limit_ns;
    uint64_t history[MAX_HISTORY]; /* when; but those of strangers */
    unsigned count, total;
    bool forced;
    uint8_t *debug_info;
};

/* Reads the settings: in front of the first call into a miniport. */
void dxgk_tdr_configure(struct dxgk *d);
/* What it was configured to, and the resets that count. */
void dxgk_tdr_tell(const struct dxgk *d, struct dxgk_recovery *out);
/* When the node's head is to be looked at next. */
uint64_t dxgk_tdr_due(const struct dxgk *d, const struct node *n);
/* The tdr thread's work, at PASSIVE_LEVEL. */
void dxgk_tdr_work(struct dxgk *d);
/* Bug check: the adapter is FAILED from now on. At up to DISPATCH_LEVEL. */
void dxgk_tdr_fail(struct dxgk *d, unsigned code, const char *why);
