/* SPDX-License-Identifier: MIT */
/* launch.h: finding and starting the executor program. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "executor/host/proto.h"

/* A started process and the host's ends of what it shares with it. */
struct exec_child {
    pid_t pid; /* 0: no process */
    int pidfd, control;
    int words; /* what it prints; without waiting */
    struct exec_shared *shared;
};

struct exec_spawn_params {
    const char *path;
    struct exec_start start; /* magic and version are filled in */
    uint32_t epoch;          /* the host's; the executor starts in it */
    int done_fd;             /* becomes EXEC_FD_DONE there */
};

/* Starts `p->path`. It dies with the calling thread. 0 or a negative errno with `*out` all closed. */
int exec_spawn(struct exec_child *out, const struct exec_spawn_params *p, struct error *e);

/* Closes the descriptors; the memory stays. The process must have been waited for. */
void exec_child_close(struct exec_child *c);
void exec_shared_unmap(struct exec_shared *shared);
