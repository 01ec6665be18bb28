/* SPDX-License-Identifier: MIT */
/* contents.h: what buffers hold as far as the recording says it, and which call wrote each resource last; without a device.
 *
 * 1. Known are bytes that the program wrote into mapped memory, those that a recording cut out of another begins with, and what lists
 *    copied on from there. Known they are until something else is written over them: what shaders, queries and the like write there, or
 *    what is copied there and not known itself, is unknown from then on.
 * 2. Things happen in the order in which lists are executed, not in that in which they were recorded.
 * 3. Whatever may be written counts as written: a shader that can write through a view is taken to write all of that view. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "record/edit/trace_follow.h"
#include "record/names.h"
#include "record/trace_file.h"

#define CONTENTS_MAX (UINT64_C(1) << 30) /* bytes of all buffers; what is beyond is unknown */

#define CONTENTS_WHOLE UINT32_MAX /* no single subresource */

enum contents_what {
    CONTENTS_NEVER, /* nobody wrote it; in memory that the program sees these are zeros, which are known */
    CONTENTS_KNOWN,
    CONTENTS_UNKNOWN /* the GPU wrote it */
};

struct contents {
    struct trc_follow *defined; /* the caller's: descriptors, as they are */
    struct map buffers;         /* number of a resource to its bytes */
    struct map writers;         /* number of a resource to 1 + the call that wrote it last */
    struct map parts; /* of textures: resource << 32 | the subresource, or CONTENTS_WHOLE, that was written */
    struct map trial, trial_writers, trial_parts; /* what was changed of these by a list that is only tried */
    bool tried;
    struct map lists;     /* of a list: what it does, and what is bound */
    struct map targets;   /* place of a view (follow_place()) to its resource */
    struct map pipelines; /* what their shaders write */
    struct map roots;     /* root signatures */
    struct map heaps;     /* of memory: those that the program sees */
    struct map placed;    /* of a heap: the resource that was placed there last */
    uint64_t total;
    struct id_list ids;
};

/* Of a call on a list that draws or dispatches, in front of it; `caller`: the list that executes the bundle, or 0. 0, or what ends it. */
typedef int contents_at_call(void *ctx, uint64_t list, uint64_t caller, uint64_t call);

/* Follows one call, in order; where it executes lists, `at` sees each of their draws and dispatches. 0, -ENOMEM, or what `at` answered. */
int contents_follow(struct contents *x, struct trc *t, const struct trc_call *c, contents_at_call *at,
                    void *ctx);
/* Shows `at` what it would see if `list` were executed now; nothing else changes. */
int contents_try(struct contents *x, uint64_t list, contents_at_call *at, void *ctx);
/* The bytes from `offset` on and how many there are that are known; NULL: none. */
const uint8_t *contents_at(const struct contents *x, uint64_t resource, uint64_t offset, size_t *n);
/* What is at `offset`; of what is unknown, `*call` wrote it. */
enum contents_what contents_what(const struct contents *x, uint64_t resource, uint64_t offset,
                                 uint64_t *call);
/* The call that wrote the resource last; false: none was seen. */
bool contents_writer(const struct contents *x, uint64_t resource, uint64_t *call);
/* Whether a call may have written to that subresource of a texture. */
bool contents_part_written(const struct contents *x, uint64_t resource, uint32_t sub);
void contents_finish(struct contents *x);

/* For contents_lists.c: */
int contents_put(struct contents *x, uint64_t resource, uint64_t offset, const void *bytes, uint64_t size);
int contents_mark(struct contents *x, uint64_t resource, uint64_t from, uint64_t size,
                  enum contents_what what, uint64_t call);
int contents_copy(struct contents *x, uint64_t to, uint64_t to_at, uint64_t from, uint64_t from_at,
                  uint64_t size, uint64_t call);
int contents_all_written(struct contents *x, uint64_t call); /* whatever shaders can write */
int contents_wrote(struct contents *x, uint64_t resource, uint32_t sub, uint64_t call);
int contents_list_call(struct contents *x, struct trc *t, const struct trc_call *c);
int contents_execute(struct contents *x, uint64_t list, uint64_t caller, contents_at_call *at, void *ctx);
void contents_lists_finish(struct contents *x);
/* Of a map to memory: what is there, made with zeros. */
void *contents_made(struct map *m, uint64_t key, size_t size);
