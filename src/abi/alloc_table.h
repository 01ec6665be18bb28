/* SPDX-License-Identifier: MIT */
/* alloc_table.h: the allocation table of one submission, checked and indexed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct abi_alloc {
    uint32_t alloc_id;
    bool readonly;
    bool shared; /* ALLOC_FLAG_EXT_SHARED */
    uint64_t gpa, size;
};

/* Zero-initialised is an empty table. Sorted by alloc_id. */
struct abi_alloc_table {
    struct abi_alloc *entries;
    uint32_t count, cap;
    bool shared; /* some entry is */
};

/* Replaces what `t` holds by the table in `data`. -EBADMSG with the offset of the first thing wrong, or -ENOMEM; `t` is
 * then empty. */
int abi_alloc_table_parse(struct abi_alloc_table *t, const void *data, uint64_t size, struct error *e);

/* NULL if the table has no such id. */
const struct abi_alloc *abi_alloc_table_find(const struct abi_alloc_table *t, uint32_t alloc_id);

void abi_alloc_table_finish(struct abi_alloc_table *t);
