/* SPDX-License-Identifier: MIT */
/* collect.h: what the files share that write a snapshot's rows, each those of its subject. */
#pragma once

#include "watch/priv.h"

struct collector {
    struct watch *w;
    struct snapshot *sn;
    struct bb_package *p;
    struct watch_model model; /* of what was walked so far */
    uint32_t bound_rows;
    struct watch_usage *usage;
    size_t num_usage, cap_usage;
    int64_t commands, running;
};

/* The submission with its packets, marks and bindings. In the order of the device: each is walked once. */
void watch_put_submission(struct collector *c, const struct retained *k, bool *presents);
/* What the commands of all of them used. */
void watch_put_usage(struct collector *c);
/* `presents`: of each submission, whether it ends a frame. */
void watch_put_recording(struct collector *c, const bool *presents);
/* Contexts, their fences and checkpoints. After the submissions. */
void watch_put_queues(struct collector *c);
