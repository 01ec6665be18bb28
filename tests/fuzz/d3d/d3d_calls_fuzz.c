/* SPDX-License-Identifier: MIT */
/* Programs of Direct3D 11 (calls.h). */
#include "calls.h"

LONG OpenAdapter10_2(void *open);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return calls_input("OpenAdapter10_2", (void *)OpenAdapter10_2, data, size);
}
