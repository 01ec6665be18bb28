/* SPDX-License-Identifier: MIT */
/* words.h: what the validation layer says of a program while a device of it is lost.
 *
 * The layer writes into a pipe, by its settings; ours writes a mark there at the loss (slot.c): what stands behind it came after.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "base/strbuf.h"

#define WORDS_LAYER "VK_LAYER_KHRONOS_validation"

struct words {
    int fds[2], settings; /* the pipe; the layer's settings, as a file in memory */
    char folder[1024];    /* of its manifest */
    char line[4096];      /* one that has not come whole yet */
    size_t len;
    bool lost;
    struct strbuf *out;
};

/* 0; -ENOENT: the layer is not installed; or another errno. What is said goes to `out`, a line for each message, and each once. */
int words_open(struct words *w, struct strbuf *out, struct error *e);
/* Takes what has come. */
void words_read(struct words *w);
void words_close(struct words *w);
