/* SPDX-License-Identifier: MIT */
/* object.c: what all objects of a device have: references, private data, an end; and their other life in the driver. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/stateblock.h"

#include "base/check.h"

static const struct {
    const void *vtbl;
    const GUID *iids[3];
} kinds[D9_KINDS] = {
    [D9_VB] = {&d9_vb_vtbl, {&IID_IDirect3DVertexBuffer9, &IID_IDirect3DResource9}},
    [D9_IB] = {&d9_ib_vtbl, {&IID_IDirect3DIndexBuffer9, &IID_IDirect3DResource9}},
    [D9_TEXTURE] = {&d9_texture_vtbl,
                    {&IID_IDirect3DTexture9, &IID_IDirect3DBaseTexture9, &IID_IDirect3DResource9}},
    [D9_CUBE] = {&d9_cube_vtbl,
                 {&IID_IDirect3DCubeTexture9, &IID_IDirect3DBaseTexture9, &IID_IDirect3DResource9}},
    [D9_VOLUMES] = {&d9_volumes_vtbl,
                    {&IID_IDirect3DVolumeTexture9, &IID_IDirect3DBaseTexture9, &IID_IDirect3DResource9}},
    [D9_SURFACE] = {&d9_surface_vtbl, {NULL}}, /* its one surface is what programs see */
    [D9_VS] = {&d9_vs_vtbl, {&IID_IDirect3DVertexShader9}},
    [D9_PS] = {&d9_ps_vtbl, {&IID_IDirect3DPixelShader9}},
    [D9_DECL] = {&d9_decl_vtbl, {&IID_IDirect3DVertexDeclaration9}},
    [D9_QUERY] = {&d9_query_vtbl, {&IID_IDirect3DQuery9}},
    [D9_BLOCK] = {&d9_block_vtbl, {&IID_IDirect3DStateBlock9}},
};

static void object_check(const struct d9_object *o)
{
    INVARIANT(o->kind < D9_KINDS && o->vtbl == kinds[o->kind].vtbl);
    INVARIANT(o->device && o->refs >= 0 && o->bound >= 0 && *o->self == o);
}

void d9_object_init(struct d9_object *o, struct d9_device *d, enum d9_kind kind)
{
    *o = (struct d9_object){.vtbl = kinds[kind].vtbl,
                            .refs = 1,
                            .device = d,
                            .kind = kind,
                            .next = d->objects,
                            .self = &d->objects};
    if (o->next)
        o->next->self = &o->next;
    d->objects = o;
    d->vtbl->AddRef((IDirect3DDevice9Ex *)d);
    object_check(o);
}

HRESULT d9_object_make(struct d9_object *o)
{
    switch (o->kind) {
    case D9_VB:
    case D9_IB:
    case D9_TEXTURE:
    case D9_CUBE:
    case D9_VOLUMES:
    case D9_SURFACE:
        return d9_resource_make((struct d9_resource *)o);
    case D9_VS:
    case D9_PS:
        return d9_shader_make((struct d9_shader *)o);
    case D9_DECL:
        return d9_decl_make((struct d9_decl *)o);
    case D9_QUERY:
        return d9_query_make((struct d9_query *)o);
    default:
        return S_OK;
    }
}

void d9_object_unmake(struct d9_object *o)
{
    HANDLE drv = o->drv;

    o->drv = NULL;
    switch (o->kind) {
    case D9_VB:
    case D9_IB:
    case D9_TEXTURE:
    case D9_CUBE:
    case D9_VOLUMES:
    case D9_SURFACE: {
        struct d9_resource *r = (struct d9_resource *)o;
        if (drv)
            DDI9_END(o->device, pfnDestroyResource, drv);
        if (r->sys)
            DDI9_END(o->device, pfnDestroyResource, r->sys);
        if (r->twin)
            DDI9_END(o->device, pfnDestroyResource, r->twin);
        r->sys = r->twin = NULL;
        break;
    }
    case D9_VS:
        if (drv)
            DDI9_END(o->device, pfnDeleteVertexShaderFunc, drv);
        break;
    case D9_PS:
        if (drv)
            DDI9_END(o->device, pfnDeletePixelShader, drv);
        break;
    case D9_DECL:
        if (drv)
            DDI9_END(o->device, pfnDeleteVertexShaderDecl, drv);
        break;
    case D9_QUERY:
        if (drv)
            DDI9_END(o->device, pfnDestroyQuery, drv);
        break;
    default:
        break;
    }
}

static void end(struct d9_object *o)
{
    d9_object_unmake(o);
    *o->self = o->next;
    if (o->next)
        o->next->self = o->self;
    if (o->kind <= D9_SURFACE)
        d9_resource_finish((struct d9_resource *)o);
    if (o->kind == D9_BLOCK)
        d9_state_release(&((struct d9_block *)o)->state);
    d9_data_free(o->data);
    free(o);
}

void d9_object_bind(void *slot, void *object)
{
    struct d9_object **at = slot, *o = object, *old = *at;

    if (o)
        __atomic_add_fetch(&o->bound, 1, __ATOMIC_RELAXED);
    *at = o;
    if (old && !__atomic_sub_fetch(&old->bound, 1, __ATOMIC_ACQ_REL) && !old->refs)
        end(old);
}

void d9_object_release(void *object)
{
    if (object)
        d9_object_Release(object);
}

