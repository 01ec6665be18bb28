/* SPDX-License-Identifier: MIT */
/* What a compositor asks for every frame, while the GPU is busy with somebody's long work: the device's state, present statistics,
 * residency, priorities of allocations and contexts. Nothing of it waits, and the answers are right. And what it presents without a flip:
 * a fill and a blit, in DMA buffers that DxgkDdiPresent writes. */
#include "suite.h"

#include <string.h>

enum { LIMIT_MS = 100 };

struct probe {
    struct umd_device *device;
    struct umd_resource *surface;
    double longest_ms;
    const char *slowest;
};

#define PROBE(s, p, what, call)                                                                              \
    do {                                                                                                     \
        uint64_t probe_start_ = suite_now(s);                                                                \
        NTSTATUS probe_status_ = (call);                                                                     \
        double probe_ms_ = (double)(suite_now(s) - probe_start_) / 1e6;                                      \
        if (probe_ms_ > (p)->longest_ms) {                                                                   \
            (p)->longest_ms = probe_ms_;                                                                     \
            (p)->slowest = what;                                                                             \
        }                                                                                                    \
        CHECK_STATUS(s, probe_status_, what);                                                                \
    } while (0)

static void residency(struct suite *s, struct probe *p)
{
    D3DKMT_ALLOCATIONRESIDENCYSTATUS is = 0;
    UINT priority = D3DDDI_ALLOCATIONPRIORITY_HIGH;
    D3DKMT_QUERYALLOCATIONRESIDENCY q = {.hDevice = umd_kmt_device(p->device),
                                         .phAllocationList = &p->surface->allocation,
                                         .AllocationCount = 1,
                                         .pResidencyStatus = &is};
    D3DKMT_SETALLOCATIONPRIORITY set = {.hDevice = q.hDevice,
                                        .phAllocationList = &p->surface->allocation,
                                        .AllocationCount = 1,
                                        .pPriorities = &priority};
    D3DKMT_HANDLE wrong = p->surface->allocation ^ 0x40000000;

    PROBE(s, p, "QueryAllocationResidency", D3DKMTQueryAllocationResidency(&q));
    CHECK(s,
          is >= D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY &&
              is <= D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT,
          "residency status %d", (int)is);
    CHECK(s, is != D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT,
          "the surface that the GPU works with is not resident");
    PROBE(s, p, "SetAllocationPriority", D3DKMTSetAllocationPriority(&set));
    q.phAllocationList = set.phAllocationList = &wrong;
    CHECK_EQ_STATUS(s, D3DKMTQueryAllocationResidency(&q), STATUS_INVALID_HANDLE,
                    "residency of no allocation");
    CHECK_EQ_STATUS(s, D3DKMTSetAllocationPriority(&set), STATUS_INVALID_HANDLE, "priority of no allocation");
}

static void scheduling(struct suite *s, struct probe *p)
{
    D3DKMT_HANDLE context = umd_context(p->device);
    D3DKMT_SCHEDULINGPRIORITYCLASS class;

    for (INT want = 7; want >= -7; want -= 7) {
        D3DKMT_GETCONTEXTSCHEDULINGPRIORITY g = {.hContext = context};
        PROBE(s, p, "SetContextSchedulingPriority",
              D3DKMTSetContextSchedulingPriority(&(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY){context, want}));
        PROBE(s, p, "GetContextSchedulingPriority", D3DKMTGetContextSchedulingPriority(&g));
        CHECK(s, g.Priority == want, "priority %d was set, it is %d", want, g.Priority);
    }
    for (unsigned want = 0; want <= D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL; want++) {
        PROBE(s, p, "SetProcessSchedulingPriorityClass",
              D3DKMTSetProcessSchedulingPriorityClass((HANDLE)-1, (D3DKMT_SCHEDULINGPRIORITYCLASS)want));
        PROBE(s, p, "GetProcessSchedulingPriorityClass",
              D3DKMTGetProcessSchedulingPriorityClass((HANDLE)-1, &class));
        CHECK(s, class == want, "the class of the process is %d, not %u", class, want);
    }
    CHECK_EQ_STATUS(s, D3DKMTSetProcessSchedulingPriorityClass(NULL, D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL),
                    STATUS_INVALID_HANDLE, "the class of no process");
    CHECK_EQ_STATUS(s, D3DKMTSetContextSchedulingPriority(&(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY){context, 8}),
                    STATUS_INVALID_PARAMETER, "priority 8");
    D3DKMTSetContextSchedulingPriority(&(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY){context, 0});
}

