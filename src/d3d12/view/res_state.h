/* SPDX-License-Identifier: MIT */
/* res_state.h: follows, call by call, which resources exist and in which state each subresource is.
 *
 * Barriers take effect where their list is executed, in the order of execution. Buffers are left out: their states have
 * no layout and decay after each execution. It needs no device: only the recording. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/trace_file.h"
#include "d3d12_api.h"

struct res_info {
    uint32_t id;
    bool buffer, presentable;
    uint32_t num_subs, mips, layers;
    uint32_t *states; /* of each subresource; NULL for buffers */
};

struct res_barrier {
    uint32_t resource, sub, after;
};

struct res_list {
    uint32_t id;
    struct res_barrier *b;
    size_t num, room;
};

struct res_states {
    struct res_info **of; /* by object number */
    uint32_t num;
    struct res_list *lists;
    size_t num_lists, room_lists;
};

/* 0 or -ENOMEM. Calls that the program died in are ignored. */
int res_follow(struct res_states *s, const struct trc_call *c);
const struct res_info *res_get(const struct res_states *s, uint32_t id);
void res_finish(struct res_states *s);
