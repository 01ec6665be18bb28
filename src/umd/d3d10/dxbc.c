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
    default:
        return NULL;
    }
}

/* One signature chunk: count, 8, then {name, index, system value, component type, register, masks}, then the names. */
static void put_signature(struct out *o, uint32_t fourcc, const D3D10DDIARG_SIGNATURE_ENTRY *e, UINT count,
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
        put_u32(o, at);
        put_u32(o, name && !target ? 0 : e[i].Register);
        put_u32(o, target ? 0 : e[i].SystemValue);
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

static void put_all(struct out *o, const UINT *code, const D3D10DDIARG_SIGNATURE_ENTRY *in, UINT num_in,
                    const D3D10DDIARG_SIGNATURE_ENTRY *out, UINT num_out)
{
    uint32_t type = code[0] >> 16 & 0xFFFF, chunks = 3, table, at;
    bool sm5 = (code[0] >> 4 & 15) >= 5;

    put_u32(o, FOURCC('D', 'X', 'B', 'C'));
    for (int i = 0; i < 4; i++)
        put_u32(o, 0);
    put_u32(o, 1);
    put_u32(o, 0); /* its size */
    put_u32(o, chunks);
    table = o->size;
    for (uint32_t i = 0; i < chunks; i++)
        put_u32(o, 0);
    for (uint32_t i = 0; i < chunks; i++) {
        at = o->size;
        if (o->bytes)
            memcpy(o->bytes + table + 4 * i, &at, sizeof(at));
        if (i == 0)
            put_signature(o, FOURCC('I', 'S', 'G', 'N'), in, num_in, false, !type);
        else if (i == 1)
            put_signature(o, FOURCC('O', 'S', 'G', 'N'), out, num_out, true, !type);
        else {
            put_u32(o, sm5 ? FOURCC('S', 'H', 'E', 'X') : FOURCC('S', 'H', 'D', 'R'));
            put_u32(o, code[1] * 4);
            put(o, code, code[1] * 4);
        }
    }
}

void *umd10_dxbc(const UINT *code, const D3D10DDIARG_SIGNATURE_ENTRY *in, UINT num_in,
                 const D3D10DDIARG_SIGNATURE_ENTRY *out, UINT num_out, uint32_t *size)
{
    struct out o = {NULL, 0, 0};
    uint32_t sum[4];

    put_all(&o, code, in, num_in, out, num_out);
    o.room = o.size;
    o.size = 0;
    o.bytes = calloc(1, o.room);
    if (!o.bytes)
        return NULL;
    put_all(&o, code, in, num_in, out, num_out);
    memcpy(o.bytes + 24, &o.size, sizeof(o.size));
    dxbc_sum(o.bytes, o.size, sum);
    memcpy(o.bytes + 4, sum, sizeof(sum));
    *size = o.size;
    return o.bytes;
}
