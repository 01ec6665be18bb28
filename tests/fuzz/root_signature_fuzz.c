/* SPDX-License-Identifier: MIT */
/* root_signature_fuzz.c: serialized root signatures: read, shown both ways, and their tables measured. */
#include "fuzz.h"

#include "d3d12/view/root_signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct root_signature r;
    struct strbuf out = {0};

    if (!root_signature_read(&r, data, size, NULL)) {
        root_signature_show(&out, SHOW_TEXT, &r);
        root_signature_show(&out, SHOW_JSON, &r);
    }
    for (uint32_t i = 0; i <= r.num; i++)
        (void)root_signature_table(&r, i);
    root_signature_finish(&r);
    strbuf_finish(&out);
    return 0;
}
