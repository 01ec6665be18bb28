/* SPDX-License-Identifier: MIT */
/* Allocation tables: any bytes give a table that keeps its promises, or an error. */
#include "fuzz.h"

#include "abi/alloc_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct abi_alloc_table t;
    struct error e = {0};

    if (abi_alloc_table_parse(&t, data, size, &e)) {
        if (t.count || !e.text[0])
            abort();
        return 0;
    }
    for (uint32_t i = 0; i < t.count; i++) {
        const struct abi_alloc *a = &t.entries[i];
        if (!a->alloc_id || !a->size || a->gpa + a->size < a->gpa ||
            abi_alloc_table_find(&t, a->alloc_id) != a || (i && a->alloc_id <= a[-1].alloc_id))
            abort();
    }
    return 0;
}
