/* SPDX-License-Identifier: MIT */
/* watch_rig.h: a machine with a driver and a black box, whose findings are kept, and what tests have it do. Fails the test
 * where something cannot be done. */
#pragma once

#include "abi/builder.h"
#include "machine/driver.h"
#include "watch/watch.h"

enum { SPACE = 1 << 20, ALLOC = 9, NOWHERE, ALLOC_BYTES = 4096, HANG_MS = 300 };

extern char rig_dir[]; /* of dumps; set-up and tear-down of the group make and remove it */
extern uint32_t rig_hang_ms;
extern uint64_t rig_executor_bytes; /* of private memory; 0: the default */

int rig_make_dir(void **state);
int rig_remove_dir(void **state);

struct rig {
    struct machine *m;
    struct driver *d;
    struct watch *w;
    struct abi_builder b;
    uint64_t stream, table, memory; /* memory: ALLOC_BYTES of allocation ALLOC; NOWHERE is no memory */
    uint32_t submissions;
    struct watch_crash crash; /* the last */
    uint32_t crashes;
    char dump[4096];
};

/* The one there is: of a check that failed it goes on as long as the test, and ends with the next one that is made. */
struct rig *rig_init(enum exec_markers markers);
void rig_finish(struct rig *r);
/* What is in `b`, at most SPACE bytes, as one submission of context 3; its fence. Up to 8 may be under way. */
uint64_t submit(struct rig *r);
/* Until the watch has found `crashes` in all. */
void await_crash(struct rig *r, uint32_t crashes);
/* Skips the test where the executor was hardly let run: nothing that hangs can be told from it then. */
void assert_hang(struct rig *r);
/* Until the Vulkan device is at work on something. */
void await_work(struct rig *r);
/* The first column of the first row, as text; "" for none. Valid until the next call. */
const char *ask(const char *path, const char *sql);
/* All statuses so far, "active, timeout, …", from a dump that is made for it. */
const char *statuses(struct rig *r);
void run_good(struct rig *r);

/* Binds 16 bytes of the buffer for compute shaders. */
void constants(struct rig *r, uint32_t buffer, uint32_t offset);
/* A store by the compute shader of samples/plant.c to buffer 11, whose address is in buffer 10. */
void poke(struct rig *r, uint32_t offset);
void dispatch(struct rig *r);
