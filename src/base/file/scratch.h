/* SPDX-License-Identifier: MIT */
/* scratch.h: a folder for as long as a program runs, for sockets, records and pictures that are its own.
 *
 * 1. Nobody else can take its name first, or look into it: the name is random, the mode 0700.
 * 2. Who has one holds a lock on it. One that nobody holds was left by a program that was killed: the next scratch_make() of that
 *    name removes it, if it is this user's, and follows no link on the way.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

struct scratch {
    char path[PATH_MAX / 4]; /* "": none */
    int fd;                  /* the folder, with the lock */
};

/* $XDG_RUNTIME_DIR, where it is the absolute path of a folder that is this user's; else NULL: whoever owns a folder can put another
 * file in the place of each in it. (`sudo -E` gives root that of the user.) Until the environment changes. */
const char *scratch_runtime_dir(void);

/* Makes BASE/`name`-XXXXXX in the first of $XDG_RUNTIME_DIR, /dev/shm and /tmp that takes it; where `large`, in /tmp only: the other
 * two are memory. 0 or a negative errno. */
int scratch_make(struct scratch *s, const char *name, bool large, struct error *e);

/* Removes it with the files in it. One that was never made, or is all zeros, is legal. */
void scratch_remove(struct scratch *s);
