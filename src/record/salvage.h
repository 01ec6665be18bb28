/* SPDX-License-Identifier: MIT */
/* salvage.h: what a recorder that was killed (kill -9, no memory left) had not written yet.
 *
 * The calls since the last block of each thread are in the memory that the recorder shared with the program (shm.h), which is a file.
 * Whoever reads the recording, and the next recorder that starts, writes them behind it, with the index that is missing; then the
 * memory goes. Memory that a living recorder holds is locked. A program that is still running has its calls up to that moment in
 * the recording.
 */
#pragma once

#include <stdbool.h>

#include "record/api.h"

#define SALVAGE_NAME "aerogpu-record-" /* begins the name of such memory */
enum { SALVAGE_FOLDERS = 2 };
extern const char *const salvage_folders[SALVAGE_FOLDERS];

/* Whether there was something left of the recording at `path`, and it is whole now. */
bool salvage_file(const struct api *api, const char *path);
/* All that killed recorders left: completes what was recorded with the same tables, and removes the memory. */
void salvage_all(const struct api *api);
