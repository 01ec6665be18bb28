/* SPDX-License-Identifier: MIT */
/* bind.c: shaders, their constants, declarations, streams and indices, as they are bound. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/stateblock.h"

static HANDLE drv(const void *object)
{
    return object ? ((const struct d9_object *)object)->drv : NULL;
}

/* ---- shaders and declarations ------------------------------------------------------- */

HRESULT STDMETHODCALLTYPE d9_device_SetVertexShader(IDirect3DDevice9Ex *This, IDirect3DVertexShader9 *shader)
{
    struct d9_device *d = d9_device_of(This);

    d9_object_bind(&d9_into(d)->vs, shader);
    if (!D9_RECORDS(d, vs))
        DDI9(d, pfnSetVertexShaderFunc, drv(shader));
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_SetPixelShader(IDirect3DDevice9Ex *This, IDirect3DPixelShader9 *shader)
{
    struct d9_device *d = d9_device_of(This);

    d9_object_bind(&d9_into(d)->ps, shader);
    if (!D9_RECORDS(d, ps))
        DDI9(d, pfnSetPixelShader, drv(shader));
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetVertexShader(IDirect3DDevice9Ex *This, IDirect3DVertexShader9 **out)
{
    if (!out)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DVertexShader9 *)d9_device_of(This)->state.vs;
    if (*out)
        IDirect3DVertexShader9_AddRef(*out);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetPixelShader(IDirect3DDevice9Ex *This, IDirect3DPixelShader9 **out)
{
    if (!out)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DPixelShader9 *)d9_device_of(This)->state.ps;
    if (*out)
        IDirect3DPixelShader9_AddRef(*out);
    return D3D_OK;
}

static void set_decl(struct d9_device *d, struct d9_decl *decl)
{
    d9_object_bind(&d9_into(d)->decl, decl);
    if (!D9_RECORDS(d, decl))
        DDI9(d, pfnSetVertexShaderDecl, drv(decl));
}

HRESULT STDMETHODCALLTYPE d9_device_SetVertexDeclaration(IDirect3DDevice9Ex *This,
                                                         IDirect3DVertexDeclaration9 *decl)
{
    set_decl(d9_device_of(This), (struct d9_decl *)decl);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetVertexDeclaration(IDirect3DDevice9Ex *This,
                                                         IDirect3DVertexDeclaration9 **out)
{
    if (!out)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DVertexDeclaration9 *)d9_device_of(This)->state.decl;
    if (*out)
        IDirect3DVertexDeclaration9_AddRef(*out);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_SetFVF(IDirect3DDevice9Ex *This, DWORD fvf)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_decl *decl;
    HRESULT hr;

    if (!fvf)
        return D3D_OK;
    hr = d9_fvf_decl(d, fvf, &decl);
    if (hr == D3D_OK)
        set_decl(d, decl);
    return hr;
}

HRESULT STDMETHODCALLTYPE d9_device_GetFVF(IDirect3DDevice9Ex *This, DWORD *fvf)
{
    const struct d9_decl *decl = d9_device_of(This)->state.decl;

    if (!fvf)
        return D3DERR_INVALIDCALL;
    *fvf = !decl ? 0 : decl->fvf ? decl->fvf : d9_decl_fvf(decl);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE set_hardware_constants(IDirect3DDevice9Ex *This, UINT first, const float *values,
                                                 UINT count);
HRESULT STDMETHODCALLTYPE get_hardware_constants(IDirect3DDevice9Ex *This, UINT first, float *values,
                                                 UINT count);

/* ---- constants -------------------------------------------------------------------------- */

#define SET(name, stage, file, type, most, slot)                                                             \
    HRESULT STDMETHODCALLTYPE name(IDirect3DDevice9Ex *This, UINT first, const type *values, UINT count)     \
    {                                                                                                        \
        struct d9_device *d = d9_device_of(This);                                                            \
                                                                                                             \
        if (!values || first > (most) || count > (most)-first)                                               \
            return D3DERR_INVALIDCALL;                                                                       \
        memcpy(&d9_into(d)->stage##c.file[first], values, count * sizeof(d->state.stage##c.file[0]));        \
        if (d->recording)                                                                                    \
            memset(&d->recording->mask.stage##_##file[first], 1, count);                                     \
        else if (count)                                                                                      \
            DDI9(d, slot, &(D3DDDIARG_SETVERTEXSHADERCONST){first, count}, (const void *)values);            \
        return D3D_OK;                                                                                       \
    }
#define GET(name, stage, file, type, most)                                                                   \
    HRESULT STDMETHODCALLTYPE name(IDirect3DDevice9Ex *This, UINT first, type *values, UINT count)           \
    {                                                                                                        \
        struct d9_device *d = d9_device_of(This);                                                            \
                                                                                                             \
        if (!values || first > (most) || count > (most)-first)                                               \
            return D3DERR_INVALIDCALL;                                                                       \
        memcpy(values, &d->state.stage##c.file[first], count * sizeof(d->state.stage##c.file[0]));           \
        return D3D_OK;                                                                                       \
    }
SET(set_hardware_constants, vs, f, float, 256, pfnSetVertexShaderConst)
SET(d9_device_SetVertexShaderConstantI, vs, i, int, 16, pfnSetVertexShaderConstI)
SET(d9_device_SetVertexShaderConstantB, vs, b, BOOL, 16, pfnSetVertexShaderConstB)
SET(d9_device_SetPixelShaderConstantF, ps, f, float, 224, pfnSetPixelShaderConst)
SET(d9_device_SetPixelShaderConstantI, ps, i, int, 16, pfnSetPixelShaderConstI)
SET(d9_device_SetPixelShaderConstantB, ps, b, BOOL, 16, pfnSetPixelShaderConstB)
GET(get_hardware_constants, vs, f, float, 256)
GET(d9_device_GetVertexShaderConstantI, vs, i, int, 16)
GET(d9_device_GetVertexShaderConstantB, vs, b, BOOL, 16)
GET(d9_device_GetPixelShaderConstantF, ps, f, float, 224)
GET(d9_device_GetPixelShaderConstantI, ps, i, int, 16)
GET(d9_device_GetPixelShaderConstantB, ps, b, BOOL, 16)

/* Vertices that are processed in software have 8192; what is behind the hardware's is kept, and no shader here can name it. */
static UINT constants_of(const struct d9_device *d)
{
    return d->creation.BehaviorFlags &
                   (D3DCREATE_SOFTWARE_VERTEXPROCESSING | D3DCREATE_MIXED_VERTEXPROCESSING)
               ? D9_SOFTWARE_CONSTANTS
               : 256;
}

HRESULT STDMETHODCALLTYPE d9_device_SetVertexShaderConstantF(IDirect3DDevice9Ex *This, UINT first,
                                                             const float *values, UINT count)
{
    struct d9_device *d = d9_device_of(This);
    UINT most = constants_of(d), in = first < 256 ? 256 - first : 0;

    if (!values || first > most || count > most - first)
        return D3DERR_INVALIDCALL;
    in = in < count ? in : count;
    if (in < count && !d->more_constants)
        d->more_constants = calloc(D9_SOFTWARE_CONSTANTS - 256, sizeof(d->more_constants[0]));
    if (in < count && !d->more_constants)
        return E_OUTOFMEMORY;
    if (in < count)
        memcpy(d->more_constants[first + in - 256], values + 4 * (size_t)in, 16 * (size_t)(count - in));
    return in ? set_hardware_constants(This, first, values, in) : D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetVertexShaderConstantF(IDirect3DDevice9Ex *This, UINT first,
                                                             float *values, UINT count)
{
    struct d9_device *d = d9_device_of(This);
    UINT most = constants_of(d), in = first < 256 ? 256 - first : 0;

    if (!values || first > most || count > most - first)
        return D3DERR_INVALIDCALL;
    in = in < count ? in : count;
    if (in)
        get_hardware_constants(This, first, values, in);
    if (in < count && d->more_constants)
        memcpy(values + 4 * (size_t)in, d->more_constants[first + in - 256], 16 * (size_t)(count - in));
    else if (in < count)
        memset(values + 4 * (size_t)in, 0, 16 * (size_t)(count - in));
    return D3D_OK;
}

/* ---- streams and indices ------------------------------------------------------------------ */

static void send_stream(struct d9_device *d, UINT i)
{
    const struct d9_stream *s = &d->state.streams[i];

    DDI9(d, pfnSetStreamSource, &(D3DDDIARG_SETSTREAMSOURCE){i, drv(s->buffer), s->offset, s->stride});
}

static void send_indices(struct d9_device *d)
{
    struct d9_resource *r = d->state.indices;

    DDI9(d, pfnSetIndices, &(D3DDDIARG_SETINDICES){drv(r), r && r->format == D3DFMT_INDEX32 ? 4 : 2});
}

HRESULT STDMETHODCALLTYPE d9_device_SetStreamSource(IDirect3DDevice9Ex *This, UINT stream,
                                                    IDirect3DVertexBuffer9 *buffer, UINT offset, UINT stride)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_stream *s;

    if (stream >= D9_STREAMS || offset & 3)
        return D3DERR_INVALIDCALL;
    s = &d9_into(d)->streams[stream];
    d9_object_bind(&s->buffer, buffer);
    if (buffer) { /* what was there stays when nothing is bound */
        s->offset = offset;
        s->stride = stride;
    }
    if (!D9_RECORDS(d, streams[stream]))
        send_stream(d, stream);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetStreamSource(IDirect3DDevice9Ex *This, UINT stream,
                                                    IDirect3DVertexBuffer9 **out, UINT *offset, UINT *stride)
{
    const struct d9_stream *s;

    if (!out || !offset || !stride || stream >= D9_STREAMS)
        return D3DERR_INVALIDCALL;
    s = &d9_device_of(This)->state.streams[stream];
    *out = (IDirect3DVertexBuffer9 *)s->buffer;
    *offset = s->offset;
    *stride = s->stride;
    if (*out)
        IDirect3DVertexBuffer9_AddRef(*out);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_SetStreamSourceFreq(IDirect3DDevice9Ex *This, UINT stream, UINT frequency)
{
    struct d9_device *d = d9_device_of(This);
    bool indexed = frequency & D3DSTREAMSOURCE_INDEXEDDATA,
         instanced = frequency & D3DSTREAMSOURCE_INSTANCEDATA;

    if (stream >= D9_STREAMS || !frequency || (indexed && instanced) || (instanced && !stream))
        return D3DERR_INVALIDCALL;
    d9_into(d)->streams[stream].frequency = frequency;
    if (!D9_RECORDS(d, frequencies[stream]))
        DDI9(d, pfnSetStreamSourceFreq, &(D3DDDIARG_SETSTREAMSOURCEFREQ){stream, frequency});
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetStreamSourceFreq(IDirect3DDevice9Ex *This, UINT stream,
                                                        UINT *frequency)
{
    if (!frequency || stream >= D9_STREAMS)
        return D3DERR_INVALIDCALL;
    *frequency = d9_device_of(This)->state.streams[stream].frequency;
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_SetIndices(IDirect3DDevice9Ex *This, IDirect3DIndexBuffer9 *buffer)
{
    struct d9_device *d = d9_device_of(This);

    d9_object_bind(&d9_into(d)->indices, buffer);
    if (!D9_RECORDS(d, indices))
        send_indices(d);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_GetIndices(IDirect3DDevice9Ex *This, IDirect3DIndexBuffer9 **out)
{
    if (!out)
        return D3DERR_INVALIDCALL;
    *out = (IDirect3DIndexBuffer9 *)d9_device_of(This)->state.indices;
    if (*out)
        IDirect3DIndexBuffer9_AddRef(*out);
    return D3D_OK;
}

void d9_bind_send(struct d9_device *d)
{
    struct d9_state *s = &d->state;

    DDI9(d, pfnSetVertexShaderFunc, drv(s->vs));
    DDI9(d, pfnSetPixelShader, drv(s->ps));
    DDI9(d, pfnSetVertexShaderDecl, drv(s->decl));
    for (UINT i = 0; i < D9_STREAMS; i++) {
        send_stream(d, i);
        DDI9(d, pfnSetStreamSourceFreq, &(D3DDDIARG_SETSTREAMSOURCEFREQ){i, s->streams[i].frequency});
    }
    send_indices(d);
    DDI9(d, pfnSetVertexShaderConst, &(D3DDDIARG_SETVERTEXSHADERCONST){0, 256}, (const void *)s->vsc.f);
    DDI9(d, pfnSetVertexShaderConstI, &(D3DDDIARG_SETVERTEXSHADERCONSTI){0, 16}, &s->vsc.i[0][0]);
    DDI9(d, pfnSetVertexShaderConstB, &(D3DDDIARG_SETVERTEXSHADERCONSTB){0, 16}, s->vsc.b);
    DDI9(d, pfnSetPixelShaderConst, &(D3DDDIARG_SETPIXELSHADERCONST){0, 224}, &s->psc.f[0][0]);
    DDI9(d, pfnSetPixelShaderConstI, &(D3DDDIARG_SETPIXELSHADERCONSTI){0, 16}, &s->psc.i[0][0]);
    DDI9(d, pfnSetPixelShaderConstB, &(D3DDDIARG_SETPIXELSHADERCONSTB){0, 16}, s->psc.b);
}
