/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"

#include "dxgkrnl/telemetry/flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { DEBUG_INFO_SIZE = 64 * 1024 };

static uint32_t setting(struct dxgk *d, const char *name, uint32_t otherwise, uint32_t min, uint32_t max)
{
    uint32_t v = otherwise;

    if (dxgk_settings_get(&d->settings, SETTINGS_GRAPHICS_DRIVERS, name, &v) && (v < min || v > max)) {
        dxgk_log(d, "dxgkrnl", 1, "%s = %u is out of range (%u to %u): %u is used", name, v, min, max,
                 otherwise);
        v = otherwise;
    }
    return v;
}

/* A name that is not known is most likely one that is not spelled right. */
static void report_unknown(struct dxgk *d)
{
    static const char *const known[] = {"TdrLevel",
                                        "TdrDelay",
                                        "TdrDdiDelay",
                                        "TdrLimitTime",
                                        "TdrLimitCount",
                                        "EnableFaultInjection",
                                        "HwQueuedRenderPacketGroupLimit"};

    for (unsigned i = 0; i < d->settings.count; i++) {
        const struct settings_value *v = &d->settings.values[i];
        bool found = strcasecmp(v->key, SETTINGS_GRAPHICS_DRIVERS) != 0;
        for (size_t k = 0; k < sizeof(known) / sizeof(known[0]) && !found; k++)
            found = !strcasecmp(v->name, known[k]);
        if (!found)
            dxgk_log(d, "dxgkrnl", 1, "%s is no setting that is known here: it is ignored", v->name);
    }
}

void dxgk_tdr_configure(struct dxgk *d)
{
    report_unknown(d);
    d->tdr.level = setting(d, "TdrLevel", 3, 0, 3);
    d->tdr.delay_ns = setting(d, "TdrDelay", 2, 1, 3600) * NSEC_PER_SEC;
    d->tdr.ddi_delay_ns = setting(d, "TdrDdiDelay", DDI_DELAY_S, 1, 3600) * NSEC_PER_SEC;
    dxgk_kernel_limit(d->kernel, d->tdr.ddi_delay_ns);
    d->tdr.limit_ns = setting(d, "TdrLimitTime", 60, 1, 86400) * NSEC_PER_SEC;
    d->tdr.limit_count = setting(d, "TdrLimitCount", 5, 0, UINT32_MAX);
    d->injection.allowed = setting(d, "EnableFaultInjection", 0, 0, 1);
    d->sched.hw_limit = setting(d, "HwQueuedRenderPacketGroupLimit", 2, 1, MAX_HW_LIMIT);
}

void dxgk_tdr_tell(const struct dxgk *d, struct dxgk_recovery *out)
{
    const struct tdr *t = &d->tdr;
    uint64_t now = dxgk_kernel_now(d->kernel);

    *out = (struct dxgk_recovery){.level = t->level,
                                  .delay_s = (uint32_t)(t->delay_ns / NSEC_PER_SEC),
                                  .ddi_delay_s = (uint32_t)(t->ddi_delay_ns / NSEC_PER_SEC),
                                  .limit_count = t->limit_count,
                                  .limit_time_s = (uint32_t)(t->limit_ns / NSEC_PER_SEC)};
    for (unsigned i = 0; i < t->count; i++)
        out->resets += now - t->history[i] <= t->limit_ns;
}

void dxgk_tdr_fail(struct dxgk *d, unsigned code, const char *why)
{
    if (d->state == DXGK_FAILED)
        return;
    d->state = DXGK_FAILED;
    dxgk_log(d, "BugCheck", code, "the display driver cannot be recovered (bugcheck 0x%X): %s", code, why);
    if (d->miniport) { /* so that the screen can be written to; of a driver that may be inside another DDI */
        KIRQL old = dxgk_kernel_raise(d->kernel, DIRQL);
        KERNEL_CALL(d->kernel, "DxgkDdiResetDevice", DIRQL, 0,
                    KERNEL_GUEST(d->ddi.DxgkDdiResetDevice)(d->miniport));
        dxgk_kernel_lower(d->kernel, old);
    }
    dxgk_ntos_bugcheck(d);
    for (struct device *dev = d->devices; dev; dev = dev->next)
        dxgk_device_lose(dev, D3DKMT_DEVICEEXECUTION_STOPPED);
    d->resetting = false;
    dxgk_adapter_kick(d);
    dxgk_kernel_wake_all(d->kernel, &d->progress);
    for (unsigned i = 0; i < d->sched.num_nodes; i++)
        dxgk_kernel_cancel(d->kernel, &d->sched.nodes[i].timer);
    dxgk_kernel_wake_all(d->kernel, &d->lock.waiters);
    dxgk_vblanks_changed(d);
    for (unsigned i = 0; i < d->display.num_sources; i++)
        dxgk_kernel_wake_all(d->kernel, &d->display.sources[i].vblank_waiters);
    for (struct context *c = d->sched.contexts; c; c = c->next_all) {
        dxgk_kernel_wake_all(d->kernel, &c->space);
        dxgk_kernel_wake_all(d->kernel, &c->idle);
    }
}

