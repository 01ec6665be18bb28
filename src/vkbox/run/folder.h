/* SPDX-License-Identifier: MIT */
/* folder.h: where records lie: one folder for each `aerogpu run`, which holds a lock on it, and one of a user's for what runs with
 * the layer and without it. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct vkbox_folder {
    char path[PATH_MAX];
    int fd; /* the lock, which the kernel lets go when its owner ends */
};

/* In the first place that has room for a record; where none has, in one that can be written. 0, or a negative errno: none can be
 * made. */
int vkbox_folder_make(struct vkbox_folder *f, struct error *e);
void vkbox_folder_remove(struct vkbox_folder *f); /* with what is in it */

/* A record that nobody watches. `dir`, `name`: its file; `pid` its process if that still runs, or 0: then the file goes once
 * it has been looked at. */
typedef void vkbox_left(void *ctx, int dir, const char *name, pid_t pid);

/* Records that were left where records are made: by an `aerogpu run` that was killed, or by the layer alone. */
void vkbox_folder_sweep(vkbox_left *left, void *ctx);
