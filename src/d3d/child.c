/* SPDX-License-Identifier: MIT */
/* child.c: what all objects of a device have: references, private data, an end. */
#include "d3d/tables.h"
#include "d3d/d10.h"

#include "base/check.h"

static const struct {
    const void *vtbl;
    const GUID *iids[4];
} kinds[D3D_KINDS] = {
    [D3D_BUFFER] = {&d3d_buffer_vtbl, {&IID_ID3D11Buffer, &IID_ID3D11Resource}},
    [D3D_TEXTURE1D] = {&d3d_texture1d_vtbl, {&IID_ID3D11Texture1D, &IID_ID3D11Resource}},
    [D3D_TEXTURE] = {&d3d_texture_vtbl, {&IID_ID3D11Texture2D, &IID_ID3D11Resource}},
    [D3D_TEXTURE3D] = {&d3d_texture3d_vtbl, {&IID_ID3D11Texture3D, &IID_ID3D11Resource}},
    [D3D_SRV] = {&d3d_srv_vtbl, {&IID_ID3D11ShaderResourceView, &IID_ID3D11View}},
    [D3D_RTV] = {&d3d_rtv_vtbl, {&IID_ID3D11RenderTargetView, &IID_ID3D11View}},
    [D3D_DSV] = {&d3d_dsv_vtbl, {&IID_ID3D11DepthStencilView, &IID_ID3D11View}},
    [D3D_UAV] = {&d3d_uav_vtbl, {&IID_ID3D11UnorderedAccessView, &IID_ID3D11View}},
    [D3D_SHADER_VS] = {&d3d_vs_vtbl, {&IID_ID3D11VertexShader}},
    [D3D_SHADER_PS] = {&d3d_ps_vtbl, {&IID_ID3D11PixelShader}},
    [D3D_SHADER_GS] = {&d3d_gs_vtbl, {&IID_ID3D11GeometryShader}},
    [D3D_SHADER_HS] = {&d3d_hs_vtbl, {&IID_ID3D11HullShader}},
    [D3D_SHADER_DS] = {&d3d_ds_vtbl, {&IID_ID3D11DomainShader}},
    [D3D_SHADER_CS] = {&d3d_cs_vtbl, {&IID_ID3D11ComputeShader}},
    [D3D_LAYOUT] = {&d3d_layout_vtbl, {&IID_ID3D11InputLayout}},
    [D3D_BLEND] = {&d3d_blend_vtbl, {&IID_ID3D11BlendState, &IID_ID3D11BlendState1}},
    [D3D_DEPTH] = {&d3d_depth_vtbl, {&IID_ID3D11DepthStencilState}},
    [D3D_RASTER] = {&d3d_raster_vtbl, {&IID_ID3D11RasterizerState, &IID_ID3D11RasterizerState1}},
    [D3D_SAMPLER] = {&d3d_sampler_vtbl, {&IID_ID3D11SamplerState}},
    [D3D_QUERY] = {&d3d_query_vtbl, {&IID_ID3D11Query, &IID_ID3D11Asynchronous}},
    [D3D_PREDICATE] = {&d3d_predicate_vtbl,
                       {&IID_ID3D11Predicate, &IID_ID3D11Query, &IID_ID3D11Asynchronous}},
    [D3D_LIST] = {&d3d_list_vtbl, {&IID_ID3D11CommandList}},
    [D3D_CONTEXT_STATE] = {&d3d_context_state_vtbl, {&IID_ID3DDeviceContextState}},
};

static void child_check(const struct d3d_child *c)
{
    INVARIANT(c->kind < D3D_KINDS && c->vtbl == kinds[c->kind].vtbl);
    INVARIANT(c->device && c->drv && c->refs >= 0 && c->bound >= 0);
    INVARIANT(!c->of || c->of->device == c->device);
}

