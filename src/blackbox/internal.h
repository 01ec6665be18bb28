/* SPDX-License-Identifier: MIT */
/* internal.h: what the files of the black box share. */
#pragma once

#include <stddef.h>

#include <aerogpu/blackbox.h>

#include "base/error.h"

_Static_assert(sizeof(struct bb_error) == sizeof(struct error) &&
                   offsetof(struct bb_error, text) == offsetof(struct error, text),
               "the public error is the library's own");

/* What a history of resources does not know: former ones that there was no room for, and changes that nobody saw. */
struct bb_gaps {
    uint64_t forgotten, lost;
};

struct bb_gaps bb_resources_gaps(struct bb_resources *r);
/* So many changes were not seen: from now on no address is called never mapped that memory could have had. */
void bb_resources_lose(struct bb_resources *r, uint64_t changes);
/* Makes f->text from the rest of it. */
void bb_fault_words(struct bb_fault *f);

static inline struct error *bb_error_of(struct bb_error *e)
{
    return (struct error *)(void *)e;
}

/* Where a public function begins: what an earlier one said is over. */
static inline struct error *bb_error_begin(struct bb_error *e)
{
    if (e)
        *e = (struct bb_error){0};
    return bb_error_of(e);
}
