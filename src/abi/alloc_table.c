/* SPDX-License-Identifier: MIT */
#include "abi/alloc_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <aerogpu/alloc.h>
#include <aerogpu/ext.h>

#include "base/check.h"

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const struct abi_alloc *)a)->alloc_id, y = ((const struct abi_alloc *)b)->alloc_id;

    return x < y ? -1 : x > y;
}

static int check_header(const struct aerogpu_alloc_table_header *h, uint64_t size, struct error *e)
{
    if (h->magic != AEROGPU_ALLOC_TABLE_MAGIC)
        return error_set(e, -EBADMSG, "allocation table: magic is 0x%08x, not 0x%08x (\"ALOC\")", h->magic,
                         AEROGPU_ALLOC_TABLE_MAGIC);
    if (AEROGPU_ABI_VERSION_MAJOR(h->abi_version) != AEROGPU_ABI_MAJOR)
        return error_set(e, -EBADMSG, "allocation table: ABI major version %u, this device speaks %u",
                         AEROGPU_ABI_VERSION_MAJOR(h->abi_version), AEROGPU_ABI_MAJOR);
    if (h->size_bytes < sizeof(*h) || h->size_bytes > size)
        return error_set(e, -EBADMSG,
                         "allocation table: size_bytes is %u, not from 24 to the %llu bytes given",
                         h->size_bytes, (unsigned long long)size);
    if (h->entry_stride_bytes < sizeof(struct aerogpu_alloc_entry))
        return error_set(e, -EBADMSG, "allocation table: entry_stride_bytes is %u, at least 32 is needed",
                         h->entry_stride_bytes);
    if (h->entry_count > (h->size_bytes - sizeof(*h)) / h->entry_stride_bytes)
        return error_set(e, -EBADMSG, "allocation table: %u entries of %u bytes do not fit size_bytes %u",
                         h->entry_count, h->entry_stride_bytes, h->size_bytes);
    return 0;
}

static int read_entry(struct abi_alloc *out, const uint8_t *data, uint32_t i, uint32_t offset,
                      struct error *e)
{
    struct aerogpu_alloc_entry entry;

    memcpy(&entry, data + offset, sizeof(entry));
    if (!entry.alloc_id)
        return error_set(e, -EBADMSG, "allocation table: entry %u at offset 0x%x: alloc_id is 0", i, offset);
    if (!entry.size_bytes)
        return error_set(e, -EBADMSG, "allocation table: entry %u at offset 0x%x: alloc_id %u has size 0", i,
                         offset, entry.alloc_id);
    if (entry.gpa + entry.size_bytes < entry.gpa)
        return error_set(
            e, -EBADMSG,
            "allocation table: entry %u at offset 0x%x: alloc_id %u: gpa 0x%llx + size 0x%llx overflows", i,
            offset, entry.alloc_id, (unsigned long long)entry.gpa, (unsigned long long)entry.size_bytes);
    *out = (struct abi_alloc){.alloc_id = entry.alloc_id,
                              .readonly = entry.flags & AEROGPU_ALLOC_FLAG_READONLY,
                              .shared = entry.flags & AEROGPU_ALLOC_FLAG_EXT_SHARED,
                              .gpa = entry.gpa,
                              .size = entry.size_bytes};
    return 0;
}

int abi_alloc_table_parse(struct abi_alloc_table *t, const void *data, uint64_t size, struct error *e)
{
    struct aerogpu_alloc_table_header h;
    int r;

    t->count = 0;
    t->shared = false;
    if (size < sizeof(h))
        return error_set(e, -EBADMSG, "allocation table of %llu bytes is shorter than its 24-byte header",
                         (unsigned long long)size);
    memcpy(&h, data, sizeof(h));
    r = check_header(&h, size, e);
    if (r)
        return r;
    if (h.entry_count > t->cap) {
        struct abi_alloc *p = realloc(t->entries, h.entry_count * sizeof(*p));
        if (!p)
            return error_set(e, -ENOMEM, "allocation table: no memory for %u entries", h.entry_count);
        t->entries = p;
        t->cap = h.entry_count;
    }
    for (uint32_t i = 0; i < h.entry_count; i++) {
        r = read_entry(&t->entries[i], data, i, (uint32_t)sizeof(h) + i * h.entry_stride_bytes, e);
        if (r)
            return r;
        t->shared |= t->entries[i].shared;
    }
    qsort(t->entries, h.entry_count, sizeof(t->entries[0]), by_id);
    for (uint32_t i = 1; i < h.entry_count; i++)
        if (t->entries[i].alloc_id == t->entries[i - 1].alloc_id)
            return error_set(e, -EBADMSG, "allocation table: alloc_id %u stands in it twice",
                             t->entries[i].alloc_id);
    t->count = h.entry_count;
    INVARIANT(t->count <= t->cap);
    return 0;
}

const struct abi_alloc *abi_alloc_table_find(const struct abi_alloc_table *t, uint32_t alloc_id)
{
    struct abi_alloc key = {.alloc_id = alloc_id};

    return t->count ? bsearch(&key, t->entries, t->count, sizeof(key), by_id) : NULL;
}

void abi_alloc_table_finish(struct abi_alloc_table *t)
{
    free(t->entries);
    *t = (struct abi_alloc_table){0};
}
