/* SPDX-License-Identifier: MIT */
/* error_type.h: what went wrong, for who reads it: installed headers need no more. base/error.h fills it. */
#pragma once

#include <stddef.h>

struct error {
    int code;       /* 0, or a negative errno */
    char text[300]; /* one sentence without a full stop, "" while code is 0 */
};

static inline void error_clear(struct error *e)
{
    if (e) {
        e->code = 0;
        e->text[0] = '\0';
    }
}
