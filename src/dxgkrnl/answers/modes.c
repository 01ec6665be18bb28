/* SPDX-License-Identifier: MIT */
/* modes.c: the modes that a miniport adds to the sets of a VidPN. */
#include "dxgkrnl/answers/answers.h"

#include "dxgkrnl/adapter.h"

/* Bytes of a pixel of the formats that Windows 7 scans out; 0: another. */
static unsigned pixel_bytes(D3DDDIFORMAT format)
{
    switch ((int)format) {
    case D3DDDIFMT_P8:
        return 1;
    case D3DDDIFMT_R5G6B5:
    case D3DDDIFMT_X1R5G5B5:
    case D3DDDIFMT_A1R5G5B5:
        return 2;
    case D3DDDIFMT_R8G8B8:
        return 3;
    case D3DDDIFMT_X8R8G8B8:
    case D3DDDIFMT_A8R8G8B8:
    case D3DDDIFMT_X8B8G8R8:
    case D3DDDIFMT_A8B8G8R8:
        return 4;
    default:
        return 0;
    }
}

static void source_mode(struct judge *j, const D3DKMDT_VIDPN_SOURCE_MODE *m)
{
    const D3DKMDT_GRAPHICS_RENDERING_FORMAT *f = &m->Format.Graphics;

    ANSWER(j, ANSWER_REMARK, m, Type, v == D3DKMDT_RMT_GRAPHICS || v == D3DKMDT_RMT_TEXT,
           "1 (D3DKMDT_RMT_GRAPHICS) or 2 (D3DKMDT_RMT_TEXT) of a source mode");
    if (m->Type != D3DKMDT_RMT_GRAPHICS)
        return;
    ANSWER(j, ANSWER_REMARK, f, VisibleRegionSize.cx, v && v <= f->PrimSurfSize.cx,
           "1 to PrimSurfSize (STATUS_GRAPHICS_INVALID_VISIBLEREGION_SIZE)");
    ANSWER(j, ANSWER_REMARK, f, VisibleRegionSize.cy, v && v <= f->PrimSurfSize.cy,
           "1 to PrimSurfSize (STATUS_GRAPHICS_INVALID_VISIBLEREGION_SIZE)");
    ANSWER(j, ANSWER_REMARK, f, PixelFormat, v != D3DDDIFMT_UNKNOWN,
           "a format (STATUS_GRAPHICS_INVALID_PIXELFORMAT)");
    ANSWER(j, ANSWER_REMARK, f, Stride, v >= (uint64_t)pixel_bytes(f->PixelFormat) * f->PrimSurfSize.cx,
           "the bytes of a line, and more (STATUS_GRAPHICS_INVALID_STRIDE)");
    ANSWER(j, ANSWER_REMARK, f, ColorBasis, v >= D3DKMDT_CB_INTENSITY && v <= D3DKMDT_CB_YPBPR,
           "1 to 5 (STATUS_GRAPHICS_INVALID_COLORBASIS)");
    ANSWER(j, ANSWER_REMARK, f, PixelValueAccessMode,
           v >= D3DKMDT_PVAM_DIRECT && v <= D3DKMDT_PVAM_SETTABLEPALETTE,
           "1 to 3 (STATUS_GRAPHICS_INVALID_PIXELVALUEACCESSMODE)");
}

static void signal_info(struct judge *j, const D3DKMDT_VIDEO_SIGNAL_INFO *i)
{
    ANSWER(j, ANSWER_REMARK, i, TotalSize.cx, v >= i->ActiveSize.cx,
           "ActiveSize and more (STATUS_GRAPHICS_INVALID_TOTAL_REGION)");
    ANSWER(j, ANSWER_REMARK, i, TotalSize.cy, v >= i->ActiveSize.cy,
           "ActiveSize and more (STATUS_GRAPHICS_INVALID_TOTAL_REGION)");
    ANSWER(j, ANSWER_REMARK, i, VSyncFreq.Denominator, v,
           "1 and more, or not specified (STATUS_GRAPHICS_INVALID_FREQUENCY)");
    ANSWER(j, ANSWER_REMARK, i, VSyncFreq.Numerator, v,
           "1 and more, or not specified (STATUS_GRAPHICS_INVALID_FREQUENCY)");
    ANSWER(j, ANSWER_REMARK, i, VideoStandard, v, "one of D3DKMDT_VIDEO_SIGNAL_STANDARD, and not 0");
}

void dxgk_answers_mode(struct dxgk *d, const D3DKMDT_VIDPN_SOURCE_MODE *source,
                       const D3DKMDT_VIDPN_TARGET_MODE *target)
{
    struct judge j = {.d = d, .ddi = dxgk_kernel_ddi(d->kernel)};

    if (!j.ddi)
        return; /* one of dxgkrnl's own */
    if (source)
        source_mode(&j, source);
    if (target)
        signal_info(&j, &target->VideoSignalInfo);
}