/* See tdr.h. */
static void check(const struct dxgk *d)
{
    INVARIANT(d->state != DXGK_FAILED || !d->resetting); /* 2 */
    INVARIANT(d->tdr.count <= MAX_HISTORY);
    INVARIANT(d->tdr.level <= 3 && d->tdr.delay_ns && d->tdr.ddi_delay_ns);
}

/* 3: after everything was dropped. */
static void check_empty(const struct dxgk *d)
{
    for (unsigned i = 0; i < d->sched.num_nodes; i++)
        INVARIANT(!d->sched.nodes[i].hw && d->sched.nodes[i].submitted == d->sched.nodes[i].completed);
    for (unsigned i = 0; i < d->vidmm.num_segments; i++)
        INVARIANT(!d->vidmm.segments[i].residents);
    INVARIANT(!d->interrupts.count);
}

/* What strangers do counts against them alone. */
static bool over_limit(struct dxgk *d, const struct dxgk_client *guilty)
{
    uint64_t now = dxgk_kernel_now(d->kernel);
    unsigned kept = 0;

    if (dxgk_offender_hung(d, guilty, false))
        return false;
    for (unsigned i = 0; i < d->tdr.count; i++)
        if (now - d->tdr.history[i] <= d->tdr.limit_ns)
            d->tdr.history[kept++] = d->tdr.history[i];
    if (kept == MAX_HISTORY)
        kept--;
    d->tdr.history[kept] = now;
    d->tdr.count = ++kept;
    return kept > d->tdr.limit_count;
}

static void collect(struct dxgk *d, UINT reason)
{
    DXGKARG_COLLECTDBGINFO_EXT *ext = dxgk_answers_room(sizeof(*ext));
    DXGKARG_COLLECTDBGINFO args = {.Reason = reason, .BufferSize = DEBUG_INFO_SIZE, .pExtension = ext};

    if (!d->tdr.debug_info)
        d->tdr.debug_info = dxgk_answers_room(DEBUG_INFO_SIZE);
    args.pBuffer = d->tdr.debug_info;
    if (d->tdr.debug_info && ext) {
        DDI_ARG(d, CollectDbgInfo, d->miniport, &args);
        dxgk_answers_kept(d, "DxgkDdiCollectDbgInfo", "pBuffer, at byte", d->tdr.debug_info, DEBUG_INFO_SIZE);
        dxgk_answers_kept(d, "DxgkDdiCollectDbgInfo", "pExtension, at byte", ext, sizeof(*ext));
    }
    free(ext);
}

static void mark_devices(struct dxgk *d, struct device *guilty)
{
    for (struct device *dev = d->devices; dev; dev = dev->next)
        if (dev != d->system)
            dxgk_device_lose(dev, dev == guilty ? D3DKMT_DEVICEEXECUTION_HUNG : D3DKMT_DEVICEEXECUTION_RESET);
}

