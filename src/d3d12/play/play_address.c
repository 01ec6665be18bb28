/* SPDX-License-Identifier: MIT */
/* play_address.c: GPU addresses inside buffers (play_plan.h).
 *
 * Invariant: `recorded` of a patch is what the recorded program's buffer holds, byte by byte; its memory here holds the
 * same, but for slots whose bytes are the address of a known resource: these hold that resource's address here. So a
 * recorded write that changes half of an address is as good as one that changes all of it. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "d3d12/play/play_internal.h"

struct plan_patch *plan_patch(struct play_plan *plan, uint32_t resource)
{
    size_t lo = 0, hi = plan->num_patches;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (plan->patches[mid].resource < resource)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < plan->num_patches && plan->patches[lo].resource == resource ? &plan->patches[lo] : NULL;
}

/* Index of the first address that ends behind `at`. */
static size_t address_at(const struct play_plan *plan, uint64_t at)
{
    size_t lo = 0, hi = plan->num_addresses;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (plan->addresses[mid].start + plan->addresses[mid].size <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The recorded address becomes the one here; or, with `back`, the other way round. */
static bool translate(struct play_plan *plan, uint64_t *address, bool back)
{
    size_t i;

    if (!back) {
        i = address_at(plan, *address);
        if (i == plan->num_addresses || plan->addresses[i].start > *address)
            return false;
        *address = *address - plan->addresses[i].start + plan->addresses[i].now;
        return true;
    }
    for (i = 0; i < plan->num_addresses; i++) { /* rare: only when a recording is cut */
        const struct plan_address *a = &plan->addresses[i];

        if (*address >= a->now && *address - a->now < a->size) {
            *address = *address - a->now + a->start;
            return true;
        }
    }
    return false;
}

/* Calls `fn` for each slot that has a byte in [from, to). */
static void each_slot(struct play_plan *plan, const struct plan_patch *x, uint64_t from, uint64_t to,
                      void (*fn)(struct play_plan *plan, uint8_t *to, const uint8_t *from, bool back),
                      uint8_t *out, const uint8_t *in, uint64_t size, bool back)
{
    for (size_t k = 0; k < x->num; k++) {
        const struct plan_slots *s = &plan->slots[x->first + k];
        uint64_t i = 0;

        if (from > s->base + 7)
            i = s->stride ? (from - s->base - 7 + s->stride - 1) / s->stride : s->count;
        for (; i < s->count; i++) {
            uint64_t at = s->base + i * s->stride;

            if (at >= to || at > size || size - at < 8)
                break;
            fn(plan, out + at, in + at, back);
        }
    }
}

static void put_slot(struct play_plan *plan, uint8_t *to, const uint8_t *from, bool back)
{
    uint64_t v;

    memcpy(&v, from, sizeof(v));
    translate(plan, &v, back);
    memcpy(to, &v, sizeof(v));
}

void plan_write(struct play_plan *plan, struct plan_patch *x, uint8_t *map, uint64_t size, uint64_t offset,
                const void *bytes, size_t n)
{
    if (!x->recorded && (x->recorded = malloc(size))) {
        memcpy(x->recorded, map, size);
        x->size = size;
    }
    plan->failed |= !x->recorded;
    if (!x->recorded || x->size != size) {
        memcpy(map + offset, bytes, n);
        return;
    }
    memcpy(x->recorded + offset, bytes, n);
    memcpy(map + offset, bytes, n);
    each_slot(plan, x, offset, offset + n, put_slot, map, x->recorded, size, false);
}

void plan_contents(struct play_plan *plan, struct plan_patch *x, uint8_t *bytes, size_t n, bool back)
{
    uint8_t *copy;

    if (back) {
        each_slot(plan, x, 0, n, put_slot, bytes, bytes, n, true);
        return;
    }
    copy = malloc(n ? n : 1);
    plan->failed |= !copy;
    if (copy) {
        memcpy(copy, bytes, n);
        free(x->recorded);
        x->recorded = copy;
        x->size = n;
    }
    each_slot(plan, x, 0, n, put_slot, bytes, copy ? copy : bytes, n, false);
}

/* An address came to mean another resource: memory that says it says the new one from now on. */
static void address_changed(struct player *p, uint64_t start, uint64_t size)
{
    for (size_t i = 0; i < p->plan.num_patches; i++) {
        struct plan_patch *x = &p->plan.patches[i];
        struct play_object *o = play_object(p, x->resource);
        ID3D12Resource *r = o && d12_iface_is(o->iface, D12_IFACE_ID3D12Resource) ? o->ptr : NULL;
        D3D12_RESOURCE_DESC desc = {0};
        bool any = false;
        void *map;

        for (size_t k = 0; k < x->num && x->recorded && r; k++) {
            const struct plan_slots *s = &p->plan.slots[x->first + k];

            for (uint64_t j = 0; j < s->count && s->base + j * s->stride + 8 <= x->size; j++) {
                uint64_t v;

                memcpy(&v, x->recorded + s->base + j * s->stride, 8);
                any |= v - start < size;
            }
        }
        if (!any || !r->lpVtbl->GetDesc(r, &desc) || desc.Width < x->size)
            continue;
        map = o->map;
        if (!map && FAILED(r->lpVtbl->Map(r, 0, NULL, &map)))
            continue; /* not memory that the CPU writes to */
        each_slot(&p->plan, x, 0, x->size, put_slot, map, x->recorded, x->size, false);
        if (!o->map)
            r->lpVtbl->Unmap(r, 0, NULL);
    }
}

void plan_address_add(struct player *p, uint64_t recorded, uint64_t size, uint64_t now)
{
    struct play_plan *plan = &p->plan;
    size_t i = address_at(plan, recorded), j = i;

    if (!size || recorded > UINT64_MAX - size)
        return;
    if (i < plan->num_addresses && plan->addresses[i].start == recorded && plan->addresses[i].size == size &&
        plan->addresses[i].now == now)
        return;
    while (j < plan->num_addresses && plan->addresses[j].start < recorded + size)
        j++; /* its memory was handed out again */
    if (array_reserve(plan->addresses, plan->room_addresses, plan->num_addresses + 1 - (j - i))) {
        plan->failed = true;
        return;
    }
    memmove(plan->addresses + i + 1, plan->addresses + j,
            (plan->num_addresses - j) * sizeof(*plan->addresses));
    plan->addresses[i] = (struct plan_address){recorded, size, now};
    plan->num_addresses = plan->num_addresses + 1 - (j - i);
    if (recorded != now || j != i)
        address_changed(p, recorded, size);
}
