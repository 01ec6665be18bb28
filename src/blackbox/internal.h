/* SPDX-License-Identifier: MIT */
/* internal.h: what the files of the black box share. */
#pragma once

#include <stddef.h>

#include <aerogpu/blackbox.h>

#include "base/error.h"

_Static_assert(sizeof(struct bb_error) == sizeof(struct error) &&
                   offsetof(struct bb_error, text) == offsetof(struct error, text),
               "the public error is the library's own");

static inline struct error *bb_error_of(struct bb_error *e)
{
    return (struct error *)(void *)e;
}
