/* SPDX-License-Identifier: MIT */
/* output.c: the monitors that Windows knows; or, where it knows none, the display of the adapter's first source. */
#include "d3d/tables.h"
#include "d3d/screens.h"

enum { MODES = 1024, MONITORS = 16 };

static struct dxgi_output *of(void *This)
{
    return This;
}

/* What the kernel says of the adapter's source. */
static UINT kernel_modes(struct dxgi_mode *m, UINT most, bool current)
{
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME open;
    D3DKMT_DISPLAYMODE modes[64];
    D3DKMT_GETDISPLAYMODELIST list;
    D3DKMT_CURRENTDISPLAYMODE now;
    D3DKMT_QUERYADAPTERINFO q;
    UINT n = 0;

    if (!d3d_display_open(&open))
        return 0;
    list = (D3DKMT_GETDISPLAYMODELIST){open.hAdapter, open.VidPnSourceId, modes, 64};
    now = (D3DKMT_CURRENTDISPLAYMODE){.VidPnSourceId = open.VidPnSourceId};
    q = (D3DKMT_QUERYADAPTERINFO){open.hAdapter, KMTQAITYPE_CURRENTDISPLAYMODE, &now, sizeof(now)};
    if (current && NT_SUCCESS(D3DKMTQueryAdapterInfo(&q)))
        m[n++] = (struct dxgi_mode){now.DisplayMode.Width, now.DisplayMode.Height,
                                    now.DisplayMode.IntegerRefreshRate};
    else if (!current && NT_SUCCESS(D3DKMTGetDisplayModeList(&list)))
        for (; n < list.ModeCount && n < most && n < 64; n++)
            m[n] = (struct dxgi_mode){modes[n].Width, modes[n].Height, modes[n].IntegerRefreshRate};
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = open.hAdapter});
    return n;
}

static int by_size(const void *a, const void *b)
{
    const struct dxgi_mode *x = a, *y = b;

    return x->width != y->width     ? (x->width < y->width ? -1 : 1)
           : x->height != y->height ? (x->height < y->height ? -1 : 1)
           : x->rate != y->rate     ? (x->rate < y->rate ? -1 : 1)
                                    : 0;
}

struct dxgi_mode *dxgi_modes(const struct dxgi_output *o, UINT *count)
{
    struct dxgi_mode *m = calloc(MODES, sizeof(*m));
    UINT all, n = 0;

    *count = 0;
    if (!m)
        return NULL;
    all = o->monitor ? window_modes(o->name, m, MODES) : kernel_modes(m, MODES, false);
    qsort(m, all, sizeof(*m), by_size);
    for (UINT i = 0; i < all; i++) {
        if (!m[i].rate)
            m[i].rate = 60;
        if (!n || by_size(&m[i], &m[n - 1]))
            m[n++] = m[i];
    }
    *count = n;
    return m;
}

bool dxgi_mode_now(const struct dxgi_output *o, struct dxgi_mode *m)
{
    bool is = o->monitor ? window_mode_now(o->name, m) : kernel_modes(m, 1, true);

    if (is && !m->rate)
        m->rate = 60;
    return is;
}

static void end_output(struct dxgi_object *o)
{
    struct d3d_device *owner = ((struct dxgi_output *)o)->owner;

    if (owner)
        ID3D11Device_Release((ID3D11Device *)owner);
}

static HRESULT create(struct dxgi_adapter *a, const struct dxgi_monitor *m, struct dxgi_output **out)
{
    static const GUID *const iids[] = {&IID_IDXGIOutput, &IID_IDXGIOutput1, NULL};
    struct dxgi_output *o = dxgi_object_create(sizeof(*o), &dxgi_output_vtbl, &a->object, iids);

    if (!o)
        return E_OUTOFMEMORY;
    o->object.end = end_output;
    memcpy(o->name, m->name, sizeof(o->name));
    o->area = m->area;
    o->monitor = m->monitor;
    *out = o;
    return S_OK;
}

