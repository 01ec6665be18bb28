/* SPDX-License-Identifier: MIT */
#include "trace/blob_index.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

const struct trace_blob *blob_index_find(const struct blob_index *index, uint64_t id)
{
    const uint64_t *at = map_find(&index->by_id, id);

    return at ? &index->blobs[*at] : NULL;
}

int blob_index_add(struct blob_index *index, const struct trace_blob *blob)
{
    const struct trace_blob *known = blob_index_find(index, blob->id);
    uint64_t *at;

    if (known)
        return known->offset == blob->offset ? 0 : -EEXIST;
    if (array_reserve(index->blobs, index->capacity, index->count + 1))
        return -ENOMEM;
    at = map_put(&index->by_id, blob->id);
    if (!at)
        return -ENOMEM;
    *at = index->count;
    index->blobs[index->count++] = *blob;
    return 0;
}

void blob_index_finish(struct blob_index *index)
{
    map_finish(&index->by_id);
    free(index->blobs);
    *index = (struct blob_index){0};
}
