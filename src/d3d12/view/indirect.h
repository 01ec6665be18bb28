/* SPDX-License-Identifier: MIT */
/* indirect.h: what ExecuteIndirect draws or dispatches, as far as the recording knows its argument buffer. */
#pragma once

#include "base/strbuf.h"
#include "d3d12/view/inside.h"

#define INDIRECT_COMMANDS 16 /* that are shown */

struct indirect {
    bool compute; /* its commands are dispatches */
    /* The first command as a call of its own: where its arguments are not known, ExecuteIndirect itself. */
    uint16_t method;
    const uint8_t *args;
    size_t args_size;
    uint8_t room[64]; /* where args are */
};

/* Appends a line for each of the first commands: "role" "arguments", its number "command" of "commands" ("counted": as the count
 * buffer has it; else at most so many), the "resource" and "offset" of its arguments, and "arguments" by its command signature: "type",
 * and "values" by name, null where they are not known. */
void indirect_show(struct strbuf *out, const struct inside *x, struct indirect *first);
