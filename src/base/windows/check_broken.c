/* SPDX-License-Identifier: MIT */
/* check_broken.c: base/check.h in a Windows program. */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

void check_broken(struct check_site *site)
{
    fprintf(stderr, "%s:%u: broken invariant: %s\n", site->file, site->line, site->text);
#ifndef NDEBUG
    abort();
#endif
}
