/* SPDX-License-Identifier: MIT */
/* utf8.h: text from outside becomes UTF-8. */
#pragma once

#include <stddef.h>

/* Bytes of the well-formed character at `text`, of which `left` bytes may be read; 0 if there is none, and at a NUL. */
size_t utf8_length(const char *text, size_t left);

/* Copies `size` bytes of text to `out`, each byte that belongs to no well-formed character as U+FFFD, and ends before the
 * character that finds no room in `max` bytes. NULL measures. The bytes written; no NUL is added. */
size_t utf8_clean(char *out, size_t max, const char *text, size_t size);
