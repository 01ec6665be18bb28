/* SPDX-License-Identifier: MIT */
/* factory.c: IDirect3D9 and IDirect3D9Ex: the adapter, and what its driver can do. */
#include "d3d/d3d9/tables.h"
#include "base/export.h"
#include "d3d/d3d9/rt9.h"

#include <stdarg.h>
#include <stdio.h>

void d9_log(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    fputs("d3d9: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
}

void d9_missing(LONG *said, const char *method)
{
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
        d9_log("%s is not there", method);
}

/* ---- the driver --------------------------------------------------------------------- */

static HRESULT ask(struct d9_factory *f, D3DDDICAPS_TYPE type, void *data, UINT size)
{
    return f->ddi.pfnGetCaps(f->drv, &(D3DDDIARG_GETCAPS){.Type = type, .pData = data, .DataSize = size});
}

static HRESULT ask_caps(struct d9_factory *f)
{
    if (ask(f, D3DDDICAPS_GETD3D9CAPS, &f->caps, sizeof(f->caps)) != S_OK ||
        ask(f, D3DDDICAPS_GETFORMATCOUNT, &f->num_formats, sizeof(f->num_formats)) != S_OK ||
        f->num_formats > 4096)
        return D3DERR_NOTAVAILABLE;
    f->formats = calloc(f->num_formats + 1, sizeof(f->formats[0]));
    if (!f->formats)
        return E_OUTOFMEMORY;
    if (ask(f, D3DDDICAPS_GETFORMATDATA, f->formats, f->num_formats * (UINT)sizeof(f->formats[0])) != S_OK)
        return D3DERR_NOTAVAILABLE;
    if (ask(f, D3DDDICAPS_GETD3DQUERYCOUNT, &f->num_queries, sizeof(f->num_queries)) != S_OK ||
        f->num_queries > 16 || ask(f, D3DDDICAPS_GETD3DQUERYDATA, f->queries, sizeof(f->queries)) != S_OK)
        f->num_queries = 0;
    return S_OK;
}

static HRESULT load_driver(struct d9_factory *f)
{
    D3DDDIARG_OPENADAPTER open = {.hAdapter = &f->kmt,
                                  .Interface = 9,
                                  .Version = D3D_UMD_INTERFACE_VERSION_WIN7,
                                  .pAdapterCallbacks = &d3d_adapter_callbacks,
                                  .pAdapterFuncs = &f->ddi};
    PFND3DDDI_OPENADAPTER open_adapter;
    PFND3DDDI_GETANNOTATIONFUNCS9 annotations;
    char name[260];
    HRESULT hr;

    f->library = d3d_library_open(f->kmt.adapter, KMTUMDVERSION_DX9, name);
    open_adapter = f->library ? (PFND3DDDI_OPENADAPTER)d3d_library_symbol(f->library, "OpenAdapter") : NULL;
    if (!open_adapter) {
        d9_log("the adapter's driver %s cannot be loaded", name);
        return D3DERR_NOTAVAILABLE;
    }
    hr = open_adapter(&open);
    if (hr != S_OK)
        return hr;
    f->drv = open.hAdapter;
    annotations = (PFND3DDDI_GETANNOTATIONFUNCS9)d3d_library_symbol(f->library, "GetAnnotationFuncs9");
    if (annotations)
        annotations(&f->annotate);
    if (!f->ddi.pfnGetCaps || !f->ddi.pfnCreateDevice || !f->ddi.pfnCloseAdapter) {
        d9_log("%s leaves out functions of its adapter", name);
        return D3DERR_NOTAVAILABLE;
    }
    return ask_caps(f);
}

static void destroy(struct d9_factory *f)
{
    if (f->drv && f->ddi.pfnCloseAdapter)
        f->ddi.pfnCloseAdapter(f->drv);
    if (f->library)
        d3d_library_close(f->library);
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = f->kmt.adapter});
    free(f->formats);
    free(f);
}