HRESULT dxgi_output_create(struct dxgi_adapter *a, UINT index, struct dxgi_output **out)
{
    struct dxgi_monitor m[MONITORS] = {0};
    UINT count = window_monitors(m, MONITORS);

    if (!count) {
        static const char name[] = "\\\\.\\DISPLAY1";
        struct dxgi_mode now;

        if (index || !kernel_modes(&now, 1, true))
            return DXGI_ERROR_NOT_FOUND;
        for (size_t i = 0; i < sizeof(name); i++)
            m[0].name[i] = (WCHAR)name[i];
        m[0].area = (RECT){0, 0, (LONG)now.width, (LONG)now.height};
        count = 1;
    }
    return index < count ? create(a, &m[index], out) : DXGI_ERROR_NOT_FOUND;
}

HRESULT dxgi_output_of(struct dxgi_adapter *a, HWND window, struct dxgi_output **out)
{
    HMONITOR wanted = window ? window_monitor(window) : NULL;
    struct dxgi_output *o;
    HRESULT hr;

    for (UINT i = 0; (hr = dxgi_output_create(a, i, &o)) == S_OK; i++) {
        if (!wanted || o->monitor == wanted) {
            *out = o;
            return S_OK;
        }
        dxgi_object_Release(o);
    }
    return hr;
}

HRESULT STDMETHODCALLTYPE dxgi_output_GetDesc(IDXGIOutput1 *This, DXGI_OUTPUT_DESC *desc)
{
    struct dxgi_monitor m[MONITORS];
    struct dxgi_output *o = of(This);
    UINT count;

    if (!desc)
        return E_INVALIDARG;
    count = window_monitors(m, MONITORS); /* its place may have changed */
    for (UINT i = 0; i < count; i++)
        if (m[i].monitor == o->monitor)
            o->area = m[i].area;
    *desc = (DXGI_OUTPUT_DESC){.DesktopCoordinates = o->area,
                               .AttachedToDesktop = TRUE,
                               .Rotation = DXGI_MODE_ROTATION_IDENTITY,
                               .Monitor = o->monitor};
    memcpy(desc->DeviceName, o->name, sizeof(desc->DeviceName));
    return S_OK;
}

/* ---- modes ------------------------------------------------------------------------ */

/* Formats that can be scanned out. */
static bool displayable(DXGI_FORMAT f)
{
    return f == DXGI_FORMAT_R8G8B8A8_UNORM || f == DXGI_FORMAT_R8G8B8A8_UNORM_SRGB ||
           f == DXGI_FORMAT_B8G8R8A8_UNORM || f == DXGI_FORMAT_B8G8R8A8_UNORM_SRGB ||
           f == DXGI_FORMAT_R16G16B16A16_FLOAT || f == DXGI_FORMAT_R10G10B10A2_UNORM;
}

static DXGI_MODE_DESC describe(const struct dxgi_mode *m, DXGI_FORMAT f)
{
    return (DXGI_MODE_DESC){m->width,
                            m->height,
                            {m->rate, 1},
                            f,
                            DXGI_MODE_SCANLINE_ORDER_PROGRESSIVE,
                            DXGI_MODE_SCALING_UNSPECIFIED};
}

HRESULT STDMETHODCALLTYPE dxgi_output_GetDisplayModeList(IDXGIOutput1 *This, DXGI_FORMAT format, UINT flags,
                                                         UINT *count, DXGI_MODE_DESC *desc)
{
    struct dxgi_mode *m;
    HRESULT hr = S_OK;
    UINT n;

    if (!count)
        return DXGI_ERROR_INVALID_CALL;
    if (!displayable(format)) {
        *count = 0;
        return S_OK;
    }
    m = dxgi_modes(of(This), &n);
    if (!m)
        return E_OUTOFMEMORY;
    if (desc && *count < n)
        hr = DXGI_ERROR_MORE_DATA;
    for (UINT i = 0; desc && hr == S_OK && i < n; i++)
        desc[i] = describe(&m[i], format);
    if (hr == S_OK)
        *count = n;
    free(m);
    return hr;
}

