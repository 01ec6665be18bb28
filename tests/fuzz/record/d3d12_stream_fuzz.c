/* SPDX-License-Identifier: MIT */
/* d3d12_stream_fuzz.c: the walk over pipeline state streams. Every subobject it reports lies inside the stream. */
#include "fuzz.h"

#include <string.h>

#include "d3d12/gen/pipeline_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t pos = 0, at = 0, last = 0, made = 0;
    uint32_t type = 0;
    void *p = aligned_alloc(16, (size + 16) & ~(size_t)15);

    if (!p)
        return 0;
    memcpy(p, data, size);
    while (stream_next(p, size, &pos, &type, &at) == STREAM_ITEM) {
        if (at + d12_subobjects[type].size > size || at <= last || at % d12_subobjects[type].align)
            abort();
        if (stream_place(&made, type) != at)
            abort();
        last = at;
    }
    free(p);
    return 0;
}
