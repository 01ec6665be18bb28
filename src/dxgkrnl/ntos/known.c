/* SPDX-License-Identifier: MIT */
/* known.c: the objects of the kernel's that a miniport has initialised in its own memory, by their addresses: what no routine has
 * initialised there is not used as one, whatever it holds.
 *
 * Invariants:
 *  1. An object is known from the routine that initialises it until it is deleted, its pool is freed, or another is initialised there.
 *  2. What the kernel has in its lists (timers, queued DPCs, held locks) leaves them before its memory becomes something else.
 */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

static const char *const names[] = {
    [KNOWN_NOTHING] = "nothing that was initialised",
    [KNOWN_EVENT] = "an event",
    [KNOWN_SEMAPHORE] = "a semaphore",
    [KNOWN_MUTEX] = "a mutex",
    [KNOWN_TIMER] = "a timer",
    [KNOWN_DPC] = "a DPC",
    [KNOWN_RESOURCE] = "a resource",
    [KNOWN_LOOKASIDE] = "a lookaside list of nonpaged pool",
    [KNOWN_PAGED_LOOKASIDE] = "a lookaside list of paged pool",
    [KNOWN_BUGCHECK] = "a bug check callback",
    [KNOWN_BUGCHECK_REASON] = "a bug check callback",
};

static enum known_kind kind_of(const struct dxgk *d, const void *object)
{
    const uint64_t *kind = map_find(&d->ntos.known, (uintptr_t)object);

    return kind ? (enum known_kind) * kind : KNOWN_NOTHING;
}

bool dxgk_ntos_known_mutex(const char *routine, const FAST_MUTEX *mutex)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(routine));

    enum known_kind is = kind_of(d, &mutex->Event);

    if (is == KNOWN_EVENT || (is == KNOWN_NOTHING && d->ntos.forgot))
        return true;
    dxgk_kernel_violation(d->kernel, "%s of %p, which is not a fast or guarded mutex that was initialised",
                          routine, (const void *)mutex);
    return false;
}

bool dxgk_ntos_known(const char *routine, enum known_kind kind, const void *object)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(routine));
    enum known_kind is = kind_of(d, object);

    if (is == kind || (is == KNOWN_NOTHING && d->ntos.forgot))
        return true;
    if (is == KNOWN_NOTHING)
        dxgk_kernel_violation(d->kernel, "%s of %p, which is not %s that was initialised", routine, object,
                              names[kind]);
    else
        dxgk_kernel_violation(d->kernel, "%s of %p, which was initialised as %s, not as %s", routine, object,
                              names[is], names[kind]);
    return false;
}

bool dxgk_ntos_known_waitable(const char *routine, const void *object)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(routine));
    enum known_kind is = kind_of(d, object);

    if ((is >= KNOWN_EVENT && is <= KNOWN_TIMER) || dxgk_ntos_thread_is(d, object) ||
        (is == KNOWN_NOTHING && d->ntos.forgot))
        return true;
    dxgk_kernel_violation(d->kernel, "%s of %p, which is no object to wait for that was initialised", routine,
                          object);
    return false;
}

void dxgk_ntos_initialised(const char *routine, enum known_kind kind, const void *object, size_t size)
{
    struct dxgk *d = dxgk_kernel_ctx(dxgk_kernel_self(routine));
    enum known_kind was = kind_of(d, object);
    const char *used = dxgk_ntos_in_use(d, object, size);
    uint64_t *known;

    if (used)
        dxgk_kernel_violation(d->kernel, "%s of memory with %s", routine, used);
    else if (was >= KNOWN_RESOURCE)
        dxgk_kernel_violation(d->kernel, "%s of %s that was not deleted", routine, names[was]);
    known = map_put(&d->ntos.known, (uintptr_t)object);
    if (known)
        *known = kind;
    else
        d->ntos.forgot = true;
}

bool dxgk_ntos_is(const struct dxgk *d, enum known_kind kind, const void *object)
{
    return kind_of(d, object) == kind;
}

void dxgk_ntos_deleted(struct dxgk *d, const void *object)
{
    map_remove(&d->ntos.known, (uintptr_t)object);
}

const char *dxgk_ntos_in_use(struct dxgk *d, const void *memory, size_t size)
{
    const char *used = NULL;

    if (dxgk_ntos_forget_timers(d, memory, size)) /* 2 */
        used = "a timer in it that is set";
    if (dxgk_kernel_forget_dpcs(d->kernel, memory, size))
        used = "a DPC in it that is queued";
    if (dxgk_ntos_forget_items(d, memory, size))
        used = "a work item in it that is queued";
    if (dxgk_ntos_forget_locks(d, memory, size))
        used = "a spin lock in it that is held";
    return used;
}

/* Of one that has to be deleted; else nothing. */
static const char *undeleted(enum known_kind kind)
{
    return kind == KNOWN_RESOURCE   ? "a resource in it that was not deleted"
           : kind >= KNOWN_BUGCHECK ? "a bug check callback in it that is registered"
           : kind > KNOWN_RESOURCE  ? "a lookaside list in it that was not deleted"
                                    : NULL;
}

/* Small memory is looked through, for large memory what is known is. */
const char *dxgk_ntos_freed(struct dxgk *d, const void *memory, size_t size)
{
    const char *used = dxgk_ntos_in_use(d, memory, size), *left = NULL;
    struct map *known = &d->ntos.known;
    struct map_slot s;

    if (size / 8 <= known->num)
        for (size_t i = 0; i + 8 <= size; i += 8) {
            const void *at = (const char *)memory + i;
            const char *is = undeleted(kind_of(d, at));
            left = is ? is : left;
            map_remove(known, (uintptr_t)at);
        }
    else
        for (size_t at = 0; map_next(known, &at, &s);)
            if (s.key - (uintptr_t)memory < size) {
                const char *is = undeleted((enum known_kind)s.value);
                left = is ? is : left;
                map_remove(known, s.key);
                at = 0; /* what came behind has moved */
            }
    if (!used && dxgk_ntos_is_locked(d, memory, size))
        used = "pages in it that an MDL has locked";
    return used ? used : left;
}

void *dxgk_ntos_next(const struct dxgk *d, size_t *at, enum known_kind kind, enum known_kind or)
{
    struct map_slot s;

    while (map_next(&d->ntos.known, at, &s))
        if (s.value == kind || s.value == or)
            return (void *)(uintptr_t)s.key;
    return NULL;
}

unsigned dxgk_ntos_check_undeleted(struct dxgk *d)
{
    struct map_slot s;
    unsigned n = 0;

    for (size_t at = 0; map_next(&d->ntos.known, &at, &s);)
        if (undeleted((enum known_kind)s.value)) {
            dxgk_kernel_violation(d->kernel,
                                  s.value >= KNOWN_BUGCHECK
                                      ? "the miniport left %s registered"
                                      : "the miniport did not delete %s that it initialised",
                                  names[s.value]);
            n++;
        }
    return n;
}
