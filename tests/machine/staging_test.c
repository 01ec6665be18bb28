/* SPDX-License-Identifier: MIT */
/* The ring in which command streams are copied for an executor, against a model: what is in use stays as it was put. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "machine/staging.h"

/* What the executor has mapped: the same file. */
static struct {
    uint8_t *at;
    uint64_t size;
} theirs;

int exec_host_map(struct exec_host *h, uint64_t gpa, uint64_t size, int fd, uint64_t offset, struct error *e)
{
    assert_int_equal(gpa, STAGING_GPA);
    assert_null(theirs.at);
    theirs.at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, (off_t)offset);
    theirs.size = size;
    assert_true((void *)theirs.at != MAP_FAILED);
    return 0;
}

int exec_host_unmap(struct exec_host *h, uint64_t gpa, uint64_t size)
{
    assert_int_equal(gpa, STAGING_GPA);
    assert_int_equal(size, theirs.size);
    munmap(theirs.at, theirs.size);
    theirs.at = NULL;
    return 0;
}

enum { QUEUE = 256, MOST = 700000 };

struct put {
    uint64_t end, gpa[2];
    uint32_t size[2];
    uint8_t byte;
};

static uint8_t source[MOST];

static void must_be_there(const struct put *p)
{
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t at = p->gpa[i] - STAGING_GPA;
        if (!p->size[i])
            continue;
        assert_true(at <= theirs.size && p->size[i] <= theirs.size - at);
        assert_int_equal(theirs.at[at], p->byte);
        assert_int_equal(theirs.at[at + p->size[i] / 2], p->byte);
        assert_int_equal(theirs.at[at + p->size[i] - 1], p->byte);
    }
}

static uint32_t a_size(struct rng *rng)
{
    switch (rng_below(rng, 8)) {
    case 0:
        return (uint32_t)rng_below(rng, MOST) + 1;
    case 1:
        return 0;
    default:
        return (uint32_t)rng_below(rng, 20000) + 1;
    }
}

TEST(what_is_in_use_stays_as_it_was_put)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct put queue[QUEUE];
        struct staging s = {0};
        unsigned first = 0, last = 0, waits = 0;
        struct rng rng = {seed};

        for (unsigned step = 0; step < 4000; step++) {
            const unsigned what = (unsigned)rng_below(&rng, 100);
            struct put p = {.byte = (uint8_t)step};
            struct error e = {0};

            if (what < 45 && last - first < QUEUE) {
                const uint64_t head = s.head;
                int r = 0;
                if (rng_below(&rng, 3)) { /* else one that has nothing */
                    p.size[0] = a_size(&rng);
                    p.size[1] = p.size[0] ? a_size(&rng) % 30000 : 1;
                    memset(source, p.byte, p.size[0] > p.size[1] ? p.size[0] : p.size[1]);
                    r = staging_put(&s, source, p.size[0], source, p.size[1], p.gpa, &e);
                }
                assert_true(r == 0 || (r == -EAGAIN && first != last)); /* who waits, waits for somebody */
                waits += r != 0;
                if (!r && rng_below(&rng, 10) == 0) {
                    staging_undo(&s, head);
                } else if (!r) {
                    p.end = s.head;
                    queue[last++ % QUEUE] = p;
                }
            } else if (what < 99 && first != last) {
                must_be_there(&queue[first % QUEUE]);
                staging_give_back(&s, queue[first++ % QUEUE].end);
            } else if (what == 99) {
                staging_finish(&s);
                first = last;
            }
            for (unsigned i = first; i != last && step % 64 == 0; i++)
                must_be_there(&queue[i % QUEUE]);
        }
        assert_true(waits > 0);
        staging_finish(&s);
        assert_null(theirs.at);
    }
}
