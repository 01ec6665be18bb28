/* SPDX-License-Identifier: MIT */
/* process.c: ProcessVertices, of the fixed function without lights: positions on the screen, and what else there is as it is. */
#include "d3d/d3d9/tables.h"
#include "d3d/d3d9/rt9.h"

struct source {
    const uint8_t *at; /* of the first vertex; NULL: there is none */
    UINT stride;
    BYTE type;
};

static UINT bytes_of(BYTE type)
{
    static const uint8_t bytes[] = {4, 8, 12, 16, 4, 4, 4, 8, 4, 4, 8, 4, 8, 4, 4, 4, 8};

    return type < sizeof(bytes) ? bytes[type] : 0;
}

static bool is_position(BYTE usage)
{
    return usage == D3DDECLUSAGE_POSITION || usage == D3DDECLUSAGE_POSITIONT;
}

static const D3DVERTEXELEMENT9 *find(const struct d9_decl *decl, BYTE usage, BYTE index)
{
    for (UINT i = 0; i < decl->count; i++)
        if (decl->elements[i].Usage == usage && decl->elements[i].UsageIndex == index)
            return &decl->elements[i];
    return NULL;
}

/* Bytes of a vertex, all of stream 0; 0: it has others, or no place on the screen. */
static UINT size_of(const struct d9_decl *decl)
{
    const D3DVERTEXELEMENT9 *e, *end = decl->elements + decl->count;
    UINT size = 0;
    bool placed = false;

    for (e = decl->elements; e < end; e++) {
        if (e->Stream)
            return 0;
        size = e->Offset + bytes_of(e->Type) > size ? e->Offset + bytes_of(e->Type) : size;
        placed = placed ||
                 (is_position(e->Usage) && (e->Type == D3DDECLTYPE_FLOAT3 || e->Type == D3DDECLTYPE_FLOAT4));
    }
    return placed ? size : 0;
}

/* Positions by the matrices to the viewport. */
static void place(const struct d9_state *s, const D3DMATRIX *all, const struct source *from, UINT vertex,
                  float out[4])
{
    const D3DVIEWPORT9 *v = &s->viewport;
    float p[4] = {0, 0, 0, 1}, c[4];

    memcpy(p, from->at + (size_t)vertex * from->stride, bytes_of(from->type));
    for (int j = 0; j < 4; j++)
        c[j] = p[0] * all->m[0][j] + p[1] * all->m[1][j] + p[2] * all->m[2][j] + p[3] * all->m[3][j];
    out[3] = 1 / c[3];
    out[0] = (float)v->X + (1 + c[0] * out[3]) * (float)v->Width / 2;
    out[1] = (float)v->Y + (1 - c[1] * out[3]) * (float)v->Height / 2;
    out[2] = v->MinZ + c[2] * out[3] * (v->MaxZ - v->MinZ);
}

static void copy(const D3DVERTEXELEMENT9 *e, const struct source *from, UINT vertex, uint8_t *out)
{
    static const float rest[4] = {0, 0, 0, 1};
    const UINT size = bytes_of(e->Type), given = from->at ? bytes_of(from->type) : 0;

    if (given &&
        (from->type == e->Type || (from->type <= D3DDECLTYPE_FLOAT4 && e->Type <= D3DDECLTYPE_FLOAT4))) {
        if (given < size)
            memcpy(out, rest, size);
        memcpy(out, from->at + (size_t)vertex * from->stride, given < size ? given : size);
    } else
        memset(out, e->Usage == D3DDECLUSAGE_COLOR && !e->UsageIndex ? 0xFF : 0, size);
}

static void multiply(D3DMATRIX *out, const D3DMATRIX *a, const D3DMATRIX *b)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            out->m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j] +
                           a->m[i][3] * b->m[3][j];
}

/* Where `e` of the vertices from `first` on is; false: not all of them are there. */
static bool locate(const struct d9_state *s, uint8_t *const memory[D9_STREAMS], const D3DVERTEXELEMENT9 *e,
                   UINT first, UINT count, struct source *out)
{
    const struct d9_stream *stream = &s->streams[e->Stream];
    const uint64_t at = (uint64_t)first * stream->stride + stream->offset + e->Offset;

    if (at + (uint64_t)(count - 1) * stream->stride + bytes_of(e->Type) > stream->buffer->size)
        return false;
    *out = (struct source){memory[e->Stream] + at, stream->stride, e->Type};
    return true;
}

