/* SPDX-License-Identifier: MIT */
/* Format files and header_page of tracefs. */
#include "fuzz.h"

#include "cpu/capture/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cpu_rules *r = calloc(1, sizeof(*r));
    struct error e = {0};

    if (!cpu_rules_init(r, (const char *)data, size, &e))
        if (!(r->page_size >= 256 && r->page_size <= 65536))
            abort();
    cpu_rules_add(r, "power", (const char *)data, size, NULL);
    cpu_rules_add(r, "sched", (const char *)data, size, NULL);
    free(r);
    return 0;
}
