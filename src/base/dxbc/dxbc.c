/* SPDX-License-Identifier: MIT */
#include "base/dxbc/dxbc.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/dxbc/dxbc_sum.h"

bool dxbc_is(const void *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "DXBC", 4) == 0;
}

static int read_chunks(struct dxbc *d, struct bytes *b, struct error *e)
{
    uint32_t table = (uint32_t)b->pos;

    for (uint32_t i = 0; i < d->chunk_count; i++) {
        struct dxbc_chunk *c = &d->chunks[i];
        uint32_t at;

        bytes_seek(b, table + 4 * i);
        at = bytes_u32(b);
        if (b->bad)
            return error_set(e, -EINVAL, "DXBC: chunk table ends past the container of %u bytes",
                             (uint32_t)d->size);
        if (at < table + 4 * d->chunk_count || at % 4)
            return error_set(e, -EINVAL, "DXBC: chunk %u has the impossible offset %u", i, at);
        bytes_seek(b, at);
        c->fourcc = bytes_u32(b);
        c->size = bytes_u32(b);
        c->offset = at + 8;
        c->data = (const uint8_t *)bytes_take(b, c->size);
        if (b->bad)
            return error_set(e, -EINVAL, "DXBC: chunk %u at offset %u ends past the container of %u bytes", i,
                             at, (uint32_t)d->size);
    }
    return 0;
}

int dxbc_open_unchecked(struct dxbc *d, const void *bytes, size_t size, bool *checksum_ok, struct error *e)
{
    struct bytes b = bytes_of(bytes, size);
    uint32_t stored[4], sum[4], one, total;

    memset(d, 0, sizeof(*d));
    if (!dxbc_is(bytes, size))
        return error_set(e, -EINVAL, "DXBC: no magic number");
    bytes_seek(&b, 4);
    for (int i = 0; i < 4; i++)
        stored[i] = bytes_u32(&b);
    one = bytes_u32(&b);
    total = bytes_u32(&b);
    d->chunk_count = bytes_u32(&b);
    if (b.bad)
        return error_set(e, -EINVAL, "DXBC: header needs 32 bytes, there are %u", (uint32_t)size);
    if (one != 1)
        return error_set(e, -EINVAL, "DXBC: version field is %u, not 1", one);
    if (total < 32 || total > size)
        return error_set(e, -EINVAL, "DXBC: total size field is %u, there are %u bytes", total,
                         (uint32_t)size);
    d->bytes = (const uint8_t *)bytes;
    d->size = total;
    dxbc_sum(bytes, total, sum);
    *checksum_ok = memcmp(sum, stored, sizeof(sum)) == 0;
    if (d->chunk_count > DXBC_MAX_CHUNKS) {
        uint32_t n = d->chunk_count;
        d->chunk_count = 0;
        return error_set(e, -EINVAL, "DXBC: %u chunks are more than the limit of %u", n, DXBC_MAX_CHUNKS);
    }
    b.size = total;
    return read_chunks(d, &b, e);
}

int dxbc_open(struct dxbc *d, const void *bytes, size_t size, struct error *e)
{
    bool checksum_ok = false;
    struct error later = {0};
    int ret = dxbc_open_unchecked(d, bytes, size, &checksum_ok, &later);

    if (d->size > DXBC_MAX_SIZE) {
        d->chunk_count = 0;
        return error_set(e, -EINVAL, "DXBC: %u bytes are more than the limit of %u", (uint32_t)d->size,
                         DXBC_MAX_SIZE);
    }
    /* Without a checksum nothing that the chunks say means anything, so it is named first. */
    if (d->size && !checksum_ok)
        return error_set(e, -EINVAL, "DXBC: checksum does not match the contents");
    if (ret)
        return error_set(e, ret, "%s", later.text);
    return 0;
}

const struct dxbc_chunk *dxbc_find(const struct dxbc *d, uint32_t fourcc)
{
    for (uint32_t i = 0; i < d->chunk_count; i++)
        if (d->chunks[i].fourcc == fourcc)
            return &d->chunks[i];
    return NULL;
}

const struct dxbc_chunk *dxbc_program(const struct dxbc *d)
{
    const struct dxbc_chunk *c = dxbc_find(d, DXBC_FOURCC('S', 'H', 'E', 'X'));

    return c ? c : dxbc_find(d, DXBC_FOURCC('S', 'H', 'D', 'R'));
}

static const char *read_name(const struct dxbc_chunk *c, uint32_t at)
{
    if (at >= c->size || !memchr(c->data + at, 0, c->size - at))
        return NULL;
    return (const char *)c->data + at;
}

int dxbc_signature(const struct dxbc_chunk *c, struct dxbc_signature *s, struct error *e)
{
    char id[5] = {(char)c->fourcc, (char)(c->fourcc >> 8), (char)(c->fourcc >> 16), (char)(c->fourcc >> 24),
                  0};
    bool has_precision = id[3] == '1', has_stream = has_precision || id[3] == '5';
    struct bytes b = bytes_of(c->data, c->size);
    uint32_t count = bytes_u32(&b), start = bytes_u32(&b);

    s->count = 0;
    if (b.bad || start != 8)
        return error_set(e, -EINVAL, "DXBC: chunk %s has no signature header", id);
    if (count > DXBC_MAX_ELEMENTS)
        return error_set(e, -EINVAL, "DXBC: chunk %s has %u elements, the limit is %u", id, count,
                         DXBC_MAX_ELEMENTS);
    for (uint32_t i = 0; i < count; i++) {
        struct dxbc_element *x = &s->elements[i];

        x->stream = has_stream ? bytes_u32(&b) : 0;
        x->name = read_name(c, bytes_u32(&b));
        x->index = bytes_u32(&b);
        x->system_value = bytes_u32(&b);
        x->component = bytes_u32(&b);
        x->reg = bytes_u32(&b);
        x->mask = bytes_u8(&b);
        x->used_mask = bytes_u8(&b);
        bytes_u16(&b);
        if (has_precision)
            bytes_u32(&b);
        if (b.bad)
            return error_set(e, -EINVAL, "DXBC: chunk %s ends inside element %u", id, i);
        if (!x->name || !*x->name)
            return error_set(e, -EINVAL, "DXBC: chunk %s: element %u has no name", id, i);
        if (x->reg >= 32 && x->reg != UINT32_MAX)
            return error_set(e, -EINVAL, "DXBC: chunk %s: %s%u is in register %u", id, x->name, x->index,
                             x->reg);
        if (x->mask > 15 || x->used_mask > 15 || (!x->mask && x->reg != UINT32_MAX))
            return error_set(e, -EINVAL, "DXBC: chunk %s: %s%u has component mask %u", id, x->name, x->index,
                             x->mask);
        if (x->component - 1 > 2 || x->stream > 3)
            return error_set(e, -EINVAL, "DXBC: chunk %s: %s%u has component type %u, stream %u", id, x->name,
                             x->index, x->component, x->stream);
    }
    s->count = count;
    return 0;
}
