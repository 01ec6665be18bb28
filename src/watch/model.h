/* SPDX-License-Identifier: MIT */
/* model.h: what a walk over AeroGPU command streams knows at each packet: which objects exist, and which are bound in which
 * context. It executes nothing, and believes nothing: unknown handles are just numbers.
 *
 * Invariants:
 *  1. What is bound is an object and not its handle: a handle that was freed and comes again names another object, and what
 *     was bound stays what it was.
 *  2. As in the executor, bindings let go of a resource or view whose last handle goes; a shader stays bound.
 *  3. A context that was destroyed has neither bindings nor regions; if its number comes again, it begins empty.
 *  4. The path of a context is the text of its regions up to the innermost, and a name behind it.
 */
#pragma once

#include "abi/stream.h"
#include "base/error.h"
#include "base/map.h"

enum watch_slot_kind {
    WATCH_SLOT_SHADER,
    WATCH_SLOT_TARGET,
    WATCH_SLOT_DEPTH,
    WATCH_SLOT_VERTICES,
    WATCH_SLOT_INDICES,
    WATCH_SLOT_TEXTURE,
    WATCH_SLOT_CONSTANTS,
    WATCH_SLOT_SRV,
    WATCH_SLOT_UAV,
};

struct watch_slot {
    uint8_t kind, stage; /* enum abi_program; 0 where there is none */
    uint16_t index;
    uint32_t handle; /* that it was bound by */
    uint32_t object; /* its number in `objects` from 1; 0: nobody saw it made */
};

enum { WATCH_MAX_SLOTS = 192, WATCH_PATH = 1200, WATCH_REGION = 68, WATCH_DEPTH = 16 };

struct watch_model_context {
    struct watch_model_context *next;
    uint32_t id, num_slots;
    struct watch_slot slots[WATCH_MAX_SLOTS];
    char path[WATCH_PATH]; /* the last DEBUG_MARKER and the regions pushed, "frame/shadows" */
    uint16_t depth, ends[WATCH_DEPTH];
    uint32_t too_deep, unbalanced_pops;
};

enum watch_object_kind {
    WATCH_OBJECT_BUFFER,
    WATCH_OBJECT_TEXTURE,
    WATCH_OBJECT_VIEW,
    WATCH_OBJECT_SHADER,
    WATCH_OBJECT_OTHER
};

struct watch_object {
    uint32_t handle;
    enum watch_object_kind kind;
    bool alive;
    uint32_t names; /* handles that name it; those of shared surfaces are several */
    uint64_t size;
    uint32_t width, height, format, alloc_id; /* of textures; alloc_id of buffers too */
    uint64_t alloc_offset;
    uint32_t stage;       /* enum abi_program */
    const uint8_t *bytes; /* of a shader: in the stream */
    uint32_t bytes_size;
    uint64_t created, last_use, destroyed; /* submissions by number */
    char hash[17];                         /* of a shader's bytes */
    uint32_t of;                           /* of a view: the number of what it looks at; 0: not known */
    char made_in[64];                      /* regions around the packet that made it */
    char name[64];                         /* that its program gave it; "" for none */
};

struct watch_model {
    struct watch_model_context *contexts;
    struct watch_object *objects; /* in order of creation; a handle may come again */
    size_t num_objects, cap_objects;
    struct map handles, tokens; /* to numbers in `objects` from 1 */
    bool failed;                /* out of memory: what is known is right, but not all */
};

void watch_model_finish(struct watch_model *m);
struct watch_model_context *watch_model_context(struct watch_model *m, uint32_t id);

/* Applies a packet. `submission` is its number, for first and last uses. */
void watch_model_apply(struct watch_model *m, struct watch_model_context *c, const struct abi_stream *s,
                       const struct abi_packet *p, uint64_t submission);
/* Notes what a packet that does work uses: what it names if it moves bytes, else what is bound. */
void watch_model_use(struct watch_model *m, const struct watch_model_context *c, const struct abi_packet *p,
                     uint64_t submission);
/* What is bound there; NULL: unknown. */
struct watch_object *watch_model_bound(const struct watch_model *m, const struct watch_slot *s);

void watch_slot_name(char name[24], const struct watch_slot *s);
void watch_object_name(char name[64], const struct watch_object *o);
/* What the program calls it, else what a view looks at; "" for nothing. */
const char *watch_object_given(const struct watch_model *m, const struct watch_object *o);
