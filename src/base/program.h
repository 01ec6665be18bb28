/* SPDX-License-Identifier: MIT */
/* program.h: programs that are started; and where the files are that belong to this one: helper programs, libraries that
 * are loaded in front of others, layers. They are looked for, in this order: what the caller wants; what an environment
 * variable names; beside the running program and up to three folders above it, in a build tree as well as under a prefix;
 * and where `meson install` would have put them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

enum program_place { PROGRAM_BIN, PROGRAM_LIBEXEC, PROGRAM_LIB }; /* meson's bindir, libexecdir, libdir */

struct program_params {
    const char *what;      /* for the sentence: "the executor" */
    const char *wanted;    /* a path that must be it, or NULL */
    const char *variable;  /* of the environment, or NULL */
    const char *built;     /* in the build tree: "src/executor/aerogpu-executor" */
    const char *installed; /* in `place`: "aerogpu-executor" */
    enum program_place place;
    bool is_data; /* to be read, not to be run */
};

/* Fills `path` with that of the running program. 0, -ENAMETOOLONG or what reading /proc/self/exe answered. */
int program_self(char *path, size_t size, struct error *e);
/* Where a shell finds `name`: as it is if it has a slash, else in a folder of PATH. False: nowhere, and `path` means nothing. */
bool program_in_path(const char *name, char *path, size_t size);

/* What a file is to who would run it, by its headers alone. */
enum program_kind {
    PROGRAM_NONE, /* none of them: a script, or not there */
    PROGRAM_LINUX,
    PROGRAM_LINUX_32,
    PROGRAM_WINDOWS
};
enum program_kind program_kind(const char *path);
/* Whether Windows on x86-64 would start this file: a program, for x86-64 or x86, all of whose sections are there. 0; or what reading
 * it answered, or -ENOEXEC, with a sentence that says what is wrong, and at which offset. */
int program_windows(const char *path, bool *is_32, struct error *e);

/* Fills `path`. 0; -ENOENT, -ENAMETOOLONG or what reading /proc/self/exe answered, with a sentence that says where it was
 * looked for. */
int program_find(const struct program_params *p, char *path, size_t size, struct error *e);

/* Starts argv[0], looked for in PATH, as a shell does: a script without an interpreter line runs as well. `prepare`, or NULL, is
 * called in the child before. Its process; or -errno: it cannot be run. */
pid_t program_start(char *const *argv, void (*prepare)(void *ctx), void *ctx);