static void recover(struct dxgk *d, struct device *guilty, const char *why)
{
    uint64_t start = dxgk_kernel_now(d->kernel);
    NTSTATUS s;

    d->tdr.total++;
    if (d->tdr.level == 1) {
        dxgk_tdr_fail(d, VIDEO_TDR_FAILURE, "TdrLevel is 1: a time-out is not recovered from");
        return;
    }
    if (over_limit(d, guilty ? guilty->client : NULL)) {
        char text[120];
        snprintf(text, sizeof(text), "more than %u time-outs within %llu s", d->tdr.limit_count,
                 (unsigned long long)(d->tdr.limit_ns / NSEC_PER_SEC));
        dxgk_tdr_fail(d, VIDEO_TDR_FAILURE, text);
        return;
    }
    INVARIANT(d->state == DXGK_STARTED && !d->resetting);
    d->resetting = true;
    d->epoch++;
    dxgk_vblanks_changed(d);
    dxgk_kernel_wake_all(
        d->kernel, &d->progress); /* threads that wait for the device while they hold the adapter give up */
    if (!dxgk_adapter_lock(d))
        return;
    INVARIANT(d->lock.held && d->lock.owner == dxgk_kernel_thread(d->kernel)); /* 1 */
    collect(d, VIDEO_TDR_TIMEOUT_DETECTED);
    bb_flight_event(d->flight, DXGK_FLIGHT_RESET, d->epoch, 0, 0);
    s = DDI(d, ResetFromTimeout, d->miniport);
    if (dxgk_fault_take(d, DXGK_FAULT_FAIL_RESET))
        s = STATUS_UNSUCCESSFUL;
    if (d->state == DXGK_FAILED)
        goto out;
    mark_devices(d, guilty);
    dxgk_display_drop_flips(d, NULL);
    dxgk_sched_drop_all(d);
    d->interrupts.count = 0;
    dxgk_vidmm_forget(d);
    check_empty(d);
    if (!NT_SUCCESS(s)) {
        dxgk_tdr_fail(d, VIDEO_TDR_FAILURE, "DxgkDdiResetFromTimeout failed");
        goto out;
    }
    s = DDI(d, RestartFromTimeout, d->miniport);
    if (d->state == DXGK_FAILED)
        goto out;
    if (!NT_SUCCESS(s)) {
        dxgk_tdr_fail(d, VIDEO_TDR_FAILURE, "DxgkDdiRestartFromTimeout failed");
        goto out;
    }
    d->resetting = false;
    s = dxgk_display_restore(d);
    if (!NT_SUCCESS(s))
        dxgk_tdr_fail(d, VIDEO_TDR_FAILURE, "the display mode could not be set again after the reset");
    else
        dxgk_log(d, "Display", 4101,
                 "Display driver %s stopped responding and has successfully recovered (%s, %.1f ms)",
                 d->service, why, (double)(dxgk_kernel_now(d->kernel) - start) / 1e6);
out:
    dxgk_adapter_unlock(d);
    dxgk_adapter_kick(d);
}

/* ---- the deadline -------------------------------------------------------- */

uint64_t dxgk_tdr_due(const struct dxgk *d, const struct node *n)
{
    if (d->bus->schedlook && !n->looked_ns)
        return n->clock_ns + d->tdr.delay_ns / 4;
    return n->clock_ns + d->tdr.delay_ns + n->starved_ns;
}

/* At what executes the head, and what serves it. */
static void look_at(struct dxgk *d, const struct node *n, struct schedlook *out)
{
    const struct dxgk_client *c = n->hw->context->device->client;

    d->bus->schedlook(d->bus->ctx, c ? c->process : 0, out);
}

/* The first look at the head, if it was none yet. */
static bool look(struct dxgk *d, struct node *n)
{
    if (!d->bus->schedlook || n->looked_ns)
        return false;
    n->looked_ns = dxgk_kernel_now(d->kernel);
    look_at(d, n, &n->looked);
    return true;
}

/* Whether the head is to get more time, because what it needs got no processor. */
static bool starved(struct dxgk *d, struct node *n)
{
    uint64_t most = STARVED_MOST * d->tdr.delay_ns, total;
    struct schedlook s;

    if (!d->bus->schedlook)
        return false;
    look_at(d, n, &s);
    total = schedlook_starved(&n->looked, &s, dxgk_kernel_now(d->kernel) - n->looked_ns);
    if (total <= n->starved_ns || n->starved_ns == most)
        return false;
    if (total < n->starved_ns + d->tdr.delay_ns / 32) /* not ever smaller steps */
        total = n->starved_ns + d->tdr.delay_ns / 32;
    n->starved_ns = total < most ? total : most;
    return true;
}

static bool is_head(const struct node *n, UINT fence)
{
    return n->hw && n->hw->fence == fence;
}

/* Waits until the fence has come, or is not to be expected any more: what has been ended takes as long to go as it has memory, and holds
 * nobody up meanwhile. */
static void wait_for_end(struct dxgk *d, const struct node *n, UINT fence, uint64_t process)
{
    const uint64_t start = dxgk_kernel_now(d->kernel);
    uint64_t end = start + d->tdr.delay_ns;
    bool going = d->bus->is_ending != NULL;

    while (is_head(n, fence) && d->state == DXGK_STARTED) {
        const uint64_t now = dxgk_kernel_now(d->kernel);
        if (now >= end) {
            if (!going || now - start >= ENDING_MOST * d->tdr.delay_ns)
                return;
            going = d->bus->is_ending(d->bus->ctx, process);
            end = now + d->tdr.delay_ns / 8; /* in which the fence comes of what has just gone */
        }
        dxgk_kernel_wait(d->kernel, &d->progress, end);
    }
}

