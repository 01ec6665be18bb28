/* tdr.c: time-out detection and recovery.
 *
 *   head packet at the device ──TdrDelay──▶ ask the miniport for the current fence
 *        ├─ it moved: an interrupt was lost; complete what is done, go on
 *        └─ it did not: DETECTED ─▶ CollectDbgInfo ─▶ ResetFromTimeout ─▶ drop everything ─▶ RestartFromTimeout ─▶ mode ─▶ 4101
 *                          └─ TdrLevel 1, more than TdrLimitCount in TdrLimitTime, a DDI that fails or never returns ─▶ FAILED
 *
 * Settings, under their registry names in HKLM\SYSTEM\CurrentControlSet\Control\GraphicsDrivers: TdrLevel (0 off,
 * 1 bug check, 3 recover), TdrDelay, TdrDdiDelay, TdrLimitTime (seconds), TdrLimitCount.
 */
#include "dxgkrnl/flight.h"
#include "dxgkrnl/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { DEBUG_INFO_SIZE = 64 * 1024 };

static uint32_t setting(struct dxgk *d, const char *name, uint32_t otherwise, uint32_t min, uint32_t max)
{
    uint32_t v = otherwise;

    if (settings_get(&d->settings, SETTINGS_GRAPHICS_DRIVERS, name, &v) && (v < min || v > max)) {
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

void tdr_configure(struct dxgk *d)
{
    report_unknown(d);
    d->tdr_level = setting(d, "TdrLevel", 3, 0, 3);
    d->tdr_delay_ns = setting(d, "TdrDelay", 2, 1, 3600) * NSEC_PER_SEC;
    d->tdr_ddi_delay_ns = setting(d, "TdrDdiDelay", 5, 1, 3600) * NSEC_PER_SEC;
    d->tdr_limit_ns = setting(d, "TdrLimitTime", 60, 1, 86400) * NSEC_PER_SEC;
    d->tdr_limit_count = setting(d, "TdrLimitCount", 5, 0, UINT32_MAX);
    d->may_inject = setting(d, "EnableFaultInjection", 0, 0, 1);
    d->hw_limit = setting(d, "HwQueuedRenderPacketGroupLimit", 2, 1, 64);
}

void sched_kick_tdr(struct dxgk *d)
{
    d->tdr_pending = true;
    kernel_wake_all(d->kernel, &d->tdr_work);
}

static void expired(void *ctx)
{
    struct node *n = ctx;
    struct dxgk *d = kernel_ctx(kernel_self(__func__));

    n->check = true;
    sched_kick_tdr(d);
}

void tdr_arm(struct dxgk *d, unsigned node)
{
    struct node *n = &d->nodes[node];

    if (!n->hw || !d->tdr_level)
        kernel_cancel(d->kernel, &n->timer);
    else
        kernel_arm(d->kernel, &n->timer, n->head_start_ns + d->tdr_delay_ns, expired, n);
}

static bool over_limit(struct dxgk *d)
{
    uint64_t now = kernel_now(d->kernel);
    unsigned kept = 0;

    for (unsigned i = 0; i < d->tdr_count; i++)
        if (now - d->tdr_times[i] <= d->tdr_limit_ns)
            d->tdr_times[kept++] = d->tdr_times[i];
    if (kept == MAX_HISTORY)
        kept--;
    d->tdr_times[kept++] = now;
    d->tdr_count = kept;
    return kept > d->tdr_limit_count;
}

static void collect(struct dxgk *d, UINT reason)
{
    DXGKARG_COLLECTDBGINFO_EXT ext = {0};
    DXGKARG_COLLECTDBGINFO args = {.Reason = reason, .BufferSize = DEBUG_INFO_SIZE, .pExtension = &ext};

    if (!d->debug_info)
        d->debug_info = calloc(1, DEBUG_INFO_SIZE);
    args.pBuffer = d->debug_info;
    if (d->debug_info && NT_SUCCESS(DDI(d, CollectDbgInfo, d->miniport, &args)))
        d->debug_info_size = DEBUG_INFO_SIZE;
}

static void mark_devices(struct dxgk *d, struct device *guilty)
{
    for (struct device *dev = d->devices; dev; dev = dev->next)
        if (dev->state == D3DKMT_DEVICEEXECUTION_ACTIVE && dev != d->system)
            device_set_state(dev, dev == guilty ? D3DKMT_DEVICEEXECUTION_HUNG : D3DKMT_DEVICEEXECUTION_RESET);
}

static void recover(struct dxgk *d, struct device *guilty, const char *why)
{
    uint64_t start = kernel_now(d->kernel);
    NTSTATUS s;

    d->tdr_total++;
    if (d->tdr_level == 1) {
        adapter_fail(d, VIDEO_TDR_FAILURE, "TdrLevel is 1: a time-out is not recovered from");
        return;
    }
    if (over_limit(d)) {
        char text[120];
        snprintf(text, sizeof(text), "more than %u time-outs within %llu s", d->tdr_limit_count,
                 (unsigned long long)(d->tdr_limit_ns / NSEC_PER_SEC));
        adapter_fail(d, VIDEO_TDR_FAILURE, text);
        return;
    }
    d->resetting = true;
    d->epoch++;
    vblanks_changed(d);
    kernel_wake_all(d->kernel,
                    &d->progress); /* whoever waits for the device while it holds the adapter gives up */
    if (!adapter_lock(d))
        return;
    collect(d, VIDEO_TDR_TIMEOUT_DETECTED);
    bb_flight_event(d->flight, DXGK_FLIGHT_RESET, d->epoch, 0, 0);
    s = DDI(d, ResetFromTimeout, d->miniport);
    if (fault_take(d, DXGK_FAULT_FAIL_RESET))
        s = STATUS_UNSUCCESSFUL;
    if (d->state == DXGK_FAILED)
        goto out;
    mark_devices(d, guilty);
    sched_drop_all(d);
    vidmm_forget(d);
    if (!NT_SUCCESS(s)) {
        adapter_fail(d, VIDEO_TDR_FAILURE, "DxgkDdiResetFromTimeout failed");
        goto out;
    }
    s = DDI(d, RestartFromTimeout, d->miniport);
    if (d->state == DXGK_FAILED)
        goto out;
    if (!NT_SUCCESS(s)) {
        adapter_fail(d, VIDEO_TDR_FAILURE, "DxgkDdiRestartFromTimeout failed");
        goto out;
    }
    d->resetting = false;
    s = display_restore(d);
    if (!NT_SUCCESS(s))
        adapter_fail(d, VIDEO_TDR_FAILURE, "the display mode could not be set again after the reset");
    else
        dxgk_log(d, "Display", 4101,
                 "Display driver %s stopped responding and has successfully recovered (%s, %.1f ms)",
                 d->service, why, (double)(kernel_now(d->kernel) - start) / 1e6);
out:
    adapter_unlock(d);
    sched_kick(d);
}

/* Whether the node's oldest packet has completed without an interrupt; then it is retired. */
bool tdr_poll(struct dxgk *d, unsigned i)
{
    struct node *n = &d->nodes[i];
    DXGKARG_QUERYCURRENTFENCE q = {.NodeOrdinal = i};
    unsigned epoch = d->epoch;

    if (!NT_SUCCESS(DDI(d, QueryCurrentFence, d->miniport, &q)) || epoch != d->epoch || !n->hw ||
        (INT)(q.CurrentFence - n->hw->fence) < 0 || (INT)(q.CurrentFence - n->submitted) > 0)
        return false;
    d->lost_interrupts++;
    dxgk_log(d, "dxgkrnl", 2, "an interrupt was lost: fence %u of node %u completed without one",
             q.CurrentFence, i);
    sched_retire_to(d, i, q.CurrentFence);
    return true;
}

static void check_node(struct dxgk *d, unsigned i)
{
    struct node *n = &d->nodes[i];
    unsigned epoch = d->epoch;
    char why[96];

    if (!n->hw)
        return;
    if (kernel_now(d->kernel) < n->head_start_ns + d->tdr_delay_ns) {
        tdr_arm(d, i);
        return;
    }
    if (tdr_poll(d, i))
        return;
    if (epoch != d->epoch || !n->hw || d->state != DXGK_STARTED ||
        kernel_now(d->kernel) < n->head_start_ns + d->tdr_delay_ns)
        return; /* asking made it complete */
    snprintf(why, sizeof(why), "fence %u on node %u", n->hw->fence, i);
    recover(d, n->hw->context ? n->hw->context->device : NULL, why);
}

void tdr_work(struct dxgk *d)
{
    if (d->tdr_forced && d->state == DXGK_STARTED) {
        d->tdr_forced = false;
        recover(d, d->nodes[0].hw && d->nodes[0].hw->context ? d->nodes[0].hw->context->device : NULL,
                "forced");
    }
    for (unsigned i = 0; i < d->num_nodes && d->state == DXGK_STARTED; i++)
        if (d->nodes[i].check) {
            d->nodes[i].check = false;
            check_node(d, i);
        }
}
