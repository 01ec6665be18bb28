/* SPDX-License-Identifier: MIT */
#include "d3d12/gen/pipeline_stream.h"

#include <string.h>

static size_t align_up(size_t v, size_t a)
{
    return (v + a - 1) & ~(a - 1);
}

enum stream_step stream_next(const void *stream, size_t size, size_t *pos, uint32_t *type, size_t *offset)
{
    const struct d12_subobject *s;
    size_t at = align_up(*pos, sizeof(void *));

    if (at >= size)
        return STREAM_END;
    if (size - at < sizeof(uint32_t))
        return STREAM_SHORT;
    memcpy(type, (const char *)stream + at, sizeof(*type));
    if (!d12_is_subobject(*type))
        return STREAM_UNKNOWN;
    s = &d12_subobjects[*type];
    at = align_up(at + sizeof(uint32_t), s->align);
    if (at > size || size - at < s->size)
        return STREAM_SHORT;
    *offset = at;
    *pos = at + s->size;
    return STREAM_ITEM;
}

size_t stream_place(size_t *pos, uint32_t type)
{
    const struct d12_subobject *s = &d12_subobjects[type];
    size_t at = align_up(align_up(*pos, sizeof(void *)) + sizeof(uint32_t), s->align);

    *pos = at + s->size;
    return at;
}
