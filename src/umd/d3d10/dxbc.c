/* SPDX-License-Identifier: MIT */
/* dxbc.c: the runtime hands a driver the tokens of a program and the registers of its signatures; the device takes a DXBC
 * container. What the interface drops on the way (names of semantics) is made up from the registers, on both sides of a link
 * alike.
 */
#include "umd/d3d10/umd10.h"

#include <stdlib.h>

#include "base/dxbc/dxbc_sum.h"

#define FOURCC(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

struct out {
    uint8_t *bytes;
    uint32_t size, room;
};

static void put(struct out *o, const void *data, uint32_t size)
{
    if (o->bytes && o->size + size <= o->room)
        memcpy(o->bytes + o->size, data, size);
    o->size += size;
}

static void put_u32(struct out *o, uint32_t v)
{
    put(o, &v, sizeof(v));
}

/* Names that system values have in a container; the others have none there. */
static const char *system_name(UINT value, bool output)
{
    switch (value) {
    case 1:
        return "SV_Position";
    case 2:
        return "SV_ClipDistance";
    case 3:
        return "SV_CullDistance";
    case 4:
        return "SV_RenderTargetArrayIndex";
    case 5:
        return "SV_ViewportArrayIndex";
    case 6:
        return "SV_VertexID";
    case 7:
        return "SV_PrimitiveID";
    case 8:
        return "SV_InstanceID";
    case 9:
        return "SV_IsFrontFace";
    case 10:
        return "SV_SampleIndex";
    case 11:
    case 12:
    case 13:
    case 14:
    case 17:
    case 18:
    case 19:
    case 21:
    case 22:
        return "SV_TessFactor";
    case 15:
    case 16:
    case 20:
        return "SV_InsideTessFactor";
    default:
        return NULL;
    }
}

/* Tessellation factors are numbered one by one in programs; in signatures by name and index (D3D_NAME): the first of each. */
static UINT signature_value(UINT value, UINT *index)
{
    static const struct {
        uint8_t first, last, name;
    } factors[] = {{11, 14, 11}, {15, 16, 12}, {17, 19, 13}, {20, 20, 14}, {21, 21, 15}, {22, 22, 16}};

    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
        if (value >= factors[i].first && value <= factors[i].last) {
            *index = value - factors[i].first;
            return factors[i].name;
        }
    return value;
}

/* Which of those with the same system value: clip and cull distances have several registers. */
static UINT index_of(const D3D11_1DDIARG_SIGNATURE_ENTRY *e, UINT i)
{
    UINT n = 0;

    for (UINT k = 0; k < i && (e[i].SystemValue == 2 || e[i].SystemValue == 3); k++)
        n += e[k].SystemValue == e[i].SystemValue;
    return n;
}

/* One signature chunk: count, 8, then {name, index, system value, component type, register, masks}, then the names. */
static void put_signature(struct out *o, uint32_t fourcc, const D3D11_1DDIARG_SIGNATURE_ENTRY *e, UINT count,
                          bool output, bool pixel)
{
    uint32_t names = 8 + count * 24, at = names, header;

    put_u32(o, fourcc);
    header = o->size;
    put_u32(o, 0);
    put_u32(o, count);
    put_u32(o, 8);
    for (UINT i = 0; i < count; i++) {
        bool target = output && pixel && e[i].Register != 0xFFFFFFFF;
        const char *name = target ? "SV_Target" : system_name(e[i].SystemValue, output);
        uint32_t masks = e[i].Mask | (output ? 0u : (uint32_t)e[i].Mask << 8);
        if (output && pixel && e[i].Register == 0xFFFFFFFF)
            name = "SV_Depth";
        UINT index = name && !target ? index_of(e, i) : e[i].Register,
             value = signature_value(e[i].SystemValue, &index);
        put_u32(o, at);
        put_u32(o, index);
        put_u32(o, target ? 0 : value);
        put_u32(o, 3); /* floats; integers travel as their bits */
        put_u32(o, e[i].Register);
        put_u32(o, masks);
        at += (uint32_t)strlen(name ? name : UMD10_SEMANTIC) + 1;
    }
    for (UINT i = 0; i < count; i++) {
        bool target = output && pixel && e[i].Register != 0xFFFFFFFF;
        const char *name = target ? "SV_Target" : system_name(e[i].SystemValue, output);
        if (output && pixel && e[i].Register == 0xFFFFFFFF)
            name = "SV_Depth";
        put(o, name ? name : UMD10_SEMANTIC, (uint32_t)strlen(name ? name : UMD10_SEMANTIC) + 1);
    }
    while (o->size & 3)
        put(o, "\xAB", 1);
    if (o->bytes && o->size <= o->room) {
        uint32_t size = o->size - header - 4;
        memcpy(o->bytes + header, &size, sizeof(size));
    }
}