HRESULT STDMETHODCALLTYPE dxgi_output_GetDisplayModeList1(IDXGIOutput1 *This, DXGI_FORMAT format, UINT flags,
                                                          UINT *count, DXGI_MODE_DESC1 *desc)
{
    DXGI_MODE_DESC *plain = desc && count ? calloc(*count + 1, sizeof(*plain)) : NULL;
    HRESULT hr = dxgi_output_GetDisplayModeList(This, format, flags, count, plain);

    for (UINT i = 0; hr == S_OK && plain && i < *count; i++)
        desc[i] = (DXGI_MODE_DESC1){.Width = plain[i].Width,
                                    .Height = plain[i].Height,
                                    .RefreshRate = plain[i].RefreshRate,
                                    .Format = plain[i].Format,
                                    .ScanlineOrdering = plain[i].ScanlineOrdering,
                                    .Scaling = plain[i].Scaling};
    free(plain);
    return hr;
}

static UINT64 apart(UINT a, UINT b)
{
    return a > b ? a - b : b - a;
}

HRESULT STDMETHODCALLTYPE dxgi_output_FindClosestMatchingMode(IDXGIOutput1 *This, const DXGI_MODE_DESC *want,
                                                              DXGI_MODE_DESC *out, IUnknown *device)
{
    struct dxgi_mode now, *m, *best = NULL;
    DXGI_FORMAT format;
    UINT n, rate;

    if (!want || !out || !want->Width != !want->Height || (want->Format == DXGI_FORMAT_UNKNOWN && !device))
        return DXGI_ERROR_INVALID_CALL;
    if (want->Format != DXGI_FORMAT_UNKNOWN && !displayable(want->Format))
        return DXGI_ERROR_UNSUPPORTED;
    if (!dxgi_mode_now(of(This), &now))
        return DXGI_ERROR_NOT_CURRENTLY_AVAILABLE;
    format = want->Format ? want->Format : DXGI_FORMAT_R8G8B8A8_UNORM;
    rate = want->RefreshRate.Numerator && want->RefreshRate.Denominator
               ? (want->RefreshRate.Numerator + want->RefreshRate.Denominator / 2) /
                     want->RefreshRate.Denominator
               : now.rate;
    if (want->Width)
        now = (struct dxgi_mode){want->Width, want->Height, rate};
    m = dxgi_modes(of(This), &n);
    for (UINT i = 0; m && i < n; i++) {
        UINT64 size = apart(m[i].width, now.width) + apart(m[i].height, now.height), least;

        least = best ? apart(best->width, now.width) + apart(best->height, now.height) : UINT64_MAX;
        if (size < least || (size == least && apart(m[i].rate, rate) < apart(best->rate, rate)))
            best = &m[i];
    }
    if (best)
        *out = describe(best, format);
    free(m);
    return best ? S_OK : DXGI_ERROR_NOT_FOUND;
}

HRESULT STDMETHODCALLTYPE dxgi_output_FindClosestMatchingMode1(IDXGIOutput1 *This,
                                                               const DXGI_MODE_DESC1 *want,
                                                               DXGI_MODE_DESC1 *out, IUnknown *device)
{
    DXGI_MODE_DESC in, found;
    HRESULT hr;

    if (!want || !out)
        return DXGI_ERROR_INVALID_CALL;
    in = (DXGI_MODE_DESC){want->Width,  want->Height,           want->RefreshRate,
                          want->Format, want->ScanlineOrdering, want->Scaling};
    hr = dxgi_output_FindClosestMatchingMode(This, &in, &found, device);
    if (hr == S_OK)
        *out = (DXGI_MODE_DESC1){.Width = found.Width,
                                 .Height = found.Height,
                                 .RefreshRate = found.RefreshRate,
                                 .Format = found.Format,
                                 .ScanlineOrdering = found.ScanlineOrdering,
                                 .Scaling = found.Scaling};
    return hr;
}