struct d3d_child *d3d_child_create(struct d3d_device *d, enum d3d_kind kind, size_t drv_size)
{
    struct d3d_child *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    d3d_take_error(d); /* of calls before, which have no answer: not this one's */
    c->drv = calloc(1, drv_size ? drv_size : 1);
    if (!c->drv) {
        free(c);
        return NULL;
    }
    c->vtbl = kinds[kind].vtbl;
    c->d10_vtbl = d10_vtbl_of(kind);
    c->kind = kind;
    c->device = d;
    c->refs = 1;
    d->vtbl->AddRef((ID3D11Device1 *)d);
    child_check(c);
    return c;
}

static void end_in_driver(struct d3d_child *c)
{
    struct d3d_device *d = c->device;

    switch (c->kind) {
    case D3D_BUFFER:
    case D3D_TEXTURE1D:
    case D3D_TEXTURE:
    case D3D_TEXTURE3D:
        DDI(d, pfnDestroyResource, DRV(D3D10DDI_HRESOURCE, c));
        break;
    case D3D_SRV:
        DDI(d, pfnDestroyShaderResourceView, DRV(D3D10DDI_HSHADERRESOURCEVIEW, c));
        break;
    case D3D_RTV:
        DDI(d, pfnDestroyRenderTargetView, DRV(D3D10DDI_HRENDERTARGETVIEW, c));
        break;
    case D3D_DSV:
        DDI(d, pfnDestroyDepthStencilView, DRV(D3D10DDI_HDEPTHSTENCILVIEW, c));
        break;
    case D3D_UAV:
        DDI(d, pfnDestroyUnorderedAccessView, DRV(D3D11DDI_HUNORDEREDACCESSVIEW, c));
        break;
    case D3D_SHADER_VS:
    case D3D_SHADER_PS:
    case D3D_SHADER_GS:
    case D3D_SHADER_HS:
    case D3D_SHADER_DS:
    case D3D_SHADER_CS:
        DDI(d, pfnDestroyShader, DRV(D3D10DDI_HSHADER, c));
        break;
    case D3D_LAYOUT:
        DDI(d, pfnDestroyElementLayout, DRV(D3D10DDI_HELEMENTLAYOUT, c));
        break;
    case D3D_BLEND:
        DDI(d, pfnDestroyBlendState, DRV(D3D10DDI_HBLENDSTATE, c));
        break;
    case D3D_DEPTH:
        DDI(d, pfnDestroyDepthStencilState, DRV(D3D10DDI_HDEPTHSTENCILSTATE, c));
        break;
    case D3D_RASTER:
        DDI(d, pfnDestroyRasterizerState, DRV(D3D10DDI_HRASTERIZERSTATE, c));
        break;
    case D3D_SAMPLER:
        DDI(d, pfnDestroySampler, DRV(D3D10DDI_HSAMPLER, c));
        break;
    case D3D_QUERY:
    case D3D_PREDICATE:
        DDI(d, pfnDestroyQuery, DRV(D3D10DDI_HQUERY, c));
        break;
    case D3D_LIST:
    case D3D_CONTEXT_STATE: /* the runtime's alone */
    case D3D_KINDS:
        break;
    }
}

static void end(struct d3d_child *c)
{
    struct d3d_child *of = c->of;
    struct d3d_device *kept = c->abroad ? c->device : NULL;

    if (c->self)
        *c->self = c->next;
    if (c->self && c->next)
        c->next->self = c->self;
    if (c->made)
        end_in_driver(c);
    if (c->keyed)
        D3DKMTDestroyKeyedMutex(&(D3DKMT_DESTROYKEYEDMUTEX){c->keyed});
    d3d_list_destroy(c->list);
    d3d_surface_canvas_end(c);
    if (c->saved)
        d3d_context_unbind(c->saved);
    free(c->saved);
    d3d_data_free(c->data);
    free(c->mapped);
    free(c->drv);
    free(c);
    if (of)
        d3d_child_bind(&of, NULL);
    if (kept)
        kept->vtbl->Release((ID3D11Device1 *)kept);
}

