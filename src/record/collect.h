/* SPDX-License-Identifier: MIT */
/* collect.h: runs a program with the recorder in front and writes what it leaves in shared
 * memory (shm.h) into a file. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "record/api.h"

struct collect_params {
    const struct api *api;
    const char *output; /* the file to write */
    char *const *argv;  /* the program, NULL-terminated */
    /* How it is run, where that is not by itself with a library in front: */
    char *const *run;                     /* instead of `argv`, or NULL */
    const char *preload;                  /* path of the recorder that is loaded into the program, or NULL */
    void (*environment)(const void *ctx); /* in the child, before it becomes the program; or NULL */
    const void *ctx;
    int crash_status;    /* an exit status that means a crash; 0: signals alone do */
    uint32_t hash_every; /* 0: no frame hashes */
    uint32_t dirty_method;
    uint32_t last_frame; /* nothing that was begun after this frame is written; UINT32_MAX: all is */
};

struct collect_result {
    int status; /* of the program, as waitpid() gives it */
    uint64_t bytes, blocks;
    uint32_t frames, objects, threads;
    bool nothing;  /* no call was seen: there is no new file */
    uint32_t lost; /* calls, at least: the program had no memory for them */
};

/* Returns when the program has ended and the file is complete, or cannot be written: the program then goes on without it. */
int collect_run(const struct collect_params *p, struct collect_result *r, struct error *e);
