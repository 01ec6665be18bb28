/* SPDX-License-Identifier: MIT */
/* screen.h: an X server of its own for a program, and what is on it.
 *
 * Xvfb keeps its picture in a file: it is read while the program draws, and may show one frame above and the next below.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct screen {
    pid_t pid;
    char folder[64];  /* with the file */
    char display[16]; /* ":7" */
};

struct picture {
    uint32_t width, height;
    uint8_t *rgba; /* tight; NULL: none */
};

/* Reads "640x480": pixels, each from 1 to 16384. 0, or -EINVAL with what is wrong. */
int screen_size(const char *text, unsigned *width, unsigned *height, struct error *e);

/* Starts it, `size` being "640x480". 0; -EINVAL: that is no size; -ENOENT: there is no Xvfb; or another errno. */
int screen_start(struct screen *s, const char *size, struct error *e);
void screen_stop(struct screen *s);
/* What it shows; picture_finish() in any case. 0 or a negative errno. */
int screen_look(const struct screen *s, struct picture *out, struct error *e);

/* The share of pixels that differ visibly, from 0 to 1; 1 if the sizes do. */
double picture_difference(const struct picture *a, const struct picture *b);
/* How many cells of 16 by 16 pixels it has; and marks those (each a byte) in which the two differ visibly. Of two sizes: none. */
size_t picture_cells(const struct picture *p);
void picture_changes(const struct picture *a, const struct picture *b, uint8_t *cells);
void picture_finish(struct picture *p);