/* `to` with `count` vertices of `want`, of what the streams' memory has. */
static HRESULT process(struct d9_device *d, uint8_t *const memory[D9_STREAMS], const struct d9_decl *want,
                       UINT size, UINT first, UINT count, uint8_t *to, bool rest)
{
    const struct d9_state *s = &d->state;
    const D3DVERTEXELEMENT9 *position = find(s->decl, D3DDECLUSAGE_POSITION, 0);
    D3DMATRIX view, all;
    struct source from;
    float p[4];

    if (!position || position->Type > D3DDECLTYPE_FLOAT4)
        return D3DERR_INVALIDCALL;
    multiply(&view, &s->world[0], &s->view);
    multiply(&all, &view, &s->projection);
    for (const D3DVERTEXELEMENT9 *e = want->elements; e < want->elements + want->count; e++) {
        const bool placed = is_position(e->Usage);
        const D3DVERTEXELEMENT9 *given = placed ? position : find(s->decl, e->Usage, e->UsageIndex);

        from = (struct source){0};
        if (given && !locate(s, memory, given, first, count, &from))
            return D3DERR_INVALIDCALL;
        for (UINT i = 0; i < count && (placed || rest); i++)
            if (placed) {
                place(s, &all, &from, i, p);
                memcpy(to + (size_t)i * size + e->Offset, p, e->Type == D3DDECLTYPE_FLOAT4 ? 16 : 12);
            } else
                copy(e, &from, i, to + (size_t)i * size + e->Offset);
    }
    return D3D_OK;
}

HRESULT STDMETHODCALLTYPE d9_device_ProcessVertices(IDirect3DDevice9Ex *This, UINT first, UINT at, UINT count,
                                                    IDirect3DVertexBuffer9 *buffer,
                                                    IDirect3DVertexDeclaration9 *declaration, DWORD flags)
{
    struct d9_device *d = d9_device_of(This);
    const struct d9_state *s = &d->state;
    struct d9_resource *out = (struct d9_resource *)buffer;
    struct d9_decl *want = (struct d9_decl *)declaration;
    uint8_t *memory[D9_STREAMS] = {0};
    void *to;
    UINT size;
    HRESULT hr = D3D_OK;

    if (!out || out->o.device != d || (want && want->o.device != d) || !s->decl || s->vs)
        return D3DERR_INVALIDCALL;
    if (!want && (!out->fvf || d9_fvf_decl(d, out->fvf, &want) != D3D_OK))
        return D3DERR_INVALIDCALL;
    size = size_of(want);
    if (!size || ((uint64_t)at + count) * size > out->size ||
        (s->rs[D3DRS_LIGHTING] && find(want, D3DDECLUSAGE_COLOR, 0))) /* no lights here */
        return D3DERR_INVALIDCALL;
    if (!count)
        return D3D_OK;
    for (UINT i = 0; i < s->decl->count && hr == D3D_OK; i++) {
        const WORD n = s->decl->elements[i].Stream;

        if (n >= D9_STREAMS || !s->streams[n].buffer || s->streams[n].buffer == out)
            hr = D3DERR_INVALIDCALL;
        else if (!memory[n])
            hr = d9_buffer_Lock(s->streams[n].buffer, 0, 0, (void **)&memory[n], D3DLOCK_READONLY);
    }
    if (hr == D3D_OK)
        hr = d9_buffer_Lock(out, at * size, count * size, &to, 0);
    if (hr == D3D_OK) {
        hr = process(d, memory, want, size, first, count, to, !(flags & D3DPV_DONOTCOPYDATA));
        d9_buffer_Unlock(out);
    }
    for (UINT n = 0; n < D9_STREAMS; n++)
        if (memory[n])
            d9_buffer_Unlock(s->streams[n].buffer);
    return hr;
}
