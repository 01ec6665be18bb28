/* SPDX-License-Identifier: MIT */
/* object.h: what handles name, and who holds it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"
#include "executor/engine/hash.h"

struct exec_engine;

enum object_kind {
    OBJECT_BUFFER,
    OBJECT_TEXTURE,
    OBJECT_VIEW,
    OBJECT_BUFFER_VIEW,
    OBJECT_SHADER,
    OBJECT_LAYOUT,
    OBJECT_SAMPLER
};

struct exec_object {
    enum object_kind kind;
    uint32_t handle; /* the first one, for messages */
    uint32_t refs;
    uint32_t names;                    /* handles that name it now */
    uint64_t last_use;                 /* serial of the last batch that uses it */
    struct exec_object *next_deferred; /* in the engine's deferred */
};

struct exec_token {
    uint64_t value;
    struct exec_object *object; /* NULL: retired */
    UT_hash_handle hh;
};

struct exec_handle {
    uint32_t value;
    struct exec_object *object;
    UT_hash_handle hh;
};

void *exec_object_find(struct exec_engine *g, uint32_t handle, enum object_kind kind);
struct exec_object *exec_object_lookup(struct exec_engine *g, uint32_t handle);
void exec_object_unref(struct exec_engine *g, struct exec_object *o);
static inline struct exec_object *exec_object_ref(struct exec_object *o)
{
    if (o) {
        INVARIANT(o->refs); /* what nobody holds is on its way out */
        o->refs++;
    }
    return o;
}
const char *exec_object_kind_name(enum object_kind kind);
/* Replaces *slot, counting references. */
void exec_object_assign(struct exec_engine *g, void *slot, void *object);
/* The serial of the last batch that the device is done with. */
uint64_t exec_completed(struct exec_engine *g);
/* True if the device may still read or write `o`, by this batch or an earlier one. */
bool exec_object_is_busy(struct exec_engine *g, const struct exec_object *o);
void exec_objects_destroy_deferred(struct exec_engine *g);
void exec_objects_forget_all(struct exec_engine *g);
/* Removes `handle` if it names an object of kind `a` or `b`. */
int exec_handle_remove(struct exec_engine *g, uint32_t handle, enum object_kind a, enum object_kind b);
/* Adds a handle for `o`, taking over the caller's reference; on failure the reference is given back. */
int exec_handle_add(struct exec_engine *g, uint32_t handle, struct exec_object *o);
int exec_handle_check_new(struct exec_engine *g, uint32_t handle);
