/* SPDX-License-Identifier: MIT */
/* out_file.h: files that a command makes. They are whole, or they are not left behind.
 *
 * What is not a regular file (a device, a pipe) is written, and never removed.
 */
#ifndef BASE_OUT_FILE_H_
#define BASE_OUT_FILE_H_

#include <stdio.h>

#include "base/error.h"

/* Makes the file or empties it. NULL: it cannot be written, `e` (-EIO) names it and says why. */
FILE *out_file_open(const char *path, struct error *e);

/* For what takes long to make: whether it can be written there. 0, or -EIO with the words in `e`; nothing is made. */
int out_file_check(const char *path, struct error *e);

/* Closes it. `failed` is 0 or the negative errno of whoever wrote it, with the words in `e`; a file that failed, or that
 * turns out not to hold all that was written, is discarded. Returns `failed`, or -EIO with the words in `e`. */
int out_file_close(FILE *f, const char *path, int failed, struct error *e);

/* Removes it if it is a regular file. */
void out_file_discard(const char *path);

#endif