/* One reference of the program, or of the context: the last of both ends the object, and nobody finds it meanwhile (4). */
static LONG give_back(struct d3d_child *c, LONG *count, const LONG *others)
{
    bool state = c->kind >= D3D_BLEND && c->kind <= D3D_SAMPLER;
    pthread_mutex_t *lock = &c->device->states_lock;
    LONG left;

    if (state)
        pthread_mutex_lock(lock);
    left = __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL);
    if (!left && !*others)
        end(c);
    if (state)
        pthread_mutex_unlock(lock);
    return left;
}

struct d3d_child *d3d_state_find(struct d3d_device *d, enum d3d_kind kind, const void *desc, size_t size)
{
    for (struct d3d_child *c = d->states; c; c = c->next)
        if (c->kind == kind && !memcmp(&c->desc, desc, size)) {
            d3d_child_AddRef(c);
            return c;
        }
    return NULL;
}

void d3d_state_add(struct d3d_child *c)
{
    struct d3d_child **first = &c->device->states;

    c->next = *first;
    c->self = first;
    if (c->next)
        c->next->self = &c->next;
    *first = c;
}

HRESULT d3d_child_finish(struct d3d_child *c, void **out)
{
    bool made = !d3d_has_error(c->device); /* by the driver, also where the device is removed */
    HRESULT hr = d3d_take_error(c->device);

    c->made = made;
    if (hr != S_OK)
        d3d_child_release(c);
    else if (out)
        *out = c;
    return hr;
}

void d3d_child_bind(struct d3d_child **slot, struct d3d_child *c)
{
    struct d3d_child *old = *slot;

    if (c)
        __atomic_add_fetch(&c->bound, 1, __ATOMIC_RELAXED);
    *slot = c;
    if (old)
        give_back(old, &old->bound, &old->refs);
}

void d3d_child_abroad(struct d3d_child *c)
{
    if (!__atomic_exchange_n(&c->abroad, true, __ATOMIC_RELAXED))
        c->device->vtbl->AddRef((ID3D11Device1 *)c->device);
}

void d3d_child_release(struct d3d_child *c)
{
    d3d_child_Release(c);
}

HRESULT STDMETHODCALLTYPE d3d_child_QueryInterface(void *This, REFIID riid, void **out)
{
    struct d3d_child *c = This;

    if (!out)
        return E_POINTER;
    *out = NULL;
    for (int i = 0; i < 4 && kinds[c->kind].iids[i]; i++)
        if (IsEqualGUID(riid, kinds[c->kind].iids[i]))
            *out = c;
    if (IsEqualGUID(riid, &IID_IUnknown) || IsEqualGUID(riid, &IID_ID3D11DeviceChild))
        *out = c;
    if (!*out && d3d_is_resource(c))
        *out = d3d_surface_face(c, riid);
    if (!*out)
        *out = d10_face(c, riid);
    if (!*out)
        return E_NOINTERFACE;
    d3d_child_AddRef(c);
    return S_OK;
}

ULONG STDMETHODCALLTYPE d3d_child_AddRef(void *This)
{
    struct d3d_child *c = This;
    LONG refs = __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);

    child_check(c);
    if (refs == 1) /* the context had it alone */
        c->device->vtbl->AddRef((ID3D11Device1 *)c->device);
    return (ULONG)refs;
}

ULONG STDMETHODCALLTYPE d3d_child_Release(void *This)
{
    struct d3d_child *c = This;
    struct d3d_device *d = c->device;
    LONG refs;

    child_check(c);
    refs = give_back(c, &c->refs, &c->bound);
    if (!refs)
        d->vtbl->Release((ID3D11Device1 *)d);
    return (ULONG)refs;
}

void STDMETHODCALLTYPE d3d_child_GetDevice(void *This, ID3D11Device **out)
{
    struct d3d_child *c = This;

    *out = (ID3D11Device *)c->device;
    ID3D11Device_AddRef(*out);
}

/* ---- private data -------------------------------------------------------- */

static void data_end(struct d3d_data *n)
{
    if (n->object)
        IUnknown_Release(n->object);
    free(n);
}

