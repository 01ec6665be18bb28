/* SPDX-License-Identifier: MIT */
/* play_loop.h: one frame again and again (play_params.loop_frame). */
#pragma once

#include "d3d12/play/play_internal.h"

struct play_loop {          /* zero-initialised is empty */
    struct trc_call *calls; /* args are copies */
    size_t num, room;
};

/* Whether the call must not be made in a frame that is repeated: the next time needs what it lets go. */
bool play_loop_lets_go(const struct trc_call *c);
/* A call of the frame, made for the first time: it is kept if it is to be made again. 0; -ENOMEM; or -ENOTSUP: the frame cannot be
 * repeated. */
int play_loop_keep(struct play_loop *l, const struct trc_call *c, struct error *e);
/* Behind the frame's last call: makes all of them again, loop_times - 1 times. 0, or what failed is in p->error; -ENOENT without calls. */
int play_loop_run(struct player *p, struct play_loop *l);
void play_loop_finish(struct play_loop *l);
