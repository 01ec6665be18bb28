/* SPDX-License-Identifier: MIT */
/* contents.h: what buffers hold as far as the recording says it, and which call wrote each resource last; without a device.
 *
 * Known are bytes that the program wrote into mapped memory, those that a recording cut out of another begins with, and what lists
 * that were executed copied from there to other buffers. What shaders write is not known. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "record/names.h"
#include "record/trace_file.h"

#define CONTENTS_MAX (UINT64_C(1) << 30) /* bytes of all buffers; what is beyond stays unknown */

struct contents {
    struct map buffers; /* number of a resource to its bytes */
    struct map lists;   /* of a list: copies it has recorded, and the targets that are bound */
    struct map targets; /* place of a view (follow_place()) to its resource */
    struct map writers; /* number of a resource to 1 + the call that wrote it last */
    struct map memory;  /* the same, of those alone that the program wrote into memory with */
    uint64_t total;
    struct id_list ids;
};

/* Follows one call, in order. 0 or -ENOMEM. */
int contents_follow(struct contents *x, struct trc *t, const struct trc_call *c);
/* The bytes from `offset` on and how many there are; NULL: none are known. */
const uint8_t *contents_at(const struct contents *x, uint64_t resource, uint64_t offset, size_t *n);
/* Who wrote what, as it is now: a copy, for map_finish(). 0 or -ENOMEM. */
int contents_writers(const struct contents *x, struct map *out);
/* The call that wrote the resource last, as of `then`, or after that into memory; false: none was seen. */
bool contents_writer(const struct contents *x, const struct map *then, uint64_t resource, uint64_t *call);
void contents_finish(struct contents *x);
