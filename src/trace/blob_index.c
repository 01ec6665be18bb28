#include "trace/blob_index.h"

#include <errno.h>
#include <stdlib.h>

/* Ids are mostly 1, 2, 3…; the multiplication spreads those that a hostile file may pick as well. */
static size_t slot_of(uint64_t id, size_t capacity)
{
    return (size_t)((id * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (capacity - 1);
}

static struct trace_blob *probe(const struct blob_index *index, uint64_t id)
{
    size_t i = slot_of(id, index->capacity);

    while (index->slots[i].offset && index->slots[i].id != id)
        i = (i + 1) & (index->capacity - 1);
    return &index->slots[i];
}

const struct trace_blob *blob_index_find(const struct blob_index *index, uint64_t id)
{
    const struct trace_blob *slot = index->capacity ? probe(index, id) : NULL;

    return slot && slot->offset ? slot : NULL;
}

static int grow(struct blob_index *index)
{
    struct blob_index bigger = {.capacity = index->capacity ? index->capacity * 2 : 64,
                                .count = index->count};

    bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
    if (!bigger.slots)
        return -ENOMEM;
    for (size_t i = 0; i < index->capacity; i++)
        if (index->slots[i].offset)
            *probe(&bigger, index->slots[i].id) = index->slots[i];
    free(index->slots);
    *index = bigger;
    return 0;
}

int blob_index_add(struct blob_index *index, const struct trace_blob *blob)
{
    struct trace_blob *slot;

    if (2 * (index->count + 1) > index->capacity && grow(index))
        return -ENOMEM;
    slot = probe(index, blob->id);
    if (slot->offset)
        return slot->offset == blob->offset ? 0 : -EEXIST;
    *slot = *blob;
    index->count++;
    return 0;
}

void blob_index_finish(struct blob_index *index)
{
    free(index->slots);
    *index = (struct blob_index){0};
}