static void state(struct suite *s, struct probe *p, uint32_t *refreshes)
{
    D3DKMT_GETDEVICESTATE g = {.hDevice = umd_kmt_device(p->device),
                               .StateType = D3DKMT_DEVICESTATE_EXECUTION};
    D3DKMT_GETSCANLINE line = {.hAdapter = s->adapter, .VidPnSourceId = s->source};

    PROBE(s, p, "GetDeviceState", D3DKMTGetDeviceState(&g));
    CHECK(s, g.ExecutionState == D3DKMT_DEVICEEXECUTION_ACTIVE, "the device is in state %d",
          (int)g.ExecutionState);
    PROBE(s, p, "present statistics", suite_noticed_vblanks(s, p->device, refreshes));
    PROBE(s, p, "GetScanLine", D3DKMTGetScanLine(&line));
}

/* Ours does both; another driver may have no hardware for it, and must say so. */
static void presents(struct suite *s, struct umd_device *d, const struct umd_texture_params *texture)
{
    const RECT all = {0, 0, (LONG)texture->width, (LONG)texture->height};
    D3DKMT_PRESENT p = {.hContext = umd_context(d),
                        .VidPnSourceId = s->source,
                        .Color = 0xFF804020,
                        .SrcRect = all,
                        .DstRect = all};
    struct umd_resource *from = NULL, *to = NULL;
    void *pixels = NULL;
    uint32_t pixel;
    NTSTATUS fill, blt = STATUS_SUCCESS, st;

    CHECK_STATUS(s, umd_texture(d, &from, texture), "a surface to present");
    CHECK_STATUS(s, umd_texture(d, &to, texture), "a surface to present to");
    p.Flags.ColorFill = 1;
    p.hDestination = from->allocation;
    fill = D3DKMTPresent(&p);
    if (NT_SUCCESS(fill)) {
        p.Flags.ColorFill = 0;
        p.Flags.Blt = 1;
        p.hSource = from->allocation;
        p.hDestination = to->allocation;
        blt = D3DKMTPresent(&p);
    }
    CHECK(s, NT_SUCCESS(fill) || (!s->ours && fill == STATUS_NOT_SUPPORTED),
          "Present with ColorFill, which DxgkDdiPresent does, returned %08x", (unsigned)fill);
    CHECK(s, NT_SUCCESS(blt) || (!s->ours && blt == STATUS_NOT_SUPPORTED),
          "Present with Blt, which DxgkDdiPresent does, returned %08x", (unsigned)blt);
    st = umd_map(to, &pixels, false);
    CHECK_STATUS(s, st, "reading what was presented");
    memcpy(&pixel, pixels, sizeof(pixel));
    umd_unmap(to);
    CHECK(s, pixel == p.Color || !s->ours || (s->host && s->host->sim),
          "a pixel that was filled and blitted is %08x, not %08x", pixel, p.Color);
}

void test_dwm_ddi_sanity(struct suite *s)
{
    uint32_t n = suite_default(s->iterations, 30), refreshes = 0, last = 0;
    struct umd_texture_params texture = {.width = 256,
                                         .height = 256,
                                         .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                         .guest = true,
                                         .usage = AEROGPU_RESOURCE_USAGE_RENDER_TARGET};
    struct umd_resource *buffer = NULL;
    struct umd_device *busy = NULL;
    struct probe p = {.slowest = ""};
    NTSTATUS st;

    CHECK_STATUS(s, umd_open(&p.device, NULL), "open");
    st = umd_texture(p.device, &p.surface, &texture);
    if (NT_SUCCESS(st)) {
        umd_target(p.device, p.surface);
        umd_clear(p.device, 1, 0, 0, 1);
        st = umd_finish(p.device, suite_ms(s, 10000));
    }
    if (st == STATUS_SUCCESS)
        st = umd_open(&busy, NULL);
    if (NT_SUCCESS(st))
        st = suite_dispatch(busy, &buffer, 64, 64);
    for (uint32_t i = 0; i < n && NT_SUCCESS(st) && !s->failed; i++) {
        umd_dispatch(busy, buffer, 64, 64, 1);
        st = umd_flush(busy, NULL);
        residency(s, &p);
        if (!s->failed)
            scheduling(s, &p);
        if (!s->failed)
            state(s, &p, &refreshes);
        if (!s->failed && refreshes < last)
            suite_fail(s, "%u refreshes after %u", refreshes, last);
        last = refreshes;
        suite_sleep_ms(s, 2);
    }
    if (NT_SUCCESS(st))
        st = umd_finish(busy, suite_ms(s, suite_default(s->timeout_ms, 10000)));
    umd_close(busy);
    if (!s->failed && st == STATUS_SUCCESS)
        presents(s, p.device, &texture);
    umd_close(p.device);
    if (s->failed)
        return;
    CHECK_STATUS(s, st, "work beside the questions");
    suite_measure(s, "longest_ms", p.longest_ms);
    CHECK(s, p.longest_ms <= suite_limit(s, LIMIT_MS), "%s took %.1f ms while the GPU was busy" SUITE_SLACK,
          p.slowest, p.longest_ms);
}
