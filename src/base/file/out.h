/* SPDX-License-Identifier: MIT */
/* out.h: files that a command makes. They are whole, or they are not left behind.
 *
 * 1. What is read is never written over: a file of out_file_spare(), by whatever name, symbolic or hard link, is refused.
 * 2. Two outputs are two files: what was made already is not made again under another option.
 * 3. What is not a regular file (a device, a pipe) is written, and never removed.
 * 4. What is made is for its user alone (mode 0600, folders 0700): dumps, recordings and logs hold memory and pictures. Results of
 *    tests are what he asked for to show them: others read them as far as the umask lets them.
 * 5. In a folder that everybody may write to, what somebody else has put there is neither opened nor followed: -EIO.
 * 6. A folder that was made, and that nothing was put into, is not left behind.
 *
 * All that goes wrong with an output is -EIO, so that it is told from what is wrong with an input; or -EEXIST, for 1 and 2;
 * but for what this machine lacks: -ENOMEM, -EMFILE, -ENFILE, -ENOSPC. The words in `e` name the file.
 */
#pragma once

#include <stdio.h>

#include "base/error.h"

/* From now on this file is not written: it is an input. What is no regular file, or not there, does not matter.
 * 0 or -ENOMEM. */
int out_file_spare(const char *path, struct error *e);

/* Makes the file or empties it. NULL: it cannot be written. */
FILE *out_file_open(const char *path, struct error *e);
/* The same for a result of tests. */
FILE *out_file_result(const char *path, struct error *e);
/* As out_file_open(), but a descriptor, for writing only; what the file held is still there. */
int out_file_descriptor(const char *path, struct error *e);
/* A file that has no name until it is whole: what stands under `path` stays as it was, also if this process crashes or is killed,
 * until out_file_name(), or out_file_close(), gives it that name. Where the file system has no such files, and for what is no regular
 * file, it is the file itself. For results; recordings are there while they are made. */
int out_file_hidden(const char *path, struct error *e);
int out_file_name(int fd, const char *path, struct error *e);
FILE *out_file_whole(const char *path, struct error *e);
/* Makes the file, or goes on behind what it holds. */
FILE *out_file_append(const char *path, struct error *e);
/* Makes a folder that can be written to, unless it is there: with those that it is in. 0 or an error. */
int out_file_folder(const char *path, struct error *e);
/* The same for results of tests. */
int out_file_result_folder(const char *path, struct error *e);
/* Removes those that these made and that are empty: at a program's end. */
void out_file_folders_end(void);

/* For what takes long to make: whether it can be written there. 0 or an error; nothing is made. */
int out_file_check(const char *path, struct error *e);

/* Closes it. `failed` is 0 or the negative errno of whoever wrote it, with the words in `e`; a file that failed, or that
 * turns out not to hold all that was written, is discarded. Returns `failed`, or what closing found. */
int out_file_close(FILE *f, const char *path, int failed, struct error *e);

/* Removes it if it is a regular file, and not an input. */
void out_file_discard(const char *path);
