/* SPDX-License-Identifier: MIT */
/* recommend.c: what a miniport is asked for before the first mode is set, and about the one that was.
 *
 *   RecommendVidPnTopology ─▶ which target a source goes to
 *   RecommendFunctionalVidPn ─▶ the mode to begin with ─▶ set ─▶ QueryVidPnHWCapability, DispatchIoRequest
 *
 * All of them may refuse: then dxgkrnl chooses, as it does on Windows.
 */
#include "dxgkrnl/display/recommend.h"

#include "dxgkrnl/display/loans.h"

/* IOCTL_VIDEO_QUERY_COLOR_CAPABILITIES of ntddvdeo.h, the one request that every miniport is sent. */
#define QUERY_COLOR_CAPABILITIES CTL_CODE(FILE_DEVICE_VIDEO, 0x11A, METHOD_BUFFERED, FILE_ANY_ACCESS)

int dxgk_recommended_target(struct dxgk *d, UINT source)
{
    struct vidpn *v = dxgk_vidpn_create(d);
    DXGKARG_RECOMMENDVIDPNTOPOLOGY args = {.hVidPn = dxgk_vidpn_handle(v),
                                           .VidPnSourceId = source,
                                           .RequestReason = DXGK_RVT_INITIALIZATION_NOLKG};
    struct judge j = {.d = d, .ddi = "DxgkDdiRecommendVidPnTopology"};
    int child = -1;

    if (!v)
        return -1;
    v->open = VIDPN_TOPOLOGY;
    if (NT_SUCCESS(DISPLAY_DDI_MAY(d, RecommendVidPnTopology, d->miniport, &args))) {
        for (struct vidpn_path *p = v->paths; p && child < 0; p = p->next)
            if (p->info.VidPnSourceId == source)
                child = dxgk_vidpn_child_index(d, p->info.VidPnTargetId);
        dxgk_answer(&j, ANSWER_REMARK, child >= 0, "STATUS_SUCCESS, and paths from the source", 0,
                    "a topology with the source, or STATUS_GRAPHICS_NO_RECOMMENDED_VIDPN_TOPOLOGY");
    }
    dxgk_vidpn_destroy(v);
    return child;
}

bool dxgk_recommended_mode(struct dxgk *d, UINT source, UINT target, D3DKMT_DISPLAYMODE *mode)
{
    struct vidpn *v = dxgk_vidpn_create(d);
    UINT *lent = dxgk_inputs_lend(&target, sizeof(target));
    DXGKARG_RECOMMENDFUNCTIONALVIDPN args = {.NumberOfVidPnTargets = 1,
                                             .pVidPnTargetPrioritizationVector = lent,
                                             .hRecommendedFunctionalVidPn = dxgk_vidpn_handle(v),
                                             .RequestReason = DXGK_RFVR_USERMODE};
    struct judge j = {.d = d, .ddi = "DxgkDdiRecommendFunctionalVidPn"};
    int child = dxgk_vidpn_child_index(d, target);
    bool found = false, answered = false;

    if (v) {
        v->open = VIDPN_TOPOLOGY;
        answered = NT_SUCCESS(DISPLAY_DDI_MAY(d, RecommendFunctionalVidPn, d->miniport, &args));
    }
    dxgk_inputs_take_back(d, j.ddi, "pVidPnTargetPrioritizationVector", lent, &target, sizeof(target));
    if (answered) {
        const struct modeset *s = v->source[source], *t = v->target[child];
        found = s && t && s->pinned && t->pinned;
        if (found)
            *mode = dxgk_display_mode_from(&s->pinned->source, &t->pinned->target);
        dxgk_answer(&j, ANSWER_REMARK, found, "STATUS_SUCCESS, and modes pinned", 0,
                    "a functional VidPN, or STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN");
    }
    dxgk_vidpn_destroy(v);
    return found;
}

void dxgk_ask_about_mode(struct dxgk *d, UINT source, struct vidpn *v)
{
    struct source *s = &d->display.sources[source];
    DXGKARG_QUERYVIDPNHWCAPABILITY caps = {
        .hFunctionalVidPn = dxgk_vidpn_handle(v), .SourceId = source, .TargetId = s->target};
    struct judge j = {.d = d, .ddi = "DxgkDdiQueryVidPnHWCapability"};
    NTSTATUS st = DISPLAY_DDI_MAY(d, QueryVidPnHWCapability, d->miniport, &caps);

    if (NT_SUCCESS(st))
        dxgk_answer(&j, ANSWER_REMARK, !caps.VidPnHWCaps.Reserved, "VidPnHWCaps.Reserved",
                    caps.VidPnHWCaps.Reserved, "reserved, 0");
    if (!NT_SUCCESS(st) && st != STATUS_NOT_IMPLEMENTED)
        log_info("dxgkrnl", "DxgkDdiQueryVidPnHWCapability returned %08x", (unsigned)st);
    s->hardware = NT_SUCCESS(st) ? caps.VidPnHWCaps : (D3DKMDT_VIDPN_HW_CAPABILITY){0};
}

void dxgk_ask_about_colours(struct dxgk *d, UINT source)
{
    const ULONG out[18] = {sizeof(out)}; /* VIDEO_COLOR_CAPABILITIES: its size first */
    STATUS_BLOCK status = {0}, *const handed_status = dxgk_argument(d, &status, sizeof(status));
    ULONG *const handed_out = dxgk_argument(d, out, sizeof(out));
    VIDEO_REQUEST_PACKET packet = {.IoControlCode = QUERY_COLOR_CAPABILITIES,
                                   .StatusBlock = handed_status,
                                   .OutputBuffer = handed_out,
                                   .OutputBufferLength = sizeof(out)};
    struct judge j = {.d = d, .ddi = "DxgkDdiDispatchIoRequest"};
    NTSTATUS st = STATUS_NO_MEMORY;

    if (handed_status && handed_out)
        st = DISPLAY_MAY(d, DispatchIoRequest,
                         DDI_AROUND(d, DispatchIoRequest, &packet,
                                    DDI(d, DispatchIoRequest, d->miniport, source, handed_)));
    dxgk_argument_back(d, j.ddi, "StatusBlock", handed_status, sizeof(status), &status);
    dxgk_argument_back(d, j.ddi, "OutputBuffer", handed_out, sizeof(out), NULL);
    /* Of a request that failed nobody copies anything. */
    dxgk_answer(&j, NT_ERROR(st) ? ANSWER_REMARK : ANSWER_BREAKS, status.Information <= sizeof(out),
                "StatusBlock->Information", status.Information, "the 72 bytes of its buffer at most");
}
