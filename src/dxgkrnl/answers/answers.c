/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/answers/answers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dxgkrnl/adapter.h"
#include "wddm/ntstatus.h"

/* Each text is a literal, so its address tells it. */
static bool is_new(struct remarks *r, const char *ddi, const char *what, uint64_t value)
{
    uint64_t key = ((uint64_t)(uintptr_t)ddi * 31 + (uint64_t)(uintptr_t)what) * 31 + value;

    for (unsigned i = 0; i < r->count; i++)
        if (r->keys[i] == key)
            return false;
    if (r->count == sizeof(r->keys) / sizeof(r->keys[0]))
        return false;
    r->keys[r->count++] = key;
    return true;
}

static void remark(struct dxgk *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void remark(struct dxgk *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(d->remarks.last, sizeof(d->remarks.last), fmt, ap);
    va_end(ap);
    dxgk_log(d, "dxgkrnl", 11, "%s", d->remarks.last);
}

void dxgk_answer(struct judge *j, enum answer_degree degree, bool holds, const char *member, uint64_t value,
                 const char *allowed)
{
    const char *at = strstr(member, "[]");
    char name[120], text[24];

    if (holds)
        return;
    if (at)
        snprintf(name, sizeof(name), "%.*s[%u]%s", (int)(at - member), member, j->index, at + 2);
    else
        snprintf(name, sizeof(name), "%s", member);
    snprintf(text, sizeof(text), value > 0xFFFF ? "0x%llx" : "%llu", (unsigned long long)value);
    if (degree == ANSWER_BREAKS) {
        j->broken = true;
        dxgk_kernel_violation(j->d->kernel, "%s answered %s = %s; allowed: %s", j->ddi, name, text, allowed);
    } else if (is_new(&j->d->remarks, j->ddi, member, 0)) {
        remark(j->d, "%s answered %s = %s; documented: %s", j->ddi, name, text, allowed);
    }
}

/* ---- statuses ------------------------------------------------------------ */

/* What the page of each DDI has under "Return value". */
enum {
    ERRORS,   /* STATUS_SUCCESS, or any error */
    PASSES,   /* whatever passes NT_SUCCESS */
    SUCCEEDS, /* STATUS_SUCCESS alone: what it takes down is gone all the same, and nobody could do anything about an error */
    STOPS,    /* STATUS_SUCCESS alone: Windows stops with a bug check at an error */
    ELSEWHERE, /* an error is named by who called it */
    LISTED     /* what stands there, and what says that it is not there */
};

#define MEMORY   STATUS_NO_MEMORY, STATUS_INSUFFICIENT_RESOURCES, STATUS_GRAPHICS_NO_VIDEO_MEMORY
#define MISMATCH STATUS_GRAPHICS_DRIVER_MISMATCH
#define DMA_WORK                                                                                             \
    MEMORY, STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER, STATUS_PRIVILEGED_INSTRUCTION,                          \
        STATUS_ILLEGAL_INSTRUCTION, STATUS_INVALID_HANDLE, STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE,          \
        STATUS_INVALID_PARAMETER, STATUS_INVALID_USER_BUFFER, MISMATCH

static const struct {
    const char *ddi;
    int kind;
    NTSTATUS may[14];
} statuses[] = {
    {"AddDevice", ERRORS, {0}},
    {"StartDevice", ERRORS, {0}},
    {"StopDevice", SUCCEEDS, {0}},
    {"RemoveDevice", SUCCEEDS, {0}},
    {"DispatchIoRequest", ERRORS, {0}},
    {"QueryChildRelations", ERRORS, {0}},
    {"QueryChildStatus", ERRORS, {0}},
    {"QueryDeviceDescriptor",
     LISTED,
     {STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED, STATUS_MONITOR_NO_DESCRIPTOR,
      STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA, STATUS_INVALID_PARAMETER}},
    {"SetPowerState", PASSES, {0}},
    {"QueryAdapterInfo", LISTED, {STATUS_INVALID_PARAMETER, STATUS_BUFFER_TOO_SMALL, MEMORY, MISMATCH}},
    {"CreateDevice", LISTED, {MEMORY}},
    {"CreateAllocation", LISTED, {STATUS_INVALID_PARAMETER, MEMORY, MISMATCH}},
    {"DestroyAllocation", SUCCEEDS, {0}},
    {"DescribeAllocation", ERRORS, {0}},
    {"GetStandardAllocationDriverData", LISTED, {STATUS_INVALID_PARAMETER, MEMORY}},
    {"Patch", STOPS, {0}},
    {"SubmitCommand", STOPS, {0}},
    {"PreemptCommand", STOPS, {0}},
    {"BuildPagingBuffer", LISTED, {STATUS_GRAPHICS_ALLOCATION_BUSY, STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER}},
    {"SetPalette", ERRORS, {0}},
    {"SetPointerPosition", ERRORS, {0}},
    {"SetPointerShape", LISTED, {MEMORY, STATUS_INVALID_PARAMETER}},
    {"ResetFromTimeout", ELSEWHERE, {0}},
    {"RestartFromTimeout", ELSEWHERE, {0}},
    {"Escape", ERRORS, {0}}, /* its two halves agree on what they say to each other */
    {"CollectDbgInfo", LISTED, {MEMORY, STATUS_UNSUCCESSFUL}},
    {"QueryCurrentFence", ERRORS, {0}},
    {"IsSupportedVidPn", LISTED, {STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY, MEMORY}},
    {"RecommendFunctionalVidPn", LISTED, {STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN, MEMORY}},
    {"EnumVidPnCofuncModality", ERRORS, {0}},
    {"SetVidPnSourceAddress", ERRORS, {0}},
    {"SetVidPnSourceVisibility", ERRORS, {0}},
    {"CommitVidPn", ERRORS, {0}},
    {"UpdateActiveVidPnPresentPath", ERRORS, {0}},
    {"RecommendMonitorModes", ERRORS, {0}},  /* and passes on what dxgkrnl told it */
    {"RecommendVidPnTopology", ERRORS, {0}}, /* the same */
    {"GetScanLine", ERRORS, {0}},
    {"StopCapture", SUCCEEDS, {0}},
    {"ControlInterrupt", LISTED, {0}},
    {"DestroyDevice", SUCCEEDS, {0}},
    {"OpenAllocation", LISTED, {STATUS_INVALID_PARAMETER, MEMORY, MISMATCH}},
    {"CloseAllocation", SUCCEEDS, {0}},
    {"Render", LISTED, {DMA_WORK}},
    {"Present", LISTED, {DMA_WORK, STATUS_GRAPHICS_CANNOTCOLORCONVERT}},
    {"CreateContext", LISTED, {MEMORY, MISMATCH}},
    {"DestroyContext", SUCCEEDS, {0}},
    {"QueryVidPnHWCapability", ERRORS, {0}},
};

void dxgk_answers_status(struct dxgk *d, const char *ddi, NTSTATUS status)
{
    static const char *const wants[] = {
        [ERRORS] = "is a success, and not STATUS_SUCCESS; documented: that, or an error",
        [PASSES] = "is an error; allowed: what passes NT_SUCCESS",
        [SUCCEEDS] = "is no STATUS_SUCCESS, and there is nothing that Windows could do about it",
        [STOPS] = "is no STATUS_SUCCESS, at which Windows stops with a bug check",
        [LISTED] = "is none of the statuses that are documented of it"};
    size_t i = 0, n = sizeof(statuses) / sizeof(statuses[0]);
    bool well = false;
    int kind;

    while (i < n && strcmp(statuses[i].ddi, ddi + strlen("DxgkDdi")) != 0)
        i++;
    if (i == n)
        return;
    kind = statuses[i].kind;
    if (kind == PASSES)
        well = NT_SUCCESS(status);
    else if (kind == ERRORS || kind == ELSEWHERE)
        well = !NT_SUCCESS(status);
    if (NT_SUCCESS(status) && (kind == SUCCEEDS || kind == STOPS)) {
        dxgk_kernel_violation(d->kernel, "%s returned %08x; allowed: STATUS_SUCCESS alone", ddi,
                              (unsigned)status);
        return;
    }
    if (NT_SUCCESS(status) && kind != LISTED) /* nobody takes it for an error */
        kind = ERRORS;
    for (unsigned k = 0; kind == LISTED && k < 14 && !well; k++)
        well = statuses[i].may[k] && status == statuses[i].may[k];
    if (kind == LISTED)
        well |= status == STATUS_NOT_SUPPORTED || status == STATUS_NOT_IMPLEMENTED;
    if (well)
        return;
    if (kind == SUCCEEDS || kind == STOPS || kind == PASSES)
        dxgk_kernel_violation(d->kernel, "%s returned %08x, which %s", ddi, (unsigned)status, wants[kind]);
    else if (is_new(&d->remarks, ddi, NULL, (uint32_t)status))
        remark(d, "%s returned %08x, which %s", ddi, (unsigned)status, wants[kind]);
}
