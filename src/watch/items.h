/* SPDX-License-Identifier: MIT */
/* items.h: a submission as the inference engine sees it. */
#pragma once

#include <aerogpu/blackbox.h>

#include "executor/engine/progress.h"

struct retained;

/* Commands have the packet's number as id, markers that of their mark. */
struct watch_items {
    struct bb_item *items;
    uint32_t n;
};

/* 0, or -1 without memory. `slot` NULL: nothing is known about its progress. */
int watch_items_init(struct watch_items *out, const struct retained *k,
                     const struct exec_progress_slot *slot);
void watch_items_finish(struct watch_items *i);

/* The slot of a submission, NULL if it has none. */
const struct exec_progress_slot *watch_progress_find(const struct exec_progress *c, uint64_t submission);
