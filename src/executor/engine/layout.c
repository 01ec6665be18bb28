/* SPDX-License-Identifier: MIT */
/* layout.c: input layouts: ILAY blobs (Direct3D 10 and later) and Direct3D 9 vertex declarations. */
#include "executor/engine/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

#include "abi/builder.h"
#include "base/bytes.h"
#include "executor/engine/formats.h"

enum { MAX_ELEMENTS = 32, APPEND_ALIGNED = -1, D3D9_END_STREAM = 0xFF, D3D9_TYPE_UNUSED = 17 };

static int parse_ilay(struct exec_layout *l, struct bytes *b, struct error *e)
{
    uint32_t next[MAX_VERTEX_BUFFERS] = {0}, version, count;

    bytes_u32(b);
    version = bytes_u32(b);
    count = bytes_u32(b);
    bytes_u32(b);
    if (b->bad)
        return error_set(e, -EBADMSG, "ILAY header cut at %zu bytes", b->size);
    if (version != AEROGPU_INPUT_LAYOUT_BLOB_VERSION)
        return error_set(e, -EBADMSG, "ILAY version %u, 1 is known", version);
    if (count > MAX_ELEMENTS)
        return error_set(e, -EBADMSG, "ILAY element_count %u, at most %u are possible", count, MAX_ELEMENTS);
    if (count * sizeof(struct aerogpu_input_layout_element_dxgi) > bytes_left(b))
        return error_set(e, -EBADMSG, "ILAY element_count %u does not fit %zu bytes", count, b->size);
    for (uint32_t i = 0; i < count; i++) {
        struct layout_element *at = &l->elements[i];
        uint32_t dxgi, offset, class, bytes;
        at->semantic_hash = bytes_u32(b);
        at->semantic_index = bytes_u32(b);
        dxgi = bytes_u32(b);
        at->slot = bytes_u32(b);
        offset = bytes_u32(b);
        class = bytes_u32(b);
        at->step_rate = bytes_u32(b);
        at->per_instance = class == 1;
        at->format = exec_format_of_dxgi_attribute(dxgi, &bytes);
        if (at->format == VK_FORMAT_UNDEFINED)
            return error_set(e, -EBADMSG, "element %u: DXGI format %u cannot be a vertex attribute", i, dxgi);
        if (at->slot >= MAX_VERTEX_BUFFERS || class > 1)
            return error_set(e, -EBADMSG, "element %u: slot %u, class %u", i, at->slot, class);
        at->offset = offset == (uint32_t)APPEND_ALIGNED ? next[at->slot] : offset;
        if (at->offset > 2048)
            return error_set(e, -EBADMSG, "element %u: offset %u is beyond any stride", i, at->offset);
        next[at->slot] = (at->offset + bytes + 3) & ~3u;
    }
    l->count = count;
    return 0;
}

/* D3DDECLTYPE -> VkFormat */
/* clang-format off */
static const VkFormat decl_types[] = {
    VK_FORMAT_R32_SFLOAT,          VK_FORMAT_R32G32_SFLOAT,      VK_FORMAT_R32G32B32_SFLOAT,
    VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_B8G8R8A8_UNORM,     VK_FORMAT_R8G8B8A8_USCALED,
    VK_FORMAT_R16G16_SSCALED,      VK_FORMAT_R16G16B16A16_SSCALED, VK_FORMAT_R8G8B8A8_UNORM,
    VK_FORMAT_R16G16_SNORM,        VK_FORMAT_R16G16B16A16_SNORM, VK_FORMAT_R16G16_UNORM,
    VK_FORMAT_R16G16B16A16_UNORM,  VK_FORMAT_A2B10G10R10_USCALED_PACK32, VK_FORMAT_A2B10G10R10_SNORM_PACK32,
    VK_FORMAT_R16G16_SFLOAT,       VK_FORMAT_R16G16B16A16_SFLOAT,
};
/* clang-format on */

/* D3DDECLUSAGE -> the semantic that shaders declare it as */
static const char *const decl_usages[] = {
    "POSITION", "BLENDWEIGHT", "BLENDINDICES", "NORMAL", "PSIZE", "TEXCOORD", "TANGENT",
    "BINORMAL", "TESSFACTOR",  "POSITIONT",    "COLOR",  "FOG",   "DEPTH",    "SAMPLE"};

static int parse_d3d9(struct exec_layout *l, struct bytes *b, struct error *e)
{
    for (uint32_t i = 0;; i++) { /* the blob ends, if not by an end element */
        uint16_t stream = bytes_u16(b), offset = bytes_u16(b);
        uint8_t type = bytes_u8(b), method = bytes_u8(b), usage = bytes_u8(b), index = bytes_u8(b);
        if (b->bad)
            return error_set(e, -EBADMSG, "vertex declaration has no end element in %zu bytes", b->size);
        if (stream == D3D9_END_STREAM)
            return 0;
        if (stream < MAX_VERTEX_BUFFERS && type == D3D9_TYPE_UNUSED) /* padding, no attribute */
            continue;
        if (l->count == MAX_ELEMENTS)
            return error_set(e, -EBADMSG, "vertex declaration has more than %u elements", MAX_ELEMENTS);
        if (type >= sizeof(decl_types) / sizeof(decl_types[0]) ||
            usage >= sizeof(decl_usages) / sizeof(decl_usages[0]) || stream >= MAX_VERTEX_BUFFERS ||
            offset > 2048)
            return error_set(e, -EBADMSG,
                             "vertex declaration element %u: stream %u offset %u type %u method %u usage %u",
                             i, stream, offset, type, method, usage);
        l->elements[l->count++] =
            (struct layout_element){.semantic_hash = abi_semantic_hash(decl_usages[usage]),
                                    .semantic_index = index,
                                    .format = decl_types[type],
                                    .slot = stream,
                                    .offset = offset};
    }
}

int exec_layout_parse(struct exec_layout **out, const void *blob, uint32_t size, struct error *e)
{
    struct exec_layout *l = calloc(1, sizeof(*l) + MAX_ELEMENTS * sizeof(l->elements[0]));
    struct bytes b = bytes_of(blob, size), peek = b;
    int r;

    if (!l)
        return error_set(e, -ENOMEM, "no memory");
    l->d3d9 = bytes_u32(&peek) != AEROGPU_INPUT_LAYOUT_BLOB_MAGIC;
    r = l->d3d9 ? parse_d3d9(l, &b, e) : parse_ilay(l, &b, e);
    if (r) {
        free(l);
        return r;
    }
    l->hash = XXH3_64bits(l->elements, l->count * sizeof(l->elements[0]));
    *out = l;
    return 0;
}
