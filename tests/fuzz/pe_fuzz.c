/* SPDX-License-Identifier: MIT */
/* Drivers: any bytes, with the checksum put right, are an image that can be loaded and unloaded, or one sentence. */
#include "fuzz.h"

#include <string.h>

#include "dxgkrnl/image/image.h"
#include "dxgkrnl/image/pe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(size ? size : 1);
    struct error e = {0};
    struct image *i;
    uint32_t field;

    if (!file)
        return 0;
    memcpy(file, data, size);
    if (size >= 64) {
        memcpy(&field, file + 60, 4);
        field += 88;
        if (field < size && size - field >= 4) {
            uint32_t sum = dxgk_pe_checksum(file, size, field);
            memcpy(file + field, &sum, 4);
        }
    }
    if (!dxgk_image_load_bytes(&i, "fuzz.sys", file, size, &e))
        dxgk_image_discard(i);
    else
        must(e.text[0] && !i);
    dxgk_image_unload(i);
    free(file);
    return 0;
}
