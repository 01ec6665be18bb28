/* SPDX-License-Identifier: MIT */
/* elf.h: whether a file is a shared object that this process can load, before it is handed to the loader, whose words fit programs' libraries:
 * it calls one of another machine "not there", and dies of one that is cut off. */
#pragma once

#include "base/error.h"

/* 0, or a negative errno and one sentence with the path. */
int dxgk_elf_check(const char *path, struct error *e);
