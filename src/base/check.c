/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

static unsigned broken;

void check_broken(struct check_site *site)
{
    __atomic_add_fetch(&broken, 1, __ATOMIC_RELAXED);
#ifdef NDEBUG
    if (!__atomic_fetch_add(&site->broken, 1, __ATOMIC_RELAXED))
        log_error("check", "%s:%u: broken invariant: %s", site->file, site->line, site->text);
#else
    dprintf(2, "%s:%u: broken invariant: %s\n", site->file, site->line, site->text);
    abort();
#endif
}

unsigned check_broken_count(void)
{
    return __atomic_load_n(&broken, __ATOMIC_RELAXED);
}
