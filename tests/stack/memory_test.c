/* SPDX-License-Identifier: MIT */
/* Guest memory is handed out to owners, and comes back in any order. */
#include "test.h"

#include <string.h>

#include "base/rng.h"
#include "stack/memory.h"

enum { OWNERS = 3, MOST = 600, TURNS = 20000, PAGE = 4096 };

struct held {
    uint64_t pa, size, owner;
    uint8_t *va;
};

static bool overlap(const struct held *a, const struct held *b)
{
    return a->pa < b->pa + b->size && b->pa < a->pa + a->size;
}

static void check_new(struct memory *mem, const struct held *all, unsigned num, const struct held *h)
{
    uint64_t offset, other;
    int fd = stack_memory_fd(mem, h->pa, &offset);

    assert_true(h->pa >= PAGE && !(h->pa % PAGE));
    assert_ptr_equal(stack_memory_ptr(mem, h->pa, h->size), h->va);
    assert_int_equal(fd >= 0, h->owner != 0);
    for (uint64_t at = 0; at < h->size; at++)
        if (h->va[at])
            fail_msg("byte %llu of %llu is not zero", (unsigned long long)at, (unsigned long long)h->size);
    memset(h->va, 0xA5, h->size);
    for (unsigned i = 0; i < num; i++) {
        assert_false(overlap(&all[i], h));
        if (h->owner && all[i].owner && all[i].owner != h->owner)
            assert_int_not_equal(stack_memory_fd(mem, all[i].pa, &other), fd);
    }
}

/* No two overlap, all is zero, no owner's file has another's memory, and in the end all is free. */
TEST(what_is_handed_out_is_nobody_elses)
{
    static struct held held[MOST];
    struct rng rng = {5};
    struct machine *m;
    struct memory *mem;
    struct error e;
    uint64_t bytes = 0;
    unsigned num = 0;

    assert_int_equal(
        machine_create(&m, &(struct machine_params){.kind = MACHINE_SIM, .ram_size = 8 << 20}, &e), 0);
    assert_int_equal(stack_memory_create(&mem, m), 0);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const bool grow = rng_below(&rng, 100) < (turn / 2000 % 2 ? 30 : 70);
        if (grow && num < MOST) {
            struct held h = {.size = PAGE * (1 + rng_below(&rng, rng_below(&rng, 20) ? 3 : 300)),
                             .owner = rng_below(&rng, OWNERS)};
            void *va;
            if (stack_memory_alloc(mem, h.size, h.owner, &va, &h.pa)) {
                assert_int_equal(h.owner, 0); /* RAM is small, and in pieces */
                continue;
            }
            h.va = va;
            check_new(mem, held, num, &h);
            held[num++] = h;
            bytes += h.size;
        } else if (num) {
            const unsigned i = (unsigned)rng_below(&rng, num);
            stack_memory_free(mem, held[i].pa);
            bytes -= held[i].size;
            held[i] = held[--num];
        }
        assert_int_equal(stack_memory_bytes(mem), bytes);
    }
    while (num)
        stack_memory_free(mem, held[--num].pa);
    assert_int_equal(stack_memory_bytes(mem), 0);
    {
        void *va;
        uint64_t pa; /* all of RAM but page 0, in one piece again */
        assert_int_equal(stack_memory_alloc(mem, (8 << 20) - PAGE, 0, &va, &pa), 0);
    }
    stack_memory_destroy(mem);
    machine_destroy(m);
}
