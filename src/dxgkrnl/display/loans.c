/* SPDX-License-Identifier: MIT */
/* loans.c: see loans.h. */
#include "dxgkrnl/display/loans.h"

#include <stdlib.h>
#include <string.h>

#include "dxgkrnl/adapter.h"

static struct loan *find(const struct dxgk *d, const void *thing)
{
    for (struct loan *l = d->display.loans; l; l = l->next)
        if (l->thing == thing)
            return l;
    return NULL;
}

static void drop(struct dxgk *d, struct loan *l)
{
    LIST_DROP(&d->display.loans, l, next);
    free(l);
}

bool dxgk_lend(struct dxgk *d, const void *thing, const char *what, void (*take_back)(void *thing))
{
    struct loan *l = find(d, thing);

    if (!l) {
        l = calloc(1, sizeof(*l));
        if (!l)
            return false;
        *l = (struct loan){.next = d->display.loans,
                           .thing = thing,
                           .what = what,
                           .ddi = dxgk_kernel_ddi(d->kernel),
                           .take_back = take_back};
        d->display.loans = l;
    }
    l->times++;
    return true;
}

bool dxgk_has_lent(struct dxgk *d, const void *thing, const char *what, const char *function)
{
    const struct loan *l = find(d, thing);

    if (l && !strcmp(l->what, what))
        return true;
    if (l)
        dxgk_kernel_violation(d->kernel, "%s: %p is a %s, and no %s", function, thing, l->what, what);
    else if (thing)
        dxgk_kernel_violation(d->kernel,
                              "%s: %p is no %s that the miniport has: it was released, added or assigned, or "
                              "never acquired",
                              function, thing, what);
    return false;
}

void dxgk_give_back(struct dxgk *d, const void *thing)
{
    struct loan *l = find(d, thing);

    INVARIANT(l && l->times);
    if (!--l->times)
        drop(d, l);
}

void dxgk_loans_settle(struct dxgk *d, const char *ddi)
{
    dxgk_vidpn_look(d, ddi);
    while (d->display.loans) {
        struct loan *l = d->display.loans;
        if (!dxgk_kernel_death(d->kernel)) /* who is dead gives nothing back */
            dxgk_kernel_violation(d->kernel,
                                  "%s returned and has not released a %s that it acquired or created",
                                  l->ddi ? l->ddi : "a DDI", l->what);
        for (; l->take_back && l->times; l->times--)
            l->take_back((void *)(uintptr_t)l->thing);
        drop(d, l);
    }
}