static HRESULT create(bool ex, IDirect3D9Ex **out)
{
    struct d9_factory *f = calloc(1, sizeof(*f));
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME open;
    HRESULT hr;

    *out = NULL;
    if (!f)
        return E_OUTOFMEMORY;
    if (!d3d_display_open(&open)) {
        free(f);
        return D3DERR_NOTAVAILABLE;
    }
    f->vtbl = &d9_factory_vtbl;
    f->refs = 1;
    f->ex = ex;
    f->kmt.adapter = open.hAdapter;
    f->source = open.VidPnSourceId;
    f->luid = open.AdapterLuid;
    hr = load_driver(f);
    if (hr != S_OK) {
        destroy(f);
        return hr;
    }
    *out = (IDirect3D9Ex *)f;
    return D3D_OK;
}

EXPORT IDirect3D9 *WINAPI Direct3DCreate9(UINT version)
{
    IDirect3D9Ex *f;

    create(false, &f);
    return (IDirect3D9 *)f;
}

EXPORT HRESULT WINAPI Direct3DCreate9Ex(UINT version, IDirect3D9Ex **out)
{
    return out ? create(true, out) : D3DERR_INVALIDCALL;
}

static struct d9_factory *of(IDirect3D9Ex *This)
{
    return (struct d9_factory *)This;
}

HRESULT STDMETHODCALLTYPE d9_factory_QueryInterface(IDirect3D9Ex *This, REFIID riid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!IsEqualGUID(riid, &IID_IUnknown) && !IsEqualGUID(riid, &IID_IDirect3D9) &&
        !(of(This)->ex && IsEqualGUID(riid, &IID_IDirect3D9Ex)))
        return E_NOINTERFACE;
    *out = This;
    d9_factory_AddRef(This);
    return S_OK;
}

ULONG STDMETHODCALLTYPE d9_factory_AddRef(IDirect3D9Ex *This)
{
    return (ULONG)__atomic_add_fetch(&of(This)->refs, 1, __ATOMIC_RELAXED);
}

ULONG STDMETHODCALLTYPE d9_factory_Release(IDirect3D9Ex *This)
{
    LONG refs = __atomic_sub_fetch(&of(This)->refs, 1, __ATOMIC_ACQ_REL);

    if (!refs)
        destroy(of(This));
    return (ULONG)refs;
}

/* ---- what there is -------------------------------------------------------------------- */

UINT STDMETHODCALLTYPE d9_factory_GetAdapterCount(IDirect3D9Ex *This)
{
    return 1;
}

HRESULT STDMETHODCALLTYPE d9_factory_GetAdapterIdentifier(IDirect3D9Ex *This, UINT adapter, DWORD flags,
                                                          D3DADAPTER_IDENTIFIER9 *id)
{
    struct d9_factory *f = of(This);
    D3DKMT_ADAPTERREGISTRYINFO registry = {0};
    D3DKMT_QUERY_DEVICE_IDS ids = {0};

    if (adapter || !id)
        return D3DERR_INVALIDCALL;
    D3DKMTQueryAdapterInfo(&(D3DKMT_QUERYADAPTERINFO){f->kmt.adapter, KMTQAITYPE_ADAPTERREGISTRYINFO,
                                                      &registry, sizeof(registry)});
    D3DKMTQueryAdapterInfo(
        &(D3DKMT_QUERYADAPTERINFO){f->kmt.adapter, KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, &ids, sizeof(ids)});
    memset(id, 0, sizeof(*id));
    snprintf(id->Driver, sizeof(id->Driver), "%s", "d3d9.dll");
    for (int i = 0; i < 127 && registry.AdapterString[i]; i++)
        id->Description[i] = registry.AdapterString[i] < 127 ? (char)registry.AdapterString[i] : '?';
    snprintf(id->DeviceName, sizeof(id->DeviceName), "%s", "\\\\.\\DISPLAY1");
    id->VendorId = ids.DeviceIds.VendorID;
    id->DeviceId = ids.DeviceIds.DeviceID;
    id->SubSysId = ids.DeviceIds.SubSystemID << 16 | ids.DeviceIds.SubVendorID;
    id->Revision = ids.DeviceIds.RevisionID;
    id->DeviceIdentifier.Data1 = id->VendorId << 16 | id->DeviceId;
    id->DeviceIdentifier.Data2 = 9;
    id->WHQLLevel = f->ex || flags & D3DENUM_WHQL_LEVEL ? 0 : 1;
    return D3D_OK;
}

