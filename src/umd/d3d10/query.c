/* SPDX-License-Identifier: MIT */
/* query.c: queries and predication.
 *
 * Each has guest memory of its own. The submission that ends it uses that memory, so who may lock it knows that everything
 * before the end is done; what was counted lies at its beginning.
 */
#include "umd/d3d10/umd10.h"

#include "base/check.h"

static bool samples(D3D10DDI_QUERY kind)
{
    return kind == D3D10DDI_QUERY_OCCLUSION || kind == D3D10DDI_QUERY_OCCLUSIONPREDICATE;
}

/* Between a begin and an end. */
static bool counts(D3D10DDI_QUERY kind)
{
    return samples(kind) || kind == D3D10DDI_QUERY_PIPELINESTATS;
}

static SIZE_T APIENTRY query_size(D3D10DDI_HDEVICE h, CONST D3D10DDIARG_CREATEQUERY *a)
{
    return sizeof(struct umd10_query);
}

static VOID APIENTRY create_query(D3D10DDI_HDEVICE h, CONST D3D10DDIARG_CREATEQUERY *a, D3D10DDI_HQUERY hq,
                                  D3D10DDI_HRTQUERY rt)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_query *q = hq.pDrvPrivate;
    HRESULT hr = DXGI_DDI_ERR_UNSUPPORTED;

    *q = (struct umd10_query){.kind = a->Query, .marker = {.buffer = true, .size = 4096}};
    /* of what is streamed out there is nothing to count: no shader of this driver does */
    if (q->kind == D3D10DDI_QUERY_EVENT ||
        (q->kind <= D3D10DDI_QUERY_STREAMOVERFLOWPREDICATE &&
         d->adapter->info.device_features & AEROGPU_EXT_FEATURE(EXT_QUERIES)))
        hr = umd10_allocate(d, &q->marker, 0);
    if (hr != S_OK)
        umd10_error(d, hr);
}

static void stop(struct umd10_device *d, struct umd10_query *q)
{
    if (!q->self)
        return;
    umd10_room(d, 64);
    umd10_use(&q->marker, true);
    ABI_EMIT(&d->stream, EXT_END_QUERY, ext_end_query, .slot = q->slot);
    *q->self = q->next;
    if (q->next)
        q->next->self = q->self;
    q->self = NULL;
    d->slots &= ~(UINT64_C(1) << q->slot);
}

static VOID APIENTRY destroy_query(D3D10DDI_HDEVICE h, D3D10DDI_HQUERY hq)
{
    struct umd10_query *q = hq.pDrvPrivate;

    stop(umd10_device(h), q);
    umd10_deallocate(umd10_device(h), &q->marker);
}

static VOID APIENTRY begin_query(D3D10DDI_HDEVICE h, D3D10DDI_HQUERY hq)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_query *q = hq.pDrvPrivate;

    if (!counts(q->kind))
        return;
    stop(d, q); /* one that is begun again counts anew */
    if (d->slots == UINT64_MAX) {
        umd10_error(d, E_OUTOFMEMORY);
        return;
    }
    q->slot = (uint32_t)__builtin_ctzll(~d->slots);
    d->slots |= UINT64_C(1) << q->slot;
    q->next = d->counting;
    q->self = &d->counting;
    if (q->next)
        q->next->self = &q->next;
    d->counting = q;
    umd10_room(d, 64);
    umd10_use(&q->marker, true);
    ABI_EMIT(&d->stream, EXT_BEGIN_QUERY, ext_begin_query, .slot = q->slot,
             .kind = samples(q->kind) ? AEROGPU_QUERY_SAMPLES : AEROGPU_QUERY_STATISTICS,
             .alloc_id = q->marker.alloc_id);
}

static VOID APIENTRY end_query(D3D10DDI_HDEVICE h, D3D10DDI_HQUERY hq)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_query *q = hq.pDrvPrivate;

    if (counts(q->kind) && !q->self) /* an end without a begin: of nothing */
        begin_query(h, hq);
    stop(d, q);
    umd10_room(d, 64);
    umd10_use(&q->marker, true);
    if (q->kind == D3D10DDI_QUERY_TIMESTAMP)
        ABI_EMIT(&d->stream, EXT_WRITE_TIMESTAMP, ext_write_timestamp, .alloc_id = q->marker.alloc_id);
    else
        ABI_EMIT(&d->stream, FLUSH, flush, .reserved0 = 0);
    umd10_flush(d);
    q->issued = true;
}

/* The first bytes of the query's memory, when its end is done. */
static HRESULT result(struct umd10_device *d, struct umd10_query *q, bool wait, void *out, size_t size)
{
    D3DDDICB_LOCK l = {.hAllocation = q->marker.allocation};
    HRESULT hr;

    l.Flags.DonotWait = !wait;
    hr = d->kt->pfnLockCb(d->runtime.handle, &l);
    if (hr != S_OK)
        return hr == D3DERR_WASSTILLDRAWING ? DXGI_DDI_ERR_WASSTILLDRAWING : hr;
    memcpy(out, l.pData, size);
    d->kt->pfnUnlockCb(d->runtime.handle, &(D3DDDICB_UNLOCK){1, &q->marker.allocation});
    return S_OK;
}

static VOID APIENTRY query_data(D3D10DDI_HDEVICE h, D3D10DDI_HQUERY hq, VOID *data, UINT size, UINT flags)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_query *q = hq.pDrvPrivate;
    struct { /* as D3D11_QUERY_DATA_TIMESTAMP_DISJOINT */
        uint64_t frequency;
        BOOL disjoint;
    } clock = {1000000000, FALSE};
    uint64_t words[AEROGPU_QUERY_STATISTICS_WORDS];
    BOOL yes = TRUE;
    const void *from = words;
    size_t has = sizeof(words);
    HRESULT hr = result(d, q, false, words, sizeof(words));

    if (hr != S_OK) {
        umd10_error(d, hr);
        return;
    }
    if (q->kind == D3D10DDI_QUERY_EVENT || q->kind == D3D10DDI_QUERY_OCCLUSIONPREDICATE) {
        yes = q->kind == D3D10DDI_QUERY_EVENT || words[0] != 0;
        from = &yes;
        has = sizeof(yes);
    } else if (q->kind == D3D10DDI_QUERY_TIMESTAMPDISJOINT) {
        from = &clock;
        has = sizeof(clock);
    }
    if (data)
        memcpy(data, from, size < has ? size : has);
}

/* The processor waits for what the query says: the device has no predicates. */
static VOID APIENTRY set_predication(D3D10DDI_HDEVICE h, D3D10DDI_HQUERY hq, BOOL value)
{
    struct umd10_device *d = umd10_device(h);
    struct umd10_query *q = hq.pDrvPrivate;
    uint64_t count = 0;

    d->dropped = false;
    if (q && q->issued && !q->self && result(d, q, true, &count, sizeof(count)) == S_OK)
        d->dropped = (count != 0) == (value != 0);
}

void umd10_query_functions(D3D11DDI_DEVICEFUNCS *f)
{
    f->pfnCalcPrivateQuerySize = query_size;
    f->pfnCreateQuery = create_query;
    f->pfnDestroyQuery = destroy_query;
    f->pfnQueryBegin = begin_query;
    f->pfnQueryEnd = end_query;
    f->pfnQueryGetData = query_data;
    f->pfnSetPredication = set_predication;
}
