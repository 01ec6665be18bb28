/* SPDX-License-Identifier: MIT */
/* wine.h: programs for Windows, which start with the library of d3d/. */
#pragma once

/* The words of a command with what is in `layers` in front of the Windows program that Wine is to run; to be freed with `*starter`. They
 * are NULL where it names none, or where there is nothing of that. -ENOMEM or 0. */
int wine_words(char *const *argv, const char *layers, char ***words, char **starter);
