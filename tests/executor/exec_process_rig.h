/* SPDX-License-Identifier: MIT */
/* exec_process_rig.h: a host with a megabyte of guest memory, and what its executor answered. */
#pragma once

#include "base/clock.h"
#include "executor/host/host.h"
#include "exec_test_engine.h"

#define BACKEND 3u
#define RAM_GPA UINT64_C(0x10000000)

enum { RAM_SIZE = 1 << 20, KEPT = 1024 };

struct fixture {
    struct exec_host *host;
    struct clock clock;
    int ram_fd;
    unsigned char *ram;
    uint64_t next_id, expected_id; /* submitted, and to complete next */
    unsigned completed, errors, deaths, files_before;
    struct abi_completion kept[KEPT]; /* the last ones, by number */
    struct exec_death death;
    uint32_t next_slot;
};

void on_complete(void *ctx, const struct abi_completion *c); /* `ctx` is the fixture */
/* The executor is that of exec_test_engine.c unless `p` names another. */
void start_params(struct fixture *f, struct exec_host_params p);
void start(struct fixture *f);
/* Nothing stays behind: no descriptor, no child, dead or alive. */
void stop(struct fixture *f);
/* 0, or that of exec_host_submit(): the ring may be full. */
int submit(struct fixture *f, uint32_t op, uint64_t a, uint64_t b);
void must_submit(struct fixture *f, uint32_t op, uint64_t a, uint64_t b);
/* Until `n` submissions have completed and `deaths` executors have died; a minute at most. */
void run_until(struct fixture *f, unsigned n, unsigned deaths);
/* The completion that came last. */
const struct abi_completion *last(const struct fixture *f);
void must_be_ready(struct fixture *f);
/* Submits until the ring is full. */
void fill(struct fixture *f);

/* The file `what` of a process in /proc, as text. */
void read_proc(pid_t pid, const char *what, char *text, size_t size);
void read_status(pid_t pid, char *text, size_t size);
