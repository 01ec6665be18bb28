/* SPDX-License-Identifier: MIT */
/* blob_index.h: where in the file each blob lies, by id. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct trace_blob {
    uint64_t id;     /* any value, 0 too */
    uint64_t offset; /* of its first byte; never 0, since a blob lies behind the header */
    uint32_t size;
    uint32_t kind;
};

/* Zero-initialised is empty. */
struct blob_index {
    struct trace_blob *blobs; /* in the order in which they came */
    size_t count, capacity;
    struct map by_id; /* to indices of `blobs` */
};

/* NULL if there is none. Valid until the next add. */
const struct trace_blob *blob_index_find(const struct blob_index *index, uint64_t id);

/* 0, -EEXIST if the id is taken by a blob elsewhere in the file, or -ENOMEM. */
int blob_index_add(struct blob_index *index, const struct trace_blob *blob);
void blob_index_finish(struct blob_index *index);
