/* SPDX-License-Identifier: MIT */
/* collect_wine.h: recording a Windows program that runs under Wine.
 *
 * Windows looks for a program's libraries in the program's folder first. So that nothing is written there, and nothing
 * in the user's prefix, the program is started from a private folder: links to everything in its own, and the
 * recorder's d3d12.dll and dxgi.dll. Above it stand the folders that are above its own, again with links to everything in them, so
 * that `..\..\Content` is what it is there. Afterwards they are removed; files that the program made in them move to where
 * they would have been.
 */
#pragma once

#include <stdbool.h>

#include "record/collect.h"

/* Whether the command runs a Windows program: `wine PROGRAM...`, or a file that ends in .exe. */
bool wine_command(char *const *argv);
/* Records it: `p` says what and how, `dll_dir` where the recorder's DLLs are. */
int wine_collect(const struct collect_params *p, const char *dll_dir, struct collect_result *r,
                 struct error *e);
