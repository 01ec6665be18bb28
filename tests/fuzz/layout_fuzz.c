/* SPDX-License-Identifier: MIT */
/* Input layouts, ILAY blobs and Direct3D 9 declarations: any bytes give a layout within its bounds, or an error. */
#include "fuzz.h"

#include "executor/engine/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e = {0};
    struct exec_layout *l;

    if (exec_layout_parse(&l, data, (uint32_t)size, &e))
        return e.text[0] ? 0 : (abort(), 0);
    for (uint32_t i = 0; i < l->count; i++)
        if (i >= 32 || l->elements[i].slot >= MAX_VERTEX_BUFFERS ||
            l->elements[i].format == VK_FORMAT_UNDEFINED)
            abort();
    free(l);
    return 0;
}
