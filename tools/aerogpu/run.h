/* SPDX-License-Identifier: MIT */
/* run.h: what `aerogpu run` loads when it has something to say: the judge of crashes, with what makes dumps and reads them. It is of this
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
