/* SPDX-License-Identifier: MIT */
/* query.c: queries of events, samples and times; and presenting.
 *
 * Each has guest memory of its own. The submission that ends it uses that memory, so who may lock it knows that everything before the
 * end is done; what was counted lies at its beginning. */
#include <stdlib.h>

#include "umd/d3d9/umd9.h"

static HRESULT APIENTRY create_query(HANDLE h, D3DDDIARG_CREATEQUERY *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_query *q;
    HRESULT hr;

    if (a->QueryType != D3DDDIQUERYTYPE_EVENT &&
        (a->QueryType < D3DDDIQUERYTYPE_OCCLUSION || a->QueryType > D3DDDIQUERYTYPE_TIMESTAMPFREQ ||
         !(d->info.device_features & AEROGPU_EXT_FEATURE(EXT_QUERIES))))
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

static void stop(struct umd9_device *d, struct umd9_query *q)
{
    if (!q->counting)
        return;
    umd9_room(d, 64);
    umd9_alloc_use(q->marker, true);
    ABI_EMIT(&d->stream, EXT_END_QUERY, ext_end_query, .slot = q->slot);
    d->query_slots &= ~(UINT64_C(1) << q->slot);
    q->marker->counting = 0;
    q->counting = false;
}

/* One that begins again counts anew. */
static HRESULT start(struct umd9_device *d, struct umd9_query *q)
{
    stop(d, q);
    if (d->query_slots == UINT64_MAX)
        return E_OUTOFMEMORY;
    q->slot = (uint32_t)__builtin_ctzll(~d->query_slots);
    d->query_slots |= UINT64_C(1) << q->slot;
    q->counting = true;
    umd9_room(d, 64);
    q->marker->counting = 1;
    ABI_EMIT(&d->stream, EXT_BEGIN_QUERY, ext_begin_query, .slot = q->slot, .kind = AEROGPU_QUERY_SAMPLES,
             .alloc_id = q->marker->id);
    return umd9_state(d);
}

static HRESULT APIENTRY destroy_query(HANDLE h, HANDLE query)
{
    struct umd9_query *q = query;

    stop(umd9_device(h), q);
    umd9_alloc_destroy(umd9_device(h), q->marker);
    free(q);
    return S_OK;
}

static HRESULT APIENTRY issue_query(HANDLE h, CONST D3DDDIARG_ISSUEQUERY *a)
{
    struct umd9_device *d = umd9_device(h);
    struct umd9_query *q = a->hQuery;
    HRESULT hr = S_OK;

    if (q->type == D3DDDIQUERYTYPE_OCCLUSION && (a->Flags.Begin || !q->counting))
        hr = start(d, q); /* an end without a begin: of nothing */
    if (!a->Flags.End || hr != S_OK)
        return hr == S_OK ? umd9_state(d) : hr;
    stop(d, q);
    umd9_room(d, 64);
    /* the submission that has it in its list is done when everything before it is */
    umd9_alloc_use(q->marker, true);
    if (q->type == D3DDDIQUERYTYPE_TIMESTAMP)
        ABI_EMIT(&d->stream, EXT_WRITE_TIMESTAMP, ext_write_timestamp, .alloc_id = q->marker->id);
    else
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
    UINT64 value = 0;
    HRESULT hr = umd9_state(d);

    if (hr == S_OK && q->issued) {
        hr = umd9_alloc_lock(d, q->marker, false, &memory);
        if (hr == D3DERR_WASSTILLDRAWING)
            return S_FALSE;
        if (hr == S_OK) {
            memcpy(&value, memory, sizeof(value));
            umd9_alloc_unlock(d, q->marker);
        }
    }
    if (hr != S_OK || !a->pData)
        return hr;
    if (q->type == D3DDDIQUERYTYPE_EVENT)
        *(BOOL *)a->pData = TRUE;
    else if (q->type == D3DDDIQUERYTYPE_TIMESTAMPDISJOINT)
        *(BOOL *)a->pData = FALSE;
    else if (q->type == D3DDDIQUERYTYPE_OCCLUSION)
        *(UINT *)a->pData = value > UINT32_MAX ? UINT32_MAX : (UINT)value;
    else /* the device's clock counts nanoseconds */
        *(UINT64 *)a->pData = q->type == D3DDDIQUERYTYPE_TIMESTAMP ? value : 1000000000;
    return S_OK;
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
