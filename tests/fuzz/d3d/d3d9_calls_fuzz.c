/* SPDX-License-Identifier: MIT */
/* Programs of Direct3D 9 (calls.h). */
#include "calls.h"

LONG OpenAdapter(void *open);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return calls_input("OpenAdapter", (void *)OpenAdapter, data, size);
}
