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

/* The stream whose output it counts; -1: none. Two for each stream follow those of stream 0 (D3D11_QUERY). */
static int stream_of(D3D10DDI_QUERY kind)
{
    enum { SECOND = 8, LAST = 15 };

    if (kind == D3D10DDI_QUERY_STREAMOUTPUTSTATS || kind == D3D10DDI_QUERY_STREAMOVERFLOWPREDICATE)
        return 0;
    return (int)kind >= SECOND && (int)kind <= LAST ? ((int)kind - SECOND) / 2 : -1;
}

/* Whether it says that there was no room, instead of how much. */
static bool overflows(D3D10DDI_QUERY kind)
{
    return stream_of(kind) >= 0 && kind & 1;
}

static uint32_t kind_of(D3D10DDI_QUERY kind)
{
    return samples(kind)          ? AEROGPU_QUERY_SAMPLES
           : stream_of(kind) >= 0 ? AEROGPU_QUERY_STREAM + (uint32_t)stream_of(kind)
                                  : AEROGPU_QUERY_STATISTICS;
}

/* Between a begin and an end. */
static bool counts(D3D10DDI_QUERY kind)
{
    return samples(kind) || kind == D3D10DDI_QUERY_PIPELINESTATS || stream_of(kind) >= 0;
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
    if (q->kind == D3D10DDI_QUERY_EVENT ||
        (umd10_has(d, AEROGPU_EXT_FEATURE(EXT_QUERIES)) &&
         (stream_of(q->kind) < 0 || umd10_has(d, AEROGPU_EXT_FEATURE(EXT_STREAM_OUTPUT)))))
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
    ABI_EMIT(&d->stream, EXT_BEGIN_QUERY, ext_begin_query, .slot = q->slot, .kind = kind_of(q->kind),
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

/* What a predicate says, of what was counted. */
static bool holds(const struct umd10_query *q, const uint64_t words[2])
{
    return overflows(q->kind) ? words[0] != words[1] : words[0] != 0;
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
    if (q->kind == D3D10DDI_QUERY_EVENT || q->kind == D3D10DDI_QUERY_OCCLUSIONPREDICATE ||
        overflows(q->kind)) {
        yes = q->kind == D3D10DDI_QUERY_EVENT || holds(q, words);
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
    uint64_t words[2] = {0};

    d->dropped = false;
    if (q && q->issued && !q->self && result(d, q, true, words, sizeof(words)) == S_OK)
        d->dropped = holds(q, words) == (value != 0);
}

void umd10_query_functions(D3D11_1DDI_DEVICEFUNCS *f)
{
    f->pfnCalcPrivateQuerySize = query_size;
    f->pfnCreateQuery = create_query;
    f->pfnDestroyQuery = destroy_query;
    f->pfnQueryBegin = begin_query;
    f->pfnQueryEnd = end_query;
    f->pfnQueryGetData = query_data;
    f->pfnSetPredication = set_predication;
}
