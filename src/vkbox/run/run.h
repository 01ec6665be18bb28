/* SPDX-License-Identifier: MIT */
/* run.h: a program with the black box's layer in it, watched until it ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct bb_package;
struct vkbox_dumps;

struct vkbox_run_params {
    char *const *argv;   /* of the program, up to NULL. NULL: `pid` runs already, and has the layer itself */
    pid_t pid;           /* whose child this process is not */
    const char *layers;  /* the folder with the layer's manifest */
    const char *dumps;   /* where dumps go; NULL: the current folder */
    uint64_t timeout_ns; /* no progress for so long is a hang; 0: never */
    bool exact, guard;
    bool all; /* until the last process that the program started has ended, whether it uses Vulkan or not */
    volatile int *stop; /* a signal to be passed on to the program; NULL: none comes */
    /* Who makes dumps: &vkbox_dumps, perhaps loaded for it. NULL, with why in `e`: nobody can. */
    const struct vkbox_dumps *(*dumps_by)(void *ctx, struct error *e);
    /* The folder for records is there. May be NULL. */
    void (*on_folder)(void *ctx, const char *path);
    /* Asked every few milliseconds: whether a dump is wanted of what there is. May be NULL. */
    bool (*is_asked)(void *ctx);
    /* What was asked for is made, or it was said why not. */
    void (*on_answered)(void *ctx);
    /* A dump is about to be made: there may be more to say in it. May be NULL. */
    void (*on_describe)(void *ctx, struct bb_package *p);
    /* A dump was made. From the thread that called vkbox_run(). */
    void (*on_dump)(void *ctx, const char *path);
    /* What there is to say that is no dump. */
    void (*on_trouble)(void *ctx, const char *text);
    void *ctx;
};

struct vkbox_run_result {
    bool exited, signalled;
    int code;                           /* exit code, or signal */
    uint32_t processes, devices, dumps; /* processes: that used Vulkan */
};

/* 0, or a negative errno: it could not be started. */
int vkbox_run(const struct vkbox_run_params *p, struct vkbox_run_result *out, struct error *e);
