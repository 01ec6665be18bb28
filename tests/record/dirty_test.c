/* SPDX-License-Identifier: MIT */
/* dirty_test.c: nothing that is written to watched memory is lost, whoever writes and looks when. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <pthread.h>

#include "dirty_race.h"

static struct race race;

static void *writer(void *arg)
{
    race_write(&race, (unsigned)(uintptr_t)arg);
    return NULL;
}

static void racing(enum dirty_method m, unsigned looks)
{
    pthread_t t[RACE_WRITERS];
    struct dirty_span *s;
    struct dirty *d;
    int err = dirty_create(&d, m);

    if (err == -ENOSYS || err == -EPERM) {
        print_message("this kernel has no userfaultfd write watch: skipped\n");
        skip();
    }
    assert_int_equal(err, 0);
    memset(&race, 0, sizeof(race));
    race.base =
        mmap(NULL, RACE_PAGES * DIRTY_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(race.base, 0, RACE_PAGES * DIRTY_PAGE);
    assert_int_equal(dirty_add(d, &s, race.base, RACE_PAGES * DIRTY_PAGE), 0);
    for (unsigned i = 0; i < RACE_WRITERS; i++)
        pthread_create(&t[i], NULL, writer, (void *)(uintptr_t)i);
    assert_int_equal(race_look(&race, d, s, looks), 0);
    atomic_store(&race.stop, true);
    for (unsigned i = 0; i < RACE_WRITERS; i++)
        pthread_join(t[i], NULL);
    dirty_collect(d, s, race_copy, &race);
    assert_memory_equal(race.base, race.copy, sizeof(race.copy));
    dirty_remove(d, s);
    dirty_destroy(d);
    munmap(race.base, RACE_PAGES * DIRTY_PAGE);
}

TEST(hashes_lose_nothing)
{
    racing(DIRTY_HASH, 20000);
}

TEST(the_kernel_loses_nothing)
{
    racing(DIRTY_KERNEL, 20000);
}
