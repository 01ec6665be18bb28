/* SPDX-License-Identifier: MIT */
#include "record/dirty/dirty.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "record/dirty/dirty_internal.h"

static const struct dirty_ops *const ops_of[] = {[DIRTY_KERNEL] = &dirty_kernel, [DIRTY_HASH] = &dirty_hash};

const char *dirty_method_name(enum dirty_method m)
{
    static const char *const names[] = {"auto", "kernel", "hash"};

    return names[m];
}

int dirty_create(struct dirty **out, enum dirty_method method)
{
    struct dirty *d = calloc(1, sizeof(*d));
    enum dirty_method m = method == DIRTY_AUTO ? DIRTY_KERNEL : method;
    int err;

    if (!d)
        return -ENOMEM;
    d->fd = d->pagemap = -1;
    for (;;) {
        d->ops = ops_of[m];
        d->method = m;
        err = d->ops->open(d);
        if (!err)
            break;
        if (method != DIRTY_AUTO || m == DIRTY_HASH) {
            free(d);
            return err;
        }
        m = DIRTY_HASH;
    }
    *out = d;
    return 0;
}

void dirty_destroy(struct dirty *d)
{
    if (!d)
        return;
    d->ops->close(d);
    free(d);
}

enum dirty_method dirty_method(const struct dirty *d)
{
    return d->method;
}

int dirty_add(struct dirty *d, struct dirty_span **out, void *p, size_t n)
{
    struct dirty_span *s = calloc(1, sizeof(*s));
    int err;

    if (!s)
        return -ENOMEM;
    s->start = (uintptr_t)p & ~(uintptr_t)(DIRTY_PAGE - 1);
    s->end = ((uintptr_t)p + n + DIRTY_PAGE - 1) & ~(uintptr_t)(DIRTY_PAGE - 1);
    err = d->ops->add(d, s);
    if (err) {
        free(s->hashes);
        free(s);
        return err;
    }
    *out = s;
    return 0;
}

void dirty_remove(struct dirty *d, struct dirty_span *s)
{
    if (!s)
        return;
    d->ops->remove(d, s);
    free(s->hashes);
    free(s);
}

int dirty_collect(struct dirty *d, struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r), void *ctx)
{
    INVARIANT(s->start < s->end && s->start % DIRTY_PAGE == 0 && s->end % DIRTY_PAGE == 0);
    INVARIANT(!s->hashing || s->hashes);
    INVARIANT(d->ops && d->ops->collect);
    return d->ops->collect(d, s, fn, ctx);
}
