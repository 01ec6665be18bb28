/* SPDX-License-Identifier: MIT */
/* elf.h: miniports that are shared objects. */
#pragma once

#include "base/error.h"

/* Whether a file is one that this process can load, before it is handed to the loader, whose words fit programs' libraries: it calls one of
 * another machine "not there", and dies of one that is cut off. 0, or a negative errno and one sentence with the path. */
int dxgk_elf_check(const char *path, struct error *e);
/* Loads it; one that is loaded already once more, with variables of its own: each stack is a machine of its own. NULL: dlerror() knows. */
void *dxgk_elf_load(const char *path);
