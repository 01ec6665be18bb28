/* SPDX-License-Identifier: MIT */
/* linked_driver.h: who loads the user-mode driver by its name gets the one that is linked into the program (--wrap=dlopen, dlsym,
 * dlclose). */
#pragma once

/* `entry` is the driver's function that the runtime asks for. */
void linked_driver(const char *entry, void *function);
