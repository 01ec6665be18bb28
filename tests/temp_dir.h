/* SPDX-License-Identifier: MIT */
/* temp_dir.h: a folder for one test program's files: set-up and tear-down of its group. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

static char dir[] = "/tmp/aerogpu-test-XXXXXX";

static inline int make_dir(void **state)
{
    return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}
