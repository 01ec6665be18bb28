/* SPDX-License-Identifier: MIT */
/* conformance.h: where the upstream recordings with known results lie: $AEROGPU_CONFORMANCE, or the folder
 * shared/conformance beside the source tree. They are not part of the project. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* NULL, and a line that says so, if they are not there. */
static inline const char *conformance_dir(void)
{
    static char path[4000];
    const char *set = getenv("AEROGPU_CONFORMANCE"), *root = getenv("AEROGPU_SOURCE_ROOT");

    if (set)
        snprintf(path, sizeof(path), "%s", set);
    else
        snprintf(path, sizeof(path), "%s/../shared/conformance", root ? root : ".");
    if (!access(path, R_OK | X_OK))
        return path;
    printf("# skipped: no conformance recordings in %s (AEROGPU_CONFORMANCE says where)\n", path);
    return NULL;
}