/* ---- the source ------------------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE dxgi_output_WaitForVBlank(IDXGIOutput1 *This)
{
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME open;
    NTSTATUS s;

    if (!d3d_display_open(&open))
        return DXGI_ERROR_NOT_CURRENTLY_AVAILABLE;
    s = D3DKMTWaitForVerticalBlankEvent(
        &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = open.hAdapter, .VidPnSourceId = open.VidPnSourceId});
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = open.hAdapter});
    return NT_SUCCESS(s) ? S_OK : DXGI_ERROR_NOT_CURRENTLY_AVAILABLE;
}

HRESULT STDMETHODCALLTYPE dxgi_output_TakeOwnership(IDXGIOutput1 *This, IUnknown *device, BOOL exclusive)
{
    struct dxgi_output *o = of(This);
    ID3D11Device *d = NULL;
    D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID source;
    NTSTATUS s;

    if (!device)
        return DXGI_ERROR_INVALID_CALL;
    if (IUnknown_QueryInterface(device, &IID_ID3D11Device, (void **)&d) != S_OK || !d3d_device_of(d))
        return E_NOINTERFACE;
    if (o->owner || !exclusive) { /* as Windows answers, whatever its documentation says of sharing */
        ID3D11Device_Release(d);
        return o->owner ? E_INVALIDARG : DXGI_ERROR_NOT_CURRENTLY_AVAILABLE;
    }
    source = d3d_device_of(d)->adapter->source;
    s = D3DKMTSetVidPnSourceOwner(
        &(D3DKMT_SETVIDPNSOURCEOWNER){d3d_device_of(d)->kmt.device, &type, &source, 1});
    if (!NT_SUCCESS(s)) {
        ID3D11Device_Release(d);
        return DXGI_ERROR_NOT_CURRENTLY_AVAILABLE;
    }
    o->owner = d3d_device_of(d);
    return S_OK;
}

void STDMETHODCALLTYPE dxgi_output_ReleaseOwnership(IDXGIOutput1 *This)
{
    struct dxgi_output *o = of(This);

    if (!o->owner)
        return;
    D3DKMTSetVidPnSourceOwner(&(D3DKMT_SETVIDPNSOURCEOWNER){.hDevice = o->owner->kmt.device});
    ID3D11Device_Release((ID3D11Device *)o->owner);
    o->owner = NULL;
}

HRESULT STDMETHODCALLTYPE dxgi_output_GetGammaControlCapabilities(IDXGIOutput1 *This,
                                                                  DXGI_GAMMA_CONTROL_CAPABILITIES *caps)
{
    if (!caps)
        return E_INVALIDARG;
    *caps = (DXGI_GAMMA_CONTROL_CAPABILITIES){
        .MaxConvertedValue = 1, .MinConvertedValue = 0, .NumGammaControlPoints = 256};
    for (UINT i = 0; i < caps->NumGammaControlPoints; i++)
        caps->ControlPointPositions[i] = (float)i / 255;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE dxgi_output_SetGammaControl(IDXGIOutput1 *This, const DXGI_GAMMA_CONTROL *gamma)
{
    struct dxgi_output *o = of(This);
    D3DKMT_SETGAMMARAMP ramp = {.Type = D3DDDI_GAMMARAMP_DXGI_1, .Size = sizeof(DXGI_GAMMA_CONTROL)};

    if (!gamma)
        return E_INVALIDARG;
    if (o->monitor) {
        window_gamma(o->name, gamma);
        return S_OK;
    }
    if (!o->owner) /* only who has the display for itself may */
        return DXGI_ERROR_NOT_CURRENTLY_AVAILABLE;
    ramp.hDevice = o->owner->kmt.device;
    ramp.VidPnSourceId = o->owner->adapter->source;
    ramp.pGammaRampDXGI1 = (D3DDDI_GAMMA_RAMP_DXGI_1 *)(uintptr_t)gamma;
    return NT_SUCCESS(D3DKMTSetGammaRamp(&ramp)) ? S_OK : DXGI_ERROR_NOT_CURRENTLY_AVAILABLE;
}

/* Nobody can say what it is. */
HRESULT STDMETHODCALLTYPE dxgi_output_GetGammaControl(IDXGIOutput1 *This, DXGI_GAMMA_CONTROL *gamma)
{
    return DXGI_ERROR_INVALID_CALL;
}
