/* SPDX-License-Identifier: MIT */
/* query.c: queries. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

static DWORD size_of(D3DQUERYTYPE type)
{
    switch (type) {
    case D3DQUERYTYPE_EVENT:
    case D3DQUERYTYPE_TIMESTAMPDISJOINT:
        return sizeof(BOOL);
    case D3DQUERYTYPE_OCCLUSION:
        return sizeof(DWORD);
    default:
        return sizeof(UINT64);
    }
}

HRESULT d9_query_make(struct d9_query *q)
{
    D3DDDIARG_CREATEQUERY a = {.QueryType = (D3DDDIQUERYTYPE)q->type};
    HRESULT hr = DDI9(q->o.device, pfnCreateQuery, &a);

    q->o.drv = hr == S_OK ? a.hQuery : NULL;
    return hr;
}

HRESULT STDMETHODCALLTYPE d9_device_CreateQuery(IDirect3DDevice9Ex *This, D3DQUERYTYPE type,
                                                IDirect3DQuery9 **out)
{
    struct d9_device *d = d9_device_of(This);
    struct d9_query *q;
    bool there = false;
    HRESULT hr;

    for (UINT i = 0; i < d->factory->num_queries; i++)
        there |= d->factory->queries[i] == (UINT)type;
    if (!there)
        return D3DERR_NOTAVAILABLE;
    if (!out) /* whether there is such a thing */
        return D3D_OK;
    q = calloc(1, sizeof(*q));
    if (!q)
        return E_OUTOFMEMORY;
    d9_object_init(&q->o, d, D9_QUERY);
    q->type = type;
    hr = d9_query_make(q);
    if (hr != S_OK) {
        d9_object_release(q);
        return hr;
    }
    *out = (IDirect3DQuery9 *)q;
    return D3D_OK;
}

D3DQUERYTYPE STDMETHODCALLTYPE d9_query_GetType(IDirect3DQuery9 *This)
{
    return ((struct d9_query *)This)->type;
}

DWORD STDMETHODCALLTYPE d9_query_GetDataSize(IDirect3DQuery9 *This)
{
    return size_of(((struct d9_query *)This)->type);
}

HRESULT STDMETHODCALLTYPE d9_query_Issue(IDirect3DQuery9 *This, DWORD flags)
{
    struct d9_query *q = (struct d9_query *)This;
    D3DDDIARG_ISSUEQUERY a = {.hQuery = q->o.drv};

    if (q->type == D3DQUERYTYPE_TIMESTAMP) /* it has no beginning, and Windows does not mind */
        flags &= ~(DWORD)D3DISSUE_BEGIN;
    if (!flags && q->type == D3DQUERYTYPE_TIMESTAMP)
        return D3D_OK;
    if (!(flags & (D3DISSUE_BEGIN | D3DISSUE_END)) ||
        (flags & D3DISSUE_BEGIN && q->type != D3DQUERYTYPE_OCCLUSION &&
         q->type != D3DQUERYTYPE_TIMESTAMPDISJOINT))
        return D3DERR_INVALIDCALL;
    a.Flags.Begin = flags & D3DISSUE_BEGIN ? 1 : 0;
    a.Flags.End = flags & D3DISSUE_END ? 1 : 0;
    q->building = flags & D3DISSUE_BEGIN && !(flags & D3DISSUE_END);
    q->issued = true;
    if (q->o.drv)
        DDI9(q->o.device, pfnIssueQuery, &a);
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_query_GetData(IDirect3DQuery9 *This, void *data, DWORD size, DWORD flags)
{
    struct d9_query *q = (struct d9_query *)This;
    UINT64 value = 0;
    HRESULT hr;

    if (!data && size)
        return D3DERR_INVALIDCALL;
    if (q->building)
        return S_FALSE;
    if (!q->issued && q->type != D3DQUERYTYPE_EVENT) { /* what Windows answers of one that nobody issued */
        if (data)
            memset(data, 0xDD, size < size_of(q->type) ? size : size_of(q->type));
        return D3D_OK;
    }
    if (!q->o.drv || q->o.device->lost != S_OK)
        return q->o.device->ex ? q->o.device->lost : D3DERR_DEVICELOST;
    hr = DDI9(q->o.device, pfnGetQueryData, &(D3DDDIARG_GETQUERYDATA){.hQuery = q->o.drv, .pData = &value});
    if (hr == S_OK && data) /* where there is room for more than the answer, as drivers of Windows write it */
        memcpy(data, &value, size < sizeof(value) ? size : sizeof(value));
    return hr;
}
