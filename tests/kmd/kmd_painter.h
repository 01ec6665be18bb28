/* SPDX-License-Identifier: MIT */
/* kmd_painter.h: clients of the whole stack that draw, each into a picture of its own in guest memory. */
#pragma once

#include <sys/types.h>

#include "kmd_rig.h"

#define SIM  (&(struct stack_params){.machine = {.kind = MACHINE_SIM, .seed = 1}})
#define LIVE (&(struct stack_params){.machine = {.kind = MACHINE_LIVE}})

enum {
    MAX_NODES = DXGK_MAX_ASYMETRICAL_PROCESSING_NODES,
    SIZE = 64,
    GREEN = 0xFF00FF00u,
    BLUE = 0xFF0000FFu
};

/* A client that draws into guest memory. */
struct painter {
    struct dxgk_client *client;
    struct rig_context x;
    struct abi_builder b;
    D3DKMT_HANDLE picture;
    UINT node;
    pid_t pid; /* of its executor */
};

/* Appends to p->b. */
void paint(struct painter *p, uint32_t colour);
/* The first pixel. */
uint32_t seen(struct painter *p);
/* Of a user; 0: it is no stranger. Its picture is BLUE then. */
void painter_of(struct painter *p, struct rig *r, uint64_t process, uint32_t user);
void painter_up(struct painter *p, struct rig *r, uint64_t process);
void painter_down(struct painter *p);
/* So many, each looked at; in the middle the signal is sent, if it is not 0. */
void frames(struct painter *p, unsigned n, int sig, pid_t victim);
/* Whether the process goes within ten seconds. */
bool gone(pid_t pid);