/* Of a stranger only what executes his work is ended, and nobody else pays. False: that is not possible, or did not help. */
static bool end_alone(struct dxgk *d, unsigned i)
{
    const struct node *n = &d->sched.nodes[i];
    const struct device *guilty = n->hw->context->device;
    const UINT fence = n->hw->fence;
    const uint64_t start = dxgk_kernel_now(d->kernel);
    struct dxgk_client who = {0}; /* as soon as the fence has come he may go */

    if (d->tdr.level < 2 || !d->bus->end_work || !guilty->client || !guilty->client->has_user ||
        !d->bus->end_work(d->bus->ctx, guilty->client->process, true))
        return false;
    dxgk_process_lose(d, guilty->client->process, guilty, D3DKMT_DEVICEEXECUTION_HUNG);
    who.process = guilty->client->process;
    who.user = guilty->client->user;
    who.has_user = true;
    wait_for_end(d, n, fence, who.process);
    if (d->state == DXGK_STARTED && is_head(n, fence) && !dxgk_node_poll(d, i) && is_head(n, fence))
        return false;
    if (d->state != DXGK_STARTED)
        return true;
    dxgk_log_of(
        d, &who, "dxgkrnl", 8,
        "process %llu hung: what executes its work was ended, and nothing else (fence %u on node %u, %.1f ms)",
        (unsigned long long)who.process, fence, i, (double)(dxgk_kernel_now(d->kernel) - start) / 1e6);
    dxgk_offender_hung(d, &who, true);
    dxgk_adapter_kick(d);
    return true;
}

/* What was submitted before the head has not ended elsewhere: it may wait for that, whose time may have become longer. Who hangs has
 * the oldest. */
static bool is_younger(const struct dxgk *d, const struct node *n)
{
    for (const struct node *m = d->sched.nodes; m < d->sched.nodes + d->sched.num_nodes; m++)
        if (m->hw && m->hw->submitted_ns < n->hw->submitted_ns)
            return true;
    return false;
}

static void check_node(struct dxgk *d, unsigned i)
{
    struct node *n = &d->sched.nodes[i];
    unsigned epoch = d->epoch;
    char why[96];

    if (!n->hw)
        return;
    if (dxgk_kernel_now(d->kernel) < dxgk_tdr_due(d, n) || look(d, n)) {
        dxgk_node_arm(d, i);
        return;
    }
    if (dxgk_node_poll(d, i))
        return;
    if (epoch != d->epoch || !n->hw || d->state != DXGK_STARTED ||
        dxgk_kernel_now(d->kernel) < dxgk_tdr_due(d, n))
        return; /* asking made it complete */
    if (starved(d, n)) {
        dxgk_node_arm(d, i);
        return;
    }
    if (is_younger(d, n)) {
        n->clock_ns = dxgk_kernel_now(d->kernel);
        n->looked_ns = n->starved_ns = 0;
        dxgk_node_arm(d, i);
        return;
    }
    if (end_alone(d, i))
        return;
    if (epoch != d->epoch || !n->hw || d->state != DXGK_STARTED)
        return;
    snprintf(why, sizeof(why), "fence %u on node %u", n->hw->fence, i);
    recover(d, n->hw->context ? n->hw->context->device : NULL, why);
}

/* Whose work has been at the head of its node for longest. */
static struct device *oldest(struct dxgk *d)
{
    const struct node *first = NULL;

    for (uint64_t busy = d->sched.busy; busy; busy &= busy - 1) {
        const struct node *n = &d->sched.nodes[__builtin_ctzll(busy)];
        if (!first || n->head_start_ns < first->head_start_ns)
            first = n;
    }
    return first && first->hw->context ? first->hw->context->device : NULL;
}

void dxgk_tdr_work(struct dxgk *d)
{
    check(d);
    if (d->tdr.forced && d->state == DXGK_STARTED) {
        d->tdr.forced = false;
        recover(d, oldest(d), "forced");
    }
    dxgk_memory_look(d);
    for (unsigned i = 0; i < d->sched.num_nodes && d->state == DXGK_STARTED; i++)
        if (d->sched.nodes[i].check) {
            d->sched.nodes[i].check = false;
            check_node(d, i);
        }
    check(d);
}
