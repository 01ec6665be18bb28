/* SPDX-License-Identifier: MIT */
/* error.h: how a function says what went wrong.
 *
 * Functions return 0 or a negative errno. One that reads bytes, files or descriptors made by somebody else also takes a
 * `struct error *` (NULL is legal) and fills it with one sentence that names the offset, field or handle. The first
 * failure wins: a sentence that is already there is never overwritten.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error_type.h"

/* Fills `e` unless it already holds a failure; returns `code` (negative errno) so that callers can return it. */
int error_set(struct error *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " in front of the sentence in `e`, if there is one. */
void error_prefix(struct error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
