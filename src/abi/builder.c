/* SPDX-License-Identifier: MIT */
#include "abi/builder.h"

#include <stdio.h>

#include "base/check.h"

void abi_builder_init(struct abi_builder *b)
{
    *b = (struct abi_builder){.abi_version = AEROGPU_ABI_VERSION_U32};
    abi_builder_reset(b);
}

void abi_builder_finish(struct abi_builder *b)
{
    strbuf_finish(&b->bytes);
}

void abi_builder_reset(struct abi_builder *b)
{
    static const struct aerogpu_cmd_stream_header zero;

    strbuf_clear(&b->bytes);
    strbuf_append(&b->bytes, (const char *)&zero, sizeof(zero));
}

void abi_builder_packet(struct abi_builder *b, uint32_t opcode, const void *fixed, uint32_t fixed_size,
                        const void *tail, uint32_t tail_size)
{
    uint32_t padded = (tail_size + 3) & ~3u;
    struct aerogpu_cmd_hdr h = {opcode, fixed_size + padded};

    INVARIANT(fixed_size >= sizeof(h) && fixed_size % 4 == 0);
    INVARIANT(strbuf_failed(&b->bytes) || b->bytes.len % 4 == 0);
    strbuf_append(&b->bytes, (const char *)&h, sizeof(h));
    strbuf_append(&b->bytes, (const char *)fixed + sizeof(h), fixed_size - sizeof(h));
    strbuf_append(&b->bytes, tail, tail_size);
    strbuf_append(&b->bytes, "\0\0\0", padded - tail_size);
}

void abi_builder_layout(struct abi_builder *b, uint32_t handle, const char *spec)
{
    static const uint32_t dxgi[] = {0, 41, 16, 6,
                                    2}; /* R32_FLOAT to R32G32B32A32_FLOAT by number of floats */
    struct {
        struct aerogpu_input_layout_blob_header header;
        struct aerogpu_input_layout_element_dxgi elements[8];
    } blob = {
        .header = {.magic = AEROGPU_INPUT_LAYOUT_BLOB_MAGIC, .version = AEROGPU_INPUT_LAYOUT_BLOB_VERSION}};
    const uint32_t max = sizeof(blob.elements) / sizeof(blob.elements[0]);
    uint32_t n = 0, offset = 0, size;
    char name[32];
    int floats, used;

    for (; n < max && sscanf(spec, " %31[A-Z_]:%d%n", name, &floats, &used) == 2; spec += used) {
        if (floats < 1 || floats > 4)
            break;
        blob.elements[n++] =
            (struct aerogpu_input_layout_element_dxgi){.semantic_name_hash = abi_semantic_hash(name),
                                                       .dxgi_format = dxgi[floats],
                                                       .aligned_byte_offset = offset};
        offset += (uint32_t)sizeof(float) * (uint32_t)floats;
    }
    blob.header.element_count = n;
    size = (uint32_t)(sizeof(blob.header) + n * sizeof(blob.elements[0]));
    ABI_EMIT_TAIL(b, CREATE_INPUT_LAYOUT, create_input_layout, &blob, size, .input_layout_handle = handle,
                  .blob_size_bytes = size);
}

const void *abi_builder_end(struct abi_builder *b, uint32_t *size)
{
    struct aerogpu_cmd_stream_header h = {.magic = AEROGPU_CMD_STREAM_MAGIC,
                                          .abi_version = b->abi_version,
                                          .size_bytes = (uint32_t)b->bytes.len};

    if (strbuf_failed(&b->bytes) || b->bytes.len > UINT32_MAX)
        return NULL;
    memcpy(b->bytes.data, &h, sizeof(h));
    *size = (uint32_t)b->bytes.len;
    return b->bytes.data;
}

uint32_t abi_semantic_hash(const char *name)
{
    uint32_t h = 2166136261u;

    for (; *name; name++) {
        char c = *name >= 'a' && *name <= 'z' ? (char)(*name - 32) : *name;
        h = (h ^ (uint8_t)c) * 16777619u;
    }
    return h;
}
