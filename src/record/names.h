/* SPDX-License-Identifier: MIT */
/* names.h: what each object of a recording is: its interface, its debug name, and the calls of its life. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/trace_file.h"

#define NAMES_MAX_ID (1u << 26) /* no recorder gives a higher number */

struct name {
    uint16_t iface;      /* API_IFACE_UNKNOWN: nothing is known of it */
    char *text;          /* debug name, or NULL */
    uint64_t born, died; /* call numbers; died UINT64_MAX: never */
};

struct names {
    struct name *of; /* by object number */
    uint32_t num;
};

/* Follows one call: creations, SetName, last releases. To be called in order. 0 or -ENOMEM. */
int names_follow(struct names *n, const struct trc_call *c);
/* Reads the whole recording and rewinds it. What is wrong with it ends the reading and is no error here. */
int names_read(struct names *n, struct trc *t, struct error *e);
/* Whether the call is made on object `id`, or has it, a handle of it or an address in it among its arguments or answers. */
bool names_mentions(const struct trc_call *c, uint32_t id);

struct id_list { /* zero-initialised is empty; free(ids) */
    uint32_t *ids;
    size_t num, room;
};

/* All objects that the arguments (or else the answers) mention in one of these ways, in place of what is in `l`. 0 or -ENOMEM. */
int names_mentioned(const struct trc_call *c, bool answers, struct id_list *l);
const struct name *names_get(const struct names *n, uint32_t id);
void names_finish(struct names *n);
