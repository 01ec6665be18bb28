/* SPDX-License-Identifier: MIT */
/* loans.h: the mode sets, modes, paths and monitors' descriptors and frequency ranges that a miniport has acquired or created and not given back yet.
 *
 *   Acquire…, Create… ─▶ lent ─Release…, Add…, Assign…─▶ given back
 *                          └─ its DDI returns ─▶ a violation, and taken back
 *
 * Invariants:
 *  1. What a miniport names is looked up here by its address before anything reads it: a handle that is stale is refused.
 *  2. Nothing is lent beyond the DDI in which it was.
 *  3. What was lent as CONST is what it was when the DDI returns, or that is a violation, and it is put back.
 */
#pragma once

#include "dxgkrnl/display/vidpn.h"

struct loan {
    struct loan *next;
    const void *thing;
    const char *what, *ddi; /* "source mode set"; in which it was lent */
    unsigned times;
    void (*take_back)(void *thing); /* NULL: it goes with what it is in */
};

/* False: no memory. */
bool dxgk_lend(struct dxgk *d, const void *thing, const char *what, void (*take_back)(void *thing));
/* Whether the miniport has it. If not, and it is not NULL, that is a violation of `function`. */
bool dxgk_has_lent(struct dxgk *d, const void *thing, const char *what, const char *function);
/* One time less; it is lent. */
void dxgk_give_back(struct dxgk *d, const void *thing);
/* `ddi` has returned. */
void dxgk_loans_settle(struct dxgk *d, const char *ddi);

/* Around `call` of a DDI that has to do with modes. */
#define DISPLAY_AROUND(d, name, call)                                                                        \
    ({                                                                                                       \
        dxgk_vidpn_look(d, NULL);                                                                            \
        NTSTATUS display_status_ = (call);                                                                   \
        dxgk_loans_settle(d, "DxgkDdi" #name);                                                               \
        display_status_;                                                                                     \
    })
/* One that may refuse: that is no failure of the miniport's. */
#define DISPLAY_MAY(d, name, call)                                                                           \
    ({                                                                                                       \
        const struct dxgk_failed before_ = (d)->failed;                                                      \
        NTSTATUS asked_ = DISPLAY_AROUND(d, name, call);                                                     \
        (d)->failed = before_;                                                                               \
        asked_;                                                                                              \
    })
#define DISPLAY_DDI(d, name, object, arg)     DISPLAY_AROUND(d, name, DDI_ARG(d, name, object, arg))
#define DISPLAY_DDI_MAY(d, name, object, arg) DISPLAY_MAY(d, name, DDI_ARG(d, name, object, arg))
