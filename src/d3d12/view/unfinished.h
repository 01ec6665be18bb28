/* SPDX-License-Identifier: MIT */
/* unfinished.h: what queues may still have been working on where a recording ends. For a program that hung or lost its device these are the
 * suspects: what was submitted, and of which no fence that the program looked at says that it is done. */
#pragma once

#include "record/trace_file.h"

struct json_t;

struct unfinished;

struct unfinished *unfinished_create(void); /* NULL without memory */
void unfinished_destroy(struct unfinished *u);
/* Each call, in order. 0 or -ENOMEM. */
/* What a call waits for; false: it is none that does, or for something else. */
bool unfinished_awaits(const struct unfinished *u, const struct trc_call *c, uint32_t *fence,
                       uint64_t *value);
int unfinished_follow(struct unfinished *u, const struct trc_call *c);
/* Objects {call, queue, lists: [{list, draws, dispatches, pipeline, last_call, last}], text}, the oldest first: the 64 newest. */
struct json_t *unfinished_list(const struct unfinished *u);
