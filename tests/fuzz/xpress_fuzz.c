/* SPDX-License-Identifier: MIT */
/* XPRESS: the first two bytes are the size to unpack to. */
#include "fuzz.h"

#include "cpu/etl/xpress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t want;
    uint8_t *out;

    if (size < 2)
        return 0;
    want = data[0] | (size_t)data[1] << 8;
    out = malloc(want ? want : 1);
    cpu_xpress_unpack(data + 2, size - 2, out, want, NULL);
    free(out);
    return 0;
}
