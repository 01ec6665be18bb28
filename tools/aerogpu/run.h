/* SPDX-License-Identifier: MIT */
/* run.h: the parts of `aerogpu run`. And what it loads when it has something to say: the judge of crashes, with what makes dumps and reads them. It is of this
 * version (base/file/part.h): another may have been installed while the program ran. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct vkbox_dumps;
struct vkbox_run_result;

struct run_library {
    const struct vkbox_dumps *dumps;
    void (*tell)(const char *dump, bool json);           /* says what a dump says */
    void (*tell_json)(const struct vkbox_run_result *r); /* one object, with all that were told */
};
#define RUN_LIBRARY "aerogpu_run_library" /* its name there */

/* Loads it, unless it is there. NULL: it cannot be. */
const struct run_library *run_library(struct error *e);

/* In place of this process: the program on a service of its own, with the program's exit code; dumps go to `dumps`, NULL: the current
 * folder. Comes back with an error only, before anything was started. */
int run_on(const char *dumps, char *const *argv, struct error *e);
