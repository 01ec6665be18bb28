#include "abi/builder.h"

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

    strbuf_append(&b->bytes, (const char *)&h, sizeof(h));
    strbuf_append(&b->bytes, (const char *)fixed + sizeof(h), fixed_size - sizeof(h));
    strbuf_append(&b->bytes, tail, tail_size);
    strbuf_append(&b->bytes, "\0\0\0", padded - tail_size);
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
