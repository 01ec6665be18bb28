/* SPDX-License-Identifier: MIT */
/* walk.h: reads the arguments of a call along the tables, handing each value to a visitor. */
#pragma once

#include <stdbool.h>

#include "record/varint.h"
#include "record/api.h"

struct trc_call;

/* One value. Integers, object numbers and the base of a handle are in `u`, what is added to it in `offset`. */
struct walk_value {
    const struct api_type *type;
    uint64_t u, offset;
    float f;
    const void *bytes; /* strings (not terminated), byte blocks, GUIDs; NULL for a NULL pointer */
    uint64_t size;     /* of `bytes`; of a byte block also while `blob` is set and `bytes` is NULL */
    uint64_t blob;     /* blob number + 1, or 0 */
    bool raw;          /* handle or address that the recorder could not attribute: `u` is its value */
};

/* Functions that are NULL are not called. */
struct walk_visitor {
    void (*begin)(void *ctx, const struct api_field *f, const char *name, bool array, uint64_t n);
    void (*end)(void *ctx, bool array);
    void (*value)(void *ctx, const struct api_field *f, const char *name, const struct walk_value *v);
    void (*null)(void *ctx, const struct api_field *f, const char *name, bool is_null);
    void *ctx;
};

/* Walks `n` fields; `in->bad` afterwards if the bytes are not what the table says. `v` NULL: only skips them. */
void walk_fields(struct bytes *in, const struct api_field *fields, uint32_t n, const struct walk_visitor *v);

/* The arguments of a call; its answers, if it has any; both. */
void walk_args(const struct trc_call *c, const struct walk_visitor *v);
void walk_answers(const struct trc_call *c, const struct walk_visitor *v);
void walk_call(const struct trc_call *c, const struct walk_visitor *v);
