/* SPDX-License-Identifier: MIT */
/* image.h: a miniport's PE image, in memory as the kernel would have it.
 *
 *   dxgk_image_load ─▶ dxgk_image_entry is called ─▶ dxgk_image_discard ─▶ … ─▶ dxgk_image_unload
 *
 * Invariants:
 *  1. Every import is bound to a routine of dxgkrnl/ntos/routines.h, and every section has the protection that its flags name.
 *  2. After dxgk_image_discard, what is in discardable sections (INIT) is gone: who calls it there faults.
 *  3. What a driver does that only the kernel's processor mode allows, and accesses of register windows, of the processor's
 *     control region and of the page that the kernel shares with everybody, are done for it where they fault (fault.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "wddm/ntddk.h"

struct image;

/* Whether a file is a PE image at all; false when it cannot be read. */
bool dxgk_image_is(const char *path);

/* 0; -ENOENT for imports that are missing, -ENOEXEC for a file that is no x64 driver, or what reading it said. */
int dxgk_image_load(struct image **out, const char *path, struct error *e);
/* The same from bytes; `name` is for messages. */
int dxgk_image_load_bytes(struct image **out, const char *name, const void *file, size_t size,
                          struct error *e);
DRIVER_INITIALIZE *dxgk_image_entry(const struct image *i);
/* DriverEntry has succeeded. */
void dxgk_image_discard(struct image *i);
/* NULL is legal. Nothing of it may be running. */
void dxgk_image_unload(struct image *i);

/* The calling thread is about to run drivers' code: from now on Linux does not take its system calls for a program's, but sends SIGSYS
 * (si_code SYS_USER_DISPATCH). Costs nothing without images, or the second time; does nothing where Linux has no such thing (before
 * 5.11) or an image lies elsewhere. */
void dxgk_image_fence(void);

/* How many bytes of an image are at `address` and behind it; 0: it is in none. Any thread, signal handlers too. */
size_t dxgk_image_code(const void *address);
/* The image that `address` is in as "NAME+0x1234", in `text`; false: it is in none. The same. */
bool dxgk_image_describe(const void *address, char *text, size_t size);