HRESULT STDMETHODCALLTYPE d9_object_QueryInterface(void *This, REFIID riid, void **out)
{
    struct d9_object *o = This;

    if (!out)
        return E_POINTER;
    *out = NULL;
    for (int i = 0; i < 3 && kinds[o->kind].iids[i]; i++)
        if (IsEqualGUID(riid, kinds[o->kind].iids[i]))
            *out = o;
    if (IsEqualGUID(riid, &IID_IUnknown))
        *out = o;
    if (!*out)
        return E_NOINTERFACE;
    d9_object_AddRef(o);
    return S_OK;
}

ULONG STDMETHODCALLTYPE d9_object_AddRef(void *This)
{
    struct d9_object *o = This;
    LONG refs = __atomic_add_fetch(&o->refs, 1, __ATOMIC_RELAXED);

    object_check(o);
    if (refs == 1) /* the device had it alone */
        o->device->vtbl->AddRef((IDirect3DDevice9Ex *)o->device);
    return (ULONG)refs;
}

ULONG STDMETHODCALLTYPE d9_object_Release(void *This)
{
    struct d9_object *o = This;
    struct d9_device *d = o->device;
    LONG refs;

    pthread_mutex_lock(&d->lock);
    object_check(o);
    if (!o->refs) { /* one too many: the device's own reference stays */
        pthread_mutex_unlock(&d->lock);
        return 0;
    }
    refs = __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL);
    if (!refs && !o->bound)
        end(o);
    pthread_mutex_unlock(&d->lock);
    if (!refs)
        d->vtbl->Release((IDirect3DDevice9Ex *)d);
    return (ULONG)refs;
}

HRESULT STDMETHODCALLTYPE d9_object_GetDevice(void *This, IDirect3DDevice9 **out)
{
    struct d9_object *o = This;

    if (!out)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DDevice9 *)o->device;
    IDirect3DDevice9_AddRef(*out);
    return D3D_OK;
}

/* ---- private data ----------------------------------------------------------------- */

HRESULT d9_data_drop(struct d9_data **list, REFGUID guid)
{
    for (struct d9_data **p = list, *n; *p; p = &(*p)->next)
        if (IsEqualGUID(&(*p)->guid, guid)) {
            n = *p;
            *p = n->next;
            n->next = NULL;
            d9_data_free(n);
            return D3D_OK;
        }
    return D3DERR_NOTFOUND;
}

HRESULT d9_data_set(struct d9_data **list, REFGUID guid, const void *bytes, DWORD size, DWORD flags)
{
    bool unknown = flags & D3DSPD_IUNKNOWN;
    struct d9_data *n;

    if (unknown && size != sizeof(IUnknown *))
        return D3DERR_INVALIDCALL;
    n = malloc(sizeof(*n) + size);
    if (!n)
        return E_OUTOFMEMORY;
    *n = (struct d9_data){.guid = *guid, .size = size, .unknown = unknown};
    if (unknown) {
        memcpy(n->bytes, &bytes, sizeof(bytes));
        IUnknown_AddRef((IUnknown *)(uintptr_t)bytes);
    } else {
        memcpy(n->bytes, bytes, size);
    }
    d9_data_drop(list, guid);
    n->next = *list;
    *list = n;
    return D3D_OK;
}

HRESULT d9_data_get(const struct d9_data *list, REFGUID guid, void *bytes, DWORD *size)
{
    DWORD room;

    while (list && !IsEqualGUID(&list->guid, guid))
        list = list->next;
    if (!list)
        return D3DERR_NOTFOUND;
    if (!size)
        return D3DERR_INVALIDCALL;
    room = *size;
    *size = list->size;
    if (!bytes)
        return D3D_OK;
    if (room < list->size)
        return D3DERR_MOREDATA;
    memcpy(bytes, list->bytes, list->size);
    if (list->unknown)
        IUnknown_AddRef(*(IUnknown **)bytes);
    return D3D_OK;
}

void d9_data_free(struct d9_data *list)
{
    for (struct d9_data *next; list; list = next) {
        IUnknown *u;

        next = list->next;
        if (list->unknown) {
            memcpy(&u, list->bytes, sizeof(u));
            IUnknown_Release(u);
        }
        free(list);
    }
}

HRESULT STDMETHODCALLTYPE d9_resource_SetPrivateData(void *This, REFGUID guid, const void *data, DWORD size,
                                                     DWORD flags)
{
    struct d9_object *o = This;
    const D3DDDI_ANNOTATION_FUNCS9 *f = &o->device->factory->annotate;
    char name[256];

    if (f->pfnName && !(flags & D3DSPD_IUNKNOWN) && d3d_debug_name(guid, data, size, name, sizeof(name))) {
        pthread_mutex_lock(&o->device->lock);
        if (o->device->lost == S_OK && o->device->drv && o->drv)
            f->pfnName(o->device->drv, o->drv, name);
        pthread_mutex_unlock(&o->device->lock);
    }
    return d9_data_set(&((struct d9_object *)This)->data, guid, data, size, flags);
}

HRESULT STDMETHODCALLTYPE d9_resource_GetPrivateData(void *This, REFGUID guid, void *data, DWORD *size)
{
    return d9_data_get(((struct d9_object *)This)->data, guid, data, size);
}

HRESULT STDMETHODCALLTYPE d9_resource_FreePrivateData(void *This, REFGUID guid)
{
    return d9_data_drop(&((struct d9_object *)This)->data, guid);
}
