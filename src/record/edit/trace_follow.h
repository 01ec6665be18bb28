/* SPDX-License-Identifier: MIT */
/* trace_follow.h: what of the calls up to some point still matters behind it. The tables say what becomes of each
 * (api.h: enum api_method_flags). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "record/names.h"
#include "record/trace_file.h"

enum follow_stage { FOLLOW_MAKE, FOLLOW_DEFINE, FOLLOW_MAP, FOLLOW_STATE, FOLLOW_LIST };

struct follow_call {      /* a call that may have to be made again */
    struct trc_call call; /* args are a copy */
    uint32_t *refs;       /* objects among its arguments */
    uint32_t num_refs;
    uint32_t made; /* the object that it brings into being, or 0 */
    uint32_t uses; /* of those that define a place: how many places */
    uint8_t stage; /* enum follow_stage */
    bool gone, keep;
};

struct follow_object {
    uint16_t iface; /* API_IFACE_UNKNOWN: not made */
    bool dead, needed;
    int64_t refs, given; /* that the program holds; that the new file has given so far */
    /* of what is recorded first and executed later: the calls since it was begun */
    size_t *list;
    size_t num_list, room_list;
    /* of memory */
    int32_t maps;
    size_t map_call;
    uint32_t maker; /* index in calls + 1 */
};

struct trc_follow {
    struct follow_call *calls;
    size_t num, room;
    size_t
        *spare; /* entries of `calls` that are gone: used again where the order of entries does not matter */
    size_t num_spare, room_spare;
    struct follow_object *objects;
    uint32_t num_objects;
    struct map places;        /* follow_place() to the index in `calls` of what defines it, or SIZE_MAX */
    struct map states;        /* what is set, and what was asked, to the index in `calls` */
    struct id_list ids, made; /* of the call that is followed */
    bool failed;
};

/* A place in an object: a descriptor in its heap. */
static inline uint64_t follow_place(uint64_t object, uint64_t index)
{
    return object << 32 | (index & UINT32_MAX);
}

/* Follows one call before the point. */
void follow_call(struct trc_follow *s, const struct trc_call *c);
/* At the point: marks what must be kept. */
void follow_mark(struct trc_follow *s);
/* NULL: no call has made it. */
struct follow_object *follow_object(struct trc_follow *s, uint32_t id);
void follow_finish(struct trc_follow *s);
