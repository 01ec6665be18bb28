/* SPDX-License-Identifier: MIT */
/* trim_follow.h: what of the calls up to some point still matters behind it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "record/trace_file.h"

enum trim_stage { TRIM_MAKE, TRIM_VIEW, TRIM_MAP, TRIM_SIGNAL, TRIM_LIST };

struct trim_call {        /* a call that may have to be made again */
    struct trc_call call; /* args are a copy */
    uint32_t *refs;       /* objects among its arguments */
    uint32_t num_refs;
    uint32_t made; /* the object that it brings into being, or 0 */
    uint64_t key;  /* of what it replaces: a descriptor, a fence, an event */
    uint32_t uses; /* of views: descriptors that it defines */
    uint8_t stage;
    bool gone, keep;
};

struct trim_object {
    uint16_t iface; /* 0xffff: not made */
    bool dead, needed, has_va, has_cpu, has_gpu;
    int64_t refs, given; /* that the program holds; that the new file has given so far */
    /* of lists: the calls since the last Reset */
    size_t *list;
    size_t num_list, cap_list;
    /* of resources */
    int32_t maps;
    size_t map_call;
    uint32_t maker; /* index in calls + 1 */
};

struct trim {
    struct trim_call *calls;
    size_t num, cap;
    size_t
        *spare; /* entries of `calls` that are gone: used again where the order of entries does not matter */
    size_t num_spare, cap_spare;
    struct trim_object *objects;
    uint32_t num_objects;
    struct map views; /* descriptors: heap << 32 | index to the index in `calls`, or SIZE_MAX */
    bool failed;
};

/* Follows one call before the point. */
void trim_follow(struct trim *s, const struct trc_call *c);
/* At the point: marks what must be kept. */
void trim_mark(struct trim *s);
struct trim_object *trim_object(struct trim *s, uint32_t id);
void trim_finish(struct trim *s);
