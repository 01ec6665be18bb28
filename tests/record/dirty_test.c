/* SPDX-License-Identifier: MIT */
/* dirty_test.c: nothing that is written to watched memory is lost, whoever writes and looks when. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pthread.h>

#include "dirty_race.h"

static struct race race;
static volatile uint8_t race_page[DIRTY_PAGE] __attribute__((aligned(DIRTY_PAGE)));

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

TEST(faults_lose_nothing)
{
    racing(DIRTY_FAULT, 400000);
}

TEST(hashes_lose_nothing)
{
    racing(DIRTY_HASH, 20000);
}

TEST(the_kernel_loses_nothing)
{
    racing(DIRTY_KERNEL, 20000);
}

/* A span goes while others write to it: a write is never taken for a crash of the program. */
TEST(spans_go_while_they_are_written)
{
    pthread_t t[RACE_WRITERS];
    struct dirty_span *s;
    struct dirty *d;

    assert_int_equal(dirty_create(&d, DIRTY_FAULT), 0);
    memset(&race, 0, sizeof(race));
    race.base =
        mmap(NULL, RACE_PAGES * DIRTY_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < RACE_WRITERS; i++)
        pthread_create(&t[i], NULL, writer, (void *)(uintptr_t)i);
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(dirty_add(d, &s, race.base, RACE_PAGES * DIRTY_PAGE), 0);
        dirty_collect(d, s, race_copy, &race);
        dirty_remove(d, s);
    }
    atomic_store(&race.stop, true);
    for (unsigned i = 0; i < RACE_WRITERS; i++)
        pthread_join(t[i], NULL);
    dirty_destroy(d);
    munmap(race.base, RACE_PAGES * DIRTY_PAGE);
}

static void on_alarm(int sig)
{
    for (unsigned p = 0; p < RACE_PAGES; p++)
        race.base[p * DIRTY_PAGE + 1000]++;
}

/* A signal handler of the program's writes while its own thread looks. */
TEST(handlers_write_during_a_look)
{
    struct itimerval tick = {{0, 200}, {0, 200}}, none = {0};
    struct dirty_span *s;
    struct dirty *d;

    assert_int_equal(dirty_create(&d, DIRTY_FAULT), 0);
    memset(&race, 0, sizeof(race));
    race.base =
        mmap(NULL, RACE_PAGES * DIRTY_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(dirty_add(d, &s, race.base, RACE_PAGES * DIRTY_PAGE), 0);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm, .sa_flags = SA_RESTART}, NULL);
    setitimer(ITIMER_REAL, &tick, NULL);
    for (int i = 0; i < 20000; i++)
        dirty_collect(d, s, race_copy, &race);
    setitimer(ITIMER_REAL, &none, NULL);
    dirty_collect(d, s, race_copy, &race);
    assert_memory_equal(race.base, race.copy, sizeof(race.copy));
    dirty_remove(d, s);
    dirty_destroy(d);
    munmap(race.base, RACE_PAGES * DIRTY_PAGE);
}

/* What is no watched page's fault ends the program as it would have. */
TEST(other_faults_are_the_programs)
{
    pid_t pid = fork();
    int status;

    if (!pid) {
        struct dirty *d;

        signal(SIGSEGV, SIG_DFL); /* not the test's */
        if (dirty_create(&d, DIRTY_FAULT))
            _exit(1);
        mprotect((void *)race_page, DIRTY_PAGE, PROT_NONE);
        race_page[5] = 1;
        _exit(2);
    }
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