static D3DDISPLAYMODEEX describe_mode(UINT width, UINT height, UINT rate)
{
    return (D3DDISPLAYMODEEX){.Size = sizeof(D3DDISPLAYMODEEX),
                              .Width = width,
                              .Height = height,
                              .RefreshRate = rate,
                              .Format = D3DFMT_X8R8G8B8,
                              .ScanLineOrdering = D3DSCANLINEORDERING_PROGRESSIVE};
}

bool d9_display_mode(const struct d9_factory *f, D3DDISPLAYMODEEX *mode)
{
    D3DKMT_CURRENTDISPLAYMODE m = {.VidPnSourceId = f->source};
    D3DKMT_QUERYADAPTERINFO q = {f->kmt.adapter, KMTQAITYPE_CURRENTDISPLAYMODE, &m, sizeof(m)};
    UINT width, height, rate = 60;

    if (!d9_screen_mode(&width, &height, &rate)) { /* the service's display */
        if (!NT_SUCCESS(D3DKMTQueryAdapterInfo(&q)))
            return false;
        width = m.DisplayMode.Width;
        height = m.DisplayMode.Height;
    }
    *mode = describe_mode(width, height, rate);
    return true;
}

HRESULT STDMETHODCALLTYPE d9_factory_GetAdapterDisplayMode(IDirect3D9Ex *This, UINT adapter,
                                                           D3DDISPLAYMODE *mode)
{
    D3DDISPLAYMODEEX m;

    if (adapter || !mode)
        return D3DERR_INVALIDCALL;
    if (!d9_display_mode(of(This), &m))
        return D3DERR_NOTAVAILABLE;
    *mode = (D3DDISPLAYMODE){m.Width, m.Height, m.RefreshRate, m.Format};
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_factory_GetAdapterDisplayModeEx(IDirect3D9Ex *This, UINT adapter,
                                                             D3DDISPLAYMODEEX *mode,
                                                             D3DDISPLAYROTATION *rotation)
{
    if (adapter || (mode && mode->Size != sizeof(*mode)))
        return D3DERR_INVALIDCALL;
    if (rotation)
        *rotation = D3DDISPLAYROTATION_IDENTITY;
    return !mode || d9_display_mode(of(This), mode) ? D3D_OK : D3DERR_NOTAVAILABLE;
}

/* Windows' display has its modes; the service's, and one of which none are known, the one that it is in. */
UINT STDMETHODCALLTYPE d9_factory_GetAdapterModeCount(IDirect3D9Ex *This, UINT adapter, D3DFORMAT format)
{
    D3DDISPLAYMODEEX m;
    UINT width, height, rate, n;

    if (adapter || format != D3DFMT_X8R8G8B8)
        return 0;
    n = d9_screen_modes(UINT32_MAX, &width, &height, &rate);
    return n ? n : d9_display_mode(of(This), &m);
}

static HRESULT enumerate(struct d9_factory *f, UINT index, D3DDISPLAYMODEEX *mode)
{
    UINT width, height, rate, n = d9_screen_modes(index, &width, &height, &rate);

    if (!n)
        return d9_display_mode(f, mode) ? D3D_OK : D3DERR_NOTAVAILABLE;
    if (index >= n)
        return D3DERR_INVALIDCALL;
    *mode = describe_mode(width, height, rate);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_factory_EnumAdapterModes(IDirect3D9Ex *This, UINT adapter, D3DFORMAT format,
                                                      UINT index, D3DDISPLAYMODE *mode)
{
    D3DDISPLAYMODEEX m;
    HRESULT hr;

    if (!mode || index >= d9_factory_GetAdapterModeCount(This, adapter, format))
        return !adapter && mode && format == D3DFMT_R5G6B5 ? D3DERR_NOTAVAILABLE : D3DERR_INVALIDCALL;
    hr = enumerate(of(This), index, &m);
    if (hr == D3D_OK)
        *mode = (D3DDISPLAYMODE){m.Width, m.Height, m.RefreshRate, m.Format};
    return hr;
}

UINT STDMETHODCALLTYPE d9_factory_GetAdapterModeCountEx(IDirect3D9Ex *This, UINT adapter,
                                                        const D3DDISPLAYMODEFILTER *filter)
{
    return filter && filter->ScanLineOrdering != D3DSCANLINEORDERING_INTERLACED
               ? d9_factory_GetAdapterModeCount(This, adapter, filter->Format)
               : 0;
}

HRESULT STDMETHODCALLTYPE d9_factory_EnumAdapterModesEx(IDirect3D9Ex *This, UINT adapter,
                                                        const D3DDISPLAYMODEFILTER *filter, UINT index,
                                                        D3DDISPLAYMODEEX *mode)
{
    if (!mode || index >= d9_factory_GetAdapterModeCountEx(This, adapter, filter))
        return D3DERR_INVALIDCALL;
    return enumerate(of(This), index, mode);
}

HRESULT STDMETHODCALLTYPE d9_factory_GetAdapterLUID(IDirect3D9Ex *This, UINT adapter, LUID *luid)
{
    if (adapter || !luid)
        return D3DERR_INVALIDCALL;
    *luid = of(This)->luid;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_factory_GetDeviceCaps(IDirect3D9Ex *This, UINT adapter, D3DDEVTYPE type,
                                                   D3DCAPS9 *caps)
{
    if (adapter || !caps)
        return D3DERR_INVALIDCALL;
    if (type != D3DDEVTYPE_HAL)
        return type == D3DDEVTYPE_REF || type == D3DDEVTYPE_SW ? D3DERR_NOTAVAILABLE : D3DERR_INVALIDCALL;
    *caps = of(This)->caps;
    return D3D_OK;
}

/* ---- formats ---------------------------------------------------------------------------- */

const FORMATOP *d9_format(const struct d9_factory *f, D3DFORMAT format)
{
    for (UINT i = 0; i < f->num_formats; i++)
        if (f->formats[i].Format == (UINT)format)
            return &f->formats[i];
    return NULL;
}

static bool has(const struct d9_factory *f, D3DFORMAT format, UINT operations)
{
    const FORMATOP *o = d9_format(f, format);

    return o && (o->Operations & operations) == operations;
}

HRESULT STDMETHODCALLTYPE d9_factory_CheckDeviceType(IDirect3D9Ex *This, UINT adapter, D3DDEVTYPE type,
                                                     D3DFORMAT display, D3DFORMAT back, BOOL windowed)
{
    if (adapter || type != D3DDEVTYPE_HAL)
        return type == D3DDEVTYPE_REF || type == D3DDEVTYPE_SW ? D3DERR_NOTAVAILABLE : D3DERR_INVALIDCALL;
    if (windowed && back == D3DFMT_UNKNOWN)
        back = display;
    if (display == D3DFMT_UNKNOWN || back == D3DFMT_UNKNOWN)
        return D3DERR_INVALIDCALL;
    return has(of(This), display, FORMATOP_DISPLAYMODE) &&
                   has(of(This), back, FORMATOP_OFFSCREEN_RENDERTARGET) &&
                   (back == D3DFMT_X8R8G8B8 || back == D3DFMT_A8R8G8B8 ||
                    (windowed &&
                     d9_factory_CheckDeviceFormatConversion(This, 0, type, back, display) == D3D_OK))
               ? D3D_OK
               : D3DERR_NOTAVAILABLE;
}

HRESULT STDMETHODCALLTYPE d9_factory_CheckDeviceFormat(IDirect3D9Ex *This, UINT adapter, D3DDEVTYPE type,
                                                       D3DFORMAT display, DWORD usage,
                                                       D3DRESOURCETYPE resource, D3DFORMAT format)
{
    static const struct {
        DWORD usage;
        UINT operation;
    } needs[] = {{D3DUSAGE_RENDERTARGET, FORMATOP_OFFSCREEN_RENDERTARGET},
                 {D3DUSAGE_DEPTHSTENCIL, FORMATOP_ZSTENCIL},
                 {D3DUSAGE_QUERY_SRGBREAD, FORMATOP_SRGBREAD},
                 {D3DUSAGE_QUERY_SRGBWRITE, FORMATOP_SRGBWRITE},
                 {D3DUSAGE_QUERY_VERTEXTEXTURE, FORMATOP_VERTEXTEXTURE},
                 {D3DUSAGE_QUERY_LEGACYBUMPMAP, FORMATOP_BUMPMAP}};
    const struct d9_factory *f = of(This);
    UINT operations = resource == D3DRTYPE_TEXTURE         ? FORMATOP_TEXTURE
                      : resource == D3DRTYPE_CUBETEXTURE   ? FORMATOP_CUBETEXTURE
                      : resource == D3DRTYPE_VOLUMETEXTURE ? FORMATOP_VOLUMETEXTURE
                                                           : 0;

    if (adapter || (type != D3DDEVTYPE_HAL && type != D3DDEVTYPE_REF && type != D3DDEVTYPE_SW) ||
        display == D3DFMT_UNKNOWN || resource == D3DRTYPE_VERTEXBUFFER || resource == D3DRTYPE_INDEXBUFFER)
        return D3DERR_INVALIDCALL;
    if (usage & D3DUSAGE_DEPTHSTENCIL && usage & D3DUSAGE_RENDERTARGET)
        return D3DERR_INVALIDCALL;
    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
        operations |= usage & needs[i].usage ? needs[i].operation : 0;
    if (usage & D3DUSAGE_QUERY_WRAPANDMIP || usage & D3DUSAGE_DMAP ||
        (resource == D3DRTYPE_SURFACE && usage & D3DUSAGE_QUERY_SRGBWRITE &&
         !(usage & D3DUSAGE_RENDERTARGET)))
        return D3DERR_NOTAVAILABLE;
    if (resource == D3DRTYPE_SURFACE && !operations)
        operations = FORMATOP_OFFSCREENPLAIN;
    if (type != D3DDEVTYPE_HAL || !has(f, display, FORMATOP_DISPLAYMODE) || !has(f, format, operations))
        return D3DERR_NOTAVAILABLE;
    return usage & D3DUSAGE_AUTOGENMIPMAP && !has(f, format, FORMATOP_AUTOGENMIPMAP) ? D3DOK_NOAUTOGEN
                                                                                     : D3D_OK;
}

DWORD d9_qualities(struct d9_factory *f, D3DFORMAT format, bool windowed, D3DMULTISAMPLE_TYPE samples)
{
    const FORMATOP *o = d9_format(f, format);
    DDIMULTISAMPLEQUALITYLEVELSDATA q = {.Format = (UINT)format, .Flip = !windowed, .MsType = samples};

    if (samples == D3DMULTISAMPLE_NONE) /* of formats that there are not, too */
        return 1;
    if (!o || samples > D3DMULTISAMPLE_16_SAMPLES ||
        !((windowed ? o->BltMsTypes : o->FlipMsTypes) >> (samples - 1) & 1))
        return 0;
    return ask(f, D3DDDICAPS_GETMULTISAMPLEQUALITYLEVELS, &q, sizeof(q)) == S_OK ? q.QualityLevels : 0;
}

HRESULT STDMETHODCALLTYPE d9_factory_CheckDeviceMultiSampleType(IDirect3D9Ex *This, UINT adapter,
                                                                D3DDEVTYPE type, D3DFORMAT format,
                                                                BOOL windowed, D3DMULTISAMPLE_TYPE samples,
                                                                DWORD *levels)
{
    DWORD qualities;

    if (adapter || samples > D3DMULTISAMPLE_16_SAMPLES || format == D3DFMT_UNKNOWN)
        return D3DERR_INVALIDCALL;
    qualities = type == D3DDEVTYPE_HAL ? d9_qualities(of(This), format, windowed, samples) : 0;
    if (levels)
        *levels = qualities ? qualities : 1;
    return qualities ? D3D_OK : D3DERR_NOTAVAILABLE;
}

HRESULT STDMETHODCALLTYPE d9_factory_CheckDepthStencilMatch(IDirect3D9Ex *This, UINT adapter, D3DDEVTYPE type,
                                                            D3DFORMAT display, D3DFORMAT target,
                                                            D3DFORMAT depth)
{
    if (adapter)
        return D3DERR_INVALIDCALL;
    return type == D3DDEVTYPE_HAL && has(of(This), target, FORMATOP_OFFSCREEN_RENDERTARGET) &&
                   has(of(This), depth, FORMATOP_ZSTENCIL)
               ? D3D_OK
               : D3DERR_NOTAVAILABLE;
}

HRESULT STDMETHODCALLTYPE d9_factory_CheckDeviceFormatConversion(IDirect3D9Ex *This, UINT adapter,
                                                                 D3DDEVTYPE type, D3DFORMAT source,
                                                                 D3DFORMAT target)
{
    if (adapter)
        return D3DERR_INVALIDCALL;
    return type == D3DDEVTYPE_HAL && (source == target || (has(of(This), target, FORMATOP_CONVERT_TO_ARGB) &&
                                                           has(of(This), source, FORMATOP_OFFSCREENPLAIN)))
               ? D3D_OK
               : D3DERR_NOTAVAILABLE;
}

HMONITOR STDMETHODCALLTYPE d9_factory_GetAdapterMonitor(IDirect3D9Ex *This, UINT adapter)
{
#if defined(_WIN32)
    return adapter ? NULL : MonitorFromPoint((POINT){0, 0}, MONITOR_DEFAULTTOPRIMARY);
#else
    return NULL;
#endif
}

HRESULT STDMETHODCALLTYPE d9_factory_RegisterSoftwareDevice(IDirect3D9Ex *This, void *initialize)
{
    return initialize ? D3D_OK : D3DERR_INVALIDCALL;
}

/* ---- devices ------------------------------------------------------------------------------ */

static HRESULT create_device(IDirect3D9Ex *This, bool ex, UINT adapter, D3DDEVTYPE type, HWND focus,
                             DWORD flags, D3DPRESENT_PARAMETERS *p, void **out)
{
    struct d9_device *d;
    HRESULT hr;

    if (out)
        *out = NULL;
    if (adapter || !p || !out)
        return D3DERR_INVALIDCALL;
    if (type != D3DDEVTYPE_HAL)
        return type == D3DDEVTYPE_REF || type == D3DDEVTYPE_SW || type == D3DDEVTYPE_NULLREF
                   ? D3DERR_NOTAVAILABLE
                   : D3DERR_INVALIDCALL;
    if (!(flags & (D3DCREATE_SOFTWARE_VERTEXPROCESSING | D3DCREATE_HARDWARE_VERTEXPROCESSING |
                   D3DCREATE_MIXED_VERTEXPROCESSING)))
        return D3DERR_INVALIDCALL;
    hr = d9_device_create(of(This), ex, focus, flags, p, &d);
    if (hr == S_OK)
        *out = d;
    return hr;
}

HRESULT STDMETHODCALLTYPE d9_factory_CreateDevice(IDirect3D9Ex *This, UINT adapter, D3DDEVTYPE type,
                                                  HWND focus, DWORD flags, D3DPRESENT_PARAMETERS *p,
                                                  IDirect3DDevice9 **out)
{
    return create_device(This, of(This)->ex, adapter, type, focus, flags, p, (void **)out);
}

HRESULT STDMETHODCALLTYPE d9_factory_CreateDeviceEx(IDirect3D9Ex *This, UINT adapter, D3DDEVTYPE type,
                                                    HWND focus, DWORD flags, D3DPRESENT_PARAMETERS *p,
                                                    D3DDISPLAYMODEEX *mode, IDirect3DDevice9Ex **out)
{
    if (!of(This)->ex || (mode && (mode->Size != sizeof(*mode) || (p && p->Windowed))))
        return D3DERR_INVALIDCALL;
    return create_device(This, true, adapter, type, focus, flags, p, (void **)out);
}