/* Header and table; the chunks begin with put_chunk(). */
static uint32_t put_head(struct out *o, uint32_t chunks)
{
    uint32_t table;

    put_u32(o, FOURCC('D', 'X', 'B', 'C'));
    for (int i = 0; i < 4; i++)
        put_u32(o, 0);
    put_u32(o, 1);
    put_u32(o, 0); /* its size */
    put_u32(o, chunks);
    table = o->size;
    for (uint32_t i = 0; i < chunks; i++)
        put_u32(o, 0);
    return table;
}

static void note_chunk(struct out *o, uint32_t *table)
{
    if (o->bytes)
        memcpy(o->bytes + *table, &o->size, sizeof(o->size));
    *table += 4;
}

static void put_chunk(struct out *o, uint32_t *table, uint32_t fourcc, const void *data, uint32_t size)
{
    note_chunk(o, table);
    put_u32(o, fourcc);
    put_u32(o, size);
    put(o, data, size);
}

static void finish(struct out *o)
{
    uint32_t sum[4];

    memcpy(o->bytes + 24, &o->size, sizeof(o->size));
    dxbc_sum(o->bytes, o->size, sum);
    memcpy(o->bytes + 4, sum, sizeof(sum));
}

static void put_all(struct out *o, const struct umd10_program *p)
{
    enum { HULL = 3, DOMAIN = 4 };
    uint32_t type = p->code[0] >> 16 & 0xFFFF, table;
    bool sm5 = (p->code[0] >> 4 & 15) >= 5, patches = type == HULL || type == DOMAIN;

    table = put_head(o, 3u + patches + (p->streams != NULL));
    note_chunk(o, &table);
    put_signature(o, FOURCC('I', 'S', 'G', 'N'), p->in, p->num_in, false, !type);
    note_chunk(o, &table);
    put_signature(o, FOURCC('O', 'S', 'G', 'N'), p->out, p->num_out, true, !type);
    if (patches) {
        note_chunk(o, &table);
        put_signature(o, FOURCC('P', 'C', 'S', 'G'), p->patch, p->num_patch, type == HULL, false);
    }
    put_chunk(o, &table, sm5 ? FOURCC('S', 'H', 'E', 'X') : FOURCC('S', 'H', 'D', 'R'), p->code,
              p->code[1] * 4);
    if (p->streams)
        put_chunk(o, &table, AEROGPU_STREAM_OUTPUT_CHUNK, p->streams, p->streams_size);
}

void *umd10_dxbc(const struct umd10_program *p, uint32_t *size)
{
    struct out o = {NULL, 0, 0};

    put_all(&o, p);
    o.room = o.size;
    o.size = 0;
    o.bytes = calloc(1, o.room);
    if (!o.bytes)
        return NULL;
    put_all(&o, p);
    finish(&o);
    *size = o.size;
    return o.bytes;
}

void *umd10_dxbc_add(const uint8_t *dxbc, uint32_t size, uint32_t fourcc, const void *chunk,
                     uint32_t chunk_size, uint32_t *new_size)
{
    enum { COUNT_AT = 28, TABLE_AT = 32 };
    struct out o = {NULL, 0, size + 12 + chunk_size};
    uint32_t count, at, table;

    o.bytes = calloc(1, o.room);
    if (!o.bytes)
        return NULL;
    memcpy(&count, dxbc + COUNT_AT, 4);
    table = put_head(&o, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t head[2];

        memcpy(&at, dxbc + TABLE_AT + 4 * i, 4);
        memcpy(head, dxbc + at, sizeof(head));
        put_chunk(&o, &table, head[0], dxbc + at + 8, head[1]);
    }
    put_chunk(&o, &table, fourcc, chunk, chunk_size);
    finish(&o);
    *new_size = o.size;
    return o.bytes;
}
