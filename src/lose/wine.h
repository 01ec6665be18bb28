/* SPDX-License-Identifier: MIT */
/* wine.h: programs for Windows, which start with the library of d3d/. */
#pragma once

#include <stdbool.h>

/* Whether this file is a program for Windows. */
bool wine_wants(const char *path);
/* The folder with a `wine` that puts the starter in front of programs itself, for whoever starts Wine by its name; NULL: there is no Wine
 * or no starter. To be freed. */
char *wine_folder(const char *layers);
/* The words of a command with what is in `layers` in front of the Windows program that Wine is to run; to be freed with `*starter`. They
 * are NULL where it names none, or where there is nothing of that. A program for Windows without the word `wine` gets that, too. -ENOMEM or 0. */
int wine_words(char *const *argv, const char *layers, char ***words, char **starter);