/* `n` takes the place of what there is of its GUID; NULL: nothing does. */
static HRESULT data_put(struct d3d_data **list, REFGUID guid, struct d3d_data *n)
{
    struct d3d_data **p = list, *old;

    while (*p && !IsEqualGUID(&(*p)->guid, guid))
        p = &(*p)->next;
    old = *p;
    if (old) {
        *p = old->next;
        data_end(old);
    }
    if (n) {
        n->guid = *guid;
        n->next = *list;
        *list = n;
    }
    return old || n ? S_OK : S_FALSE;
}

HRESULT d3d_data_set(struct d3d_data **list, REFGUID guid, UINT size, const void *bytes)
{
    struct d3d_data *n = NULL;

    if (bytes) {
        n = calloc(1, sizeof(*n) + size);
        if (!n)
            return E_OUTOFMEMORY;
        n->size = size;
        memcpy(n->bytes, bytes, size);
    }
    return data_put(list, guid, n);
}

HRESULT d3d_data_set_interface(struct d3d_data **list, REFGUID guid, const IUnknown *object)
{
    struct d3d_data *n = calloc(1, sizeof(*n) + sizeof(object));

    if (!n)
        return E_OUTOFMEMORY;
    n->object = (IUnknown *)(uintptr_t)object;
    n->size = sizeof(object);
    memcpy(n->bytes, &object, sizeof(object));
    if (object)
        IUnknown_AddRef(n->object);
    return data_put(list, guid, n);
}

HRESULT d3d_data_get(const struct d3d_data *list, REFGUID guid, UINT *size, void *bytes)
{
    UINT room;

    if (!size)
        return E_INVALIDARG;
    room = *size;
    *size = 0;
    while (list && !IsEqualGUID(&list->guid, guid))
        list = list->next;
    if (!list)
        return DXGI_ERROR_NOT_FOUND;
    *size = list->size;
    if (!bytes)
        return S_OK;
    if (room < list->size)
        return DXGI_ERROR_MORE_DATA;
    if (list->object)
        IUnknown_AddRef(list->object);
    memcpy(bytes, list->bytes, list->size);
    return S_OK;
}

void d3d_data_free(struct d3d_data *list)
{
    for (struct d3d_data *next; list; list = next) {
        next = list->next;
        data_end(list);
    }
}

HRESULT STDMETHODCALLTYPE d3d_child_GetPrivateData(void *This, REFGUID guid, UINT *size, void *bytes)
{
    return d3d_data_get(((struct d3d_child *)This)->data, guid, size, bytes);
}

/* The driver's objects that a dump tells of. */
static bool has_name(enum d3d_kind k, D3DDDI_NAMED *what)
{
    *what = k <= D3D_TEXTURE3D ? D3DDDI_NAMED_RESOURCE
            : k <= D3D_UAV     ? D3DDDI_NAMED_VIEW
                               : D3DDDI_NAMED_SHADER;
    return k <= D3D_SHADER_CS;
}

static void tell_name(struct d3d_child *c, REFGUID guid, UINT size, const void *bytes)
{
    const D3DDDI_ANNOTATION_FUNCS *f = &c->device->adapter->annotate;
    D3DDDI_NAMED what;
    char name[256];

    if (!f->pfnName || !c->made || !has_name(c->kind, &what) ||
        !d3d_debug_name(guid, bytes, size, name, sizeof(name)))
        return;
    pthread_mutex_lock(&c->device->lock);
    f->pfnName(c->device->drv, c->drv, what, name);
    pthread_mutex_unlock(&c->device->lock);
}

HRESULT STDMETHODCALLTYPE d3d_child_SetPrivateData(void *This, REFGUID guid, UINT size, const void *bytes)
{
    tell_name(This, guid, size, bytes);
    return d3d_data_set(&((struct d3d_child *)This)->data, guid, size, bytes);
}

HRESULT STDMETHODCALLTYPE d3d_child_SetPrivateDataInterface(void *This, REFGUID guid, const IUnknown *object)
{
    return d3d_data_set_interface(&((struct d3d_child *)This)->data, guid, object);
}
