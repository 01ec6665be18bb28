/* SPDX-License-Identifier: MIT */
/* wine.h: programs for Windows, which start with the library of d3d/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether this file is a program for Windows. */
bool wine_wants(const char *path);
/* The folder with a `wine` that puts the starter in front of programs itself, for whoever starts Wine by its name; false: there is
 * no Wine or no starter. */
bool wine_folder(const char *layers, char *folder, size_t size);
/* The words of a command with what is in `layers` in front of the Windows program that Wine is to run; to be freed with `*starter`. They
 * are NULL where it names none, or where there is nothing of that. A program for Windows without the word `wine` gets that, too. -ENOMEM or 0. */
int wine_words(char *const *argv, const char *layers, char ***words, char **starter);
