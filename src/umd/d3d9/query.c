/* SPDX-License-Identifier: MIT */
/* query.c: queries of events, and presenting. */
#include <stdlib.h>

#include "umd/d3d9/umd9.h"

static HRESULT APIENTRY create_query(HANDLE h, D3DDDIARG_CREATEQUERY *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_query *q;
    HRESULT hr;

    if (a->QueryType != D3DDDIQUERYTYPE_EVENT)
        return D3DDDIERR_NOTAVAILABLE;
    q = calloc(1, sizeof(*q));
    if (!q)
        return E_OUTOFMEMORY;
    q->type = a->QueryType;
    hr = umd9_alloc_create(d, &q->marker, 4096, NULL, 0);
    if (hr != S_OK) {
        free(q);
        return hr;
    }
    a->hQuery = q;
    return S_OK;
}

static HRESULT APIENTRY destroy_query(HANDLE h, HANDLE query)
{
    struct umd9_query *q = query;

    umd9_alloc_destroy(umd9_device(h), q->marker);
    free(q);
    return S_OK;
}

static HRESULT APIENTRY issue_query(HANDLE h, CONST D3DDDIARG_ISSUEQUERY *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_query *q = a->hQuery;

    if (!a->Flags.End)
        return umd9_state(d);
    umd9_room(d, 64);
    /* the submission that has it in its list is done when everything before it is */
    umd9_alloc_use(q->marker, true);
    ABI_EMIT(&d->stream, FLUSH, flush, .reserved0 = 0);
    umd9_flush(d);
    q->issued = true;
    return umd9_state(d);
}

static HRESULT APIENTRY get_query_data(HANDLE h, CONST D3DDDIARG_GETQUERYDATA *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_query *q = a->hQuery;
    void *memory;
    HRESULT hr = umd9_state(d);

    if (hr == S_OK && q->issued) {
        hr = umd9_alloc_lock(d, q->marker, false, &memory);
        if (hr == D3DERR_WASSTILLDRAWING)
            return S_FALSE;
        if (hr == S_OK)
            umd9_alloc_unlock(d, q->marker);
    }
    if (hr == S_OK && a->pData)
        *(BOOL *)a->pData = TRUE;
    return hr;
}

static HRESULT APIENTRY present(HANDLE h, CONST D3DDDIARG_PRESENT *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_resource *src = a->hSrcResource, *dst = a->hDstResource;
    D3DDDICB_PRESENT p = {.hContext = d->context};

    if (!src || (a->Flags.Blt && !dst) || (a->Flags.Flip && !src->alloc))
        return E_INVALIDARG;
    if (a->Flags.Blt) {
        const struct umd9_surface *s = &src->surfaces[a->SrcSubResourceIndex];
        const RECT all = {0, 0, (LONG)s->width, (LONG)s->height};

        umd9_copy(d, dst, a->DstSubResourceIndex, 0, 0, src, a->SrcSubResourceIndex, &all);
    }
    umd9_flush(d);
    if (!a->Flags.Flip || d->removed)
        return umd9_state(d);
    p.hSrcAllocation = src->alloc->handle;
    return d->kt->pfnPresentCb(d->runtime, &p);
}

void umd9_query_functions(D3DDDI_DEVICEFUNCS *f)
{
    f->pfnCreateQuery = create_query;
    f->pfnDestroyQuery = destroy_query;
    f->pfnIssueQuery = issue_query;
    f->pfnGetQueryData = get_query_data;
    f->pfnPresent = present;
}
