/* SPDX-License-Identifier: MIT */
/* symbols.h: which function and line an address of a module is, from the debug information that this machine has. Nothing is fetched from
 * elsewhere.
 *
 * A dump names modules by file and build-id, without folders. They are looked for among the files of processes (symbol_files.h), in the
 * folders of the variable AEROGPU_SYMBOLS (with ':' between them), in the current one, and in those of the system.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blackbox/symbol_files.h"

/* Files of processes. They stay the caller's. */
void symbols_add(const struct symbol_files *f);

/* What a return address belongs to, as "function (file.c:12)", "function" or "". `build_id` in hexadecimal; NULL or "": any will do. */
void symbols_find(const char *module, const char *build_id, uint64_t offset, char *out, size_t size);

void symbols_finish(void); /* forgets all modules; what was added stays */
