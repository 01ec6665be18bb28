/* SPDX-License-Identifier: MIT */
/* png.h: pictures as RGBA8 PNG files. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Writes `path` (replacing it). `stride` is the distance of two rows in bytes. */
int png_file_write(const char *path, const uint8_t *rgba, uint32_t width, uint32_t height, size_t stride,
                   struct error *e);

/* The same for a result of tests (out.h). */
int png_file_result(const char *path, const uint8_t *rgba, uint32_t width, uint32_t height, size_t stride,
                    struct error *e);

/* Reads any PNG as tight RGBA8; `*rgba` is the caller's to free(). */
int png_file_read(const char *path, uint8_t **rgba, uint32_t *width, uint32_t *height, struct error *e);
