/* SPDX-License-Identifier: MIT */
/* state.h: what was set on a command list when one of its calls was recorded. */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "record/names.h"
#include "record/show.h"
#include "record/trace_file.h"

/* Appends the call `index`, and one line per piece of state of the list that it is made on: the calls that set it, the latest
 * each, with root parameters, vertex buffer slots and the like apart. Behind what names a pipeline or a root signature stands
 * the call that made it, and of a root signature its parameters (root_signature.h); behind a descriptor table, and behind
 * render targets, the calls that define the descriptors as they are at this call (copies are followed): of a table as many as
 * its root signature says, STATE_TABLE_MAX at most, those never set among them; if it does not say, up to STATE_TABLE, as far as
 * they are set one after the other. Of a
 * draw in a bundle what the list that executes the bundle first had set stands behind that (a line with that call, "role" "caller"),
 * as far as bundles have it. Of a
 * draw or dispatch what it works on follows (inside.h). As JSON each line is an object: its "role" is "call", "state", "object" or "descriptor",
 * its "call" the call, null for a descriptor never set; "parameter" and "sampler" of a root signature, or "damaged" and "why".
 * -ENOENT if there is no such call on a list. */
#define STATE_TABLE     16
#define STATE_TABLE_MAX 1024
int state_at(struct strbuf *out, enum show_form form, struct trc *t, const struct names *names,
             uint64_t index, struct error *e);

/* The same for many calls, in one reading. */
struct inside_more;
struct state_wanted {
    bool (*is)(void *ctx, const struct trc_call *c); /* of a call on a list: its lines are wanted */
    bool (*ends)(void *ctx); /* no more are wanted: the rest need not be read. NULL: none */
    /* Takes the lines of a call, which come when its list is executed first. 0, or a negative errno, which ends it. */
    int (*shown)(void *ctx, uint64_t call, const char *lines, struct error *e);
    void *ctx;
    const struct inside_more *more; /* inside.h: what a page wants besides; NULL: nothing */
};
int state_each(enum show_form form, struct trc *t, const struct names *names,
               const struct state_wanted *wanted, struct error *e);
