/* SPDX-License-Identifier: MIT */
/* play_window.h: a window on the X server that DISPLAY names, in which pictures are shown, one after the other. */
#pragma once

#include <stdint.h>

#include "base/error.h"

struct play_window;

/* A window of that size, titled `title`. 0; -ENODEV: there is no X server, or one with other pixels than 32 bits from the low byte up;
 * -ENOMEM. */
int play_window_open(struct play_window **out, uint32_t width, uint32_t height, const char *title,
                     struct error *e);
/* Shows rows of four bytes a pixel (red, green, blue, anything), tight; the window takes its size. 0; -ECANCELED: somebody has closed the
 * window; -EIO: the X server is gone; -ENOMEM. */
int play_window_show(struct play_window *w, const uint8_t *rgba, uint32_t width, uint32_t height,
                     struct error *e);
void play_window_close(struct play_window *w); /* NULL is legal */
