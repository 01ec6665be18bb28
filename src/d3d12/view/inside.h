/* SPDX-License-Identifier: MIT */
/* inside.h: what a draw or dispatch works on: its shaders, its constants as values, its vertices, and the resources that its
 * descriptors and targets name. */
#pragma once

#include "base/strbuf.h"
#include "record/edit/trace_follow.h"
#include "record/names.h"
#include "record/show.h"
#include "d3d12/view/contents.h"

/* What a page has besides lines: a line "role" "mesh", as of vertex_mesh(), and the bytes of each shader, whose line has the same
 * "hash". They are the caller's until the function returns. */
struct inside_more {
    uint64_t *steps; /* of shaders that were run: PROCESSED_STEPS at most */
    void (*shader)(void *ctx, uint64_t hash, const uint8_t *bytes, size_t size);
    void *ctx;
};

struct inside {
    enum show_form form;
    struct trc *t;
    const struct names *names;
    struct trc_follow *defined;      /* up to where the call's list is executed first */
    const struct contents *contents; /* up to the call, as it is executed there */
    uint32_t list;
    size_t num_list;     /* calls on the list in front of it, of struct follow_object */
    uint32_t caller;     /* of a bundle: the list that executes it, or 0 */
    size_t num_caller;   /* calls on that one in front of that */
    uint16_t method;     /* of the call */
    const uint8_t *args; /* and its arguments */
    size_t args_size;
    const struct inside_more *more; /* or NULL */
};

/* Appends lines: "role" "arguments" (indirect.h), "shader", "binding", "constants", "vertex", those of processed.h, "not_run" with "why" of a shader, "resource"; and "damaged" with "why" for what cannot be read. 0 or
 * -ENOMEM. Nothing for calls that neither draw nor dispatch. */
int inside_show(struct strbuf *out, const struct inside *x);

/* The bytes of the root signature that a call makes, as long as nothing else is read of the recording; NULL: it makes none. */
const uint8_t *inside_root_signature(struct trc *t, const struct trc_call *c, size_t *size);
/* The call that made an object, or NULL. */
const struct trc_call *inside_maker(struct trc_follow *defined, uint64_t object);
