/* SPDX-License-Identifier: MIT */
#include "d3dkmt/wide.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "d3dkmt/wire.h"

#define P(type, member, at) {offsetof(type, member), at, true},
#define A(type, member, at) {offsetof(type, member), at, false},
#define T(type, size, rows)                                                                                  \
    static const struct wide_row rows_##type[] = {rows{0}};                                                  \
    const struct wide_type d3dkmt_wide_##type = {                                                            \
        sizeof(type), size, sizeof(rows_##type) / sizeof(struct wide_row) - 1, rows_##type};                 \
    _Static_assert(sizeof(rows_##type) > sizeof(struct wide_row) || sizeof(type) == (size), #type);
D3DKMT_WIDE_TYPES(T)
#undef T
#undef A
#undef P

#if UINTPTR_MAX == UINT64_MAX
#define P(type, member, at) _Static_assert(offsetof(type, member) == (at), #member);
#define A(type, member, at) P(type, member, at)
#define T(type, size, rows) rows _Static_assert(sizeof(type) == (size), #type);
D3DKMT_WIDE_TYPES(T)
#undef T
#undef A
#undef P
#endif

/* What lies between two rows is the same in both, up to what one of them has of padding before the second. */
static void copy(const struct wide_type *t, uint8_t *here, uint8_t *wide, bool widens)
{
    size_t at = 0, to = 0;

    for (unsigned i = 0; i <= t->num; i++) {
        const struct wide_row last = {t->size, t->wide, false}, *r = i < t->num ? &t->rows[i] : &last;
        size_t n = (size_t)r->at - at < (size_t)r->wide - to ? (size_t)r->at - at : (size_t)r->wide - to;
        if (widens)
            memcpy(wide + to, here + at, n);
        else
            memcpy(here + at, wide + to, n);
        at = r->at;
        to = r->wide;
        if (!r->is_pointer)
            continue;
        if (widens)
            memcpy(wide + to, here + at, sizeof(void *)); /* the rest is zero */
        else
            memcpy(here + at, wide + to, sizeof(void *));
        at += sizeof(void *);
        to += sizeof(uint64_t);
    }
}

/* The list of structures with pointers that `here` leads to, or NULL; *at: where it does in the wide one. */
static uint8_t *list_of(const struct wide_type *type, void *here, const struct wide_type **element,
                        UINT *count, unsigned *at)
{
    const D3DKMT_CREATEALLOCATION *c = here;
    const D3DKMT_OPENRESOURCE *o = here;

    if (type == &d3dkmt_wide_D3DKMT_CREATEALLOCATION) {
        *element = &d3dkmt_wide_D3DDDI_ALLOCATIONINFO;
        *count = c->NumAllocations;
        *at = WIDE_AT(D3DKMT_CREATEALLOCATION, pAllocationInfo);
        return (uint8_t *)c->pAllocationInfo;
    }
    if (type == &d3dkmt_wide_D3DKMT_OPENRESOURCE) {
        *element = &d3dkmt_wide_D3DDDI_OPENALLOCATIONINFO;
        *count = o->NumAllocations;
        *at = WIDE_AT(D3DKMT_OPENRESOURCE, pOpenAllocationInfo);
        return (uint8_t *)o->pOpenAllocationInfo;
    }
    return NULL;
}

void *d3dkmt_widen(struct wide_call *c, const struct wide_type *type, void *here)
{
    unsigned at = 0;
    uint64_t list;

    c->list_here = NULL;
    c->here = here;
    c->type = type;
    if (sizeof(void *) == sizeof(uint64_t))
        return here;
    INVARIANT(type->wide <= sizeof(c->wide));
    memset(c->wide, 0, type->wide);
    copy(type, here, c->wide, true);
    c->list_here = list_of(type, here, &c->element, &c->count, &at);
    if (!c->list_here)
        return c->wide;
    c->list = c->count <= WIRE_MAX ? calloc(c->count + 1, c->element->wide) : NULL;
    if (!c->list)
        return NULL;
    for (UINT i = 0; i < c->count; i++)
        copy(c->element, c->list_here + (size_t)i * c->element->size, c->list + (size_t)i * c->element->wide,
             true);
    list = (uintptr_t)c->list;
    memcpy(c->wide + at, &list, sizeof(list));
    return c->wide;
}

void d3dkmt_narrow(struct wide_call *c)
{
    if (sizeof(void *) == sizeof(uint64_t))
        return;
    if (c->list_here) {
        unsigned at = 0;
        uint64_t list = (uintptr_t)c->list_here;
        list_of(c->type, c->here, &(const struct wide_type *){NULL}, &(UINT){0}, &at);
        for (UINT i = 0; i < c->count; i++)
            copy(c->element, c->list_here + (size_t)i * c->element->size,
                 c->list + (size_t)i * c->element->wide, false);
        free(c->list);
        memcpy(c->wide + at, &list, sizeof(list));
    }
    copy(c->type, c->here, c->wide, false);
}
