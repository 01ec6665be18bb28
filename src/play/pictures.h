/* SPDX-License-Identifier: MIT */
/* pictures.h: what is done with a presented picture (hash, PNG) on a thread of its own, so that playing does not wait.
 *
 *   pictures_add ──▶ queue of at most MAX_WAITING bytes ──▶ worker ──▶ hash, file
 *   pictures_wait: all that was added is done
 */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "play/frame_hash.h"

struct pictures;

struct picture_job {
    uint8_t *rgba; /* malloc'ed, tight; freed by the worker */
    uint32_t width, height;
    char *hash; /* FRAME_HASH_HEX bytes to fill, or NULL; stays where it is until pictures_wait */
    char *path; /* malloc'ed name of a PNG to write, or NULL */
};

int pictures_create(struct pictures **out);

/* Takes `rgba` and `path` over. Waits while too much is queued. */
int pictures_add(struct pictures *p, const struct picture_job *job);

/* Waits for the worker; 0 or the first error of all pictures so far. */
int pictures_wait(struct pictures *p, struct error *e);
void pictures_destroy(struct pictures *p);
