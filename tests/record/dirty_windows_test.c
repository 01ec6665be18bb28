/* SPDX-License-Identifier: MIT */
/* The ways of finding written pages in a Windows process. Prints TAP, and how long each took, as comments: for 64 MiB, the
 * writes' extra and the look, at 0, 1, 10 and 100 % written. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "dirty_race.h"
#include "record/dirty/dirty_internal.h"

enum { PAGES = 256, BIG_PAGES = 16384, ROUNDS = 40 };

static int count;
static uint8_t *seen;
static uint8_t *base;

static void result(bool ok, const char *method, const char *what)
{
    printf("%sok %d - %s: %s\n", ok ? "" : "not ", ++count, method, what);
}

static void on_run(void *ctx, struct dirty_run r)
{
    for (uintptr_t at = r.start; at < r.end; at += DIRTY_PAGE)
        seen[(at - (uintptr_t)base) / DIRTY_PAGE]++;
}

static struct dirty *make(const char *name)
{
    enum dirty_method m = strcmp(name, "hash") ? DIRTY_KERNEL : DIRTY_HASH;
    struct dirty *d;

    if (dirty_create(&d, m))
        return NULL;
    if (!strncmp(name, "watch", 5))
        d->ops = &dirty_watch;
    else if (m == DIRTY_KERNEL && d->ops != &dirty_linux)
        return NULL; /* not Wine, or an old kernel */
    return d;
}

/* Random pages, some twice; what is reported is what was written, no more and no less. */
static void exact(const char *name, struct dirty *d, size_t pages)
{
    bool missed = false, extra = false, twice = false;
    uint8_t *written = calloc(1, pages);
    struct dirty_span *s;

    seen = calloc(1, pages);
    memset(base, 0, pages * DIRTY_PAGE);
    result(!dirty_add(d, &s, base, pages * DIRTY_PAGE), name, "memory is watched");
    srand(7);
    for (int round = 0; round < ROUNDS; round++) {
        memset(written, 0, pages);
        memset(seen, 0, pages);
        for (int i = 0; i < round; i++) { /* under a quarter: beyond it the kernel's way changes to hashing */
            size_t p = (size_t)rand() % pages;

            base[p * DIRTY_PAGE + (size_t)rand() % DIRTY_PAGE] = (uint8_t)(round + 1);
            written[p] = 1;
        }
        dirty_collect(d, s, on_run, NULL);
        for (size_t p = 0; p < pages; p++) {
            missed |= written[p] && !seen[p];
            extra |= !written[p] && seen[p];
            twice |= seen[p] > 1;
        }
    }
    result(!missed, name, "every written page is found");
    result(!extra, name, "no other page is");
    result(!twice, name, "none is found twice");
    dirty_remove(d, s);
    base[0] = 1; /* no longer watched: nothing happens */
    free(written);
    free(seen);
}

static struct race race;

static DWORD WINAPI writer(void *arg)
{
    race_write(&race, (unsigned)(uintptr_t)arg);
    return 0;
}

/* Threads write while another looks: what was written before a look is in its copy, and in the end the copy is whole. */
static void racing(const char *name, struct dirty *d)
{
    struct dirty_span *s;
    HANDLE t[RACE_WRITERS];
    unsigned lost;

    memset(&race, 0, sizeof(race));
    memset(base, 0, RACE_PAGES * DIRTY_PAGE);
    race.base = base;
    dirty_add(d, &s, base, RACE_PAGES * DIRTY_PAGE);
    for (unsigned i = 0; i < RACE_WRITERS; i++)
        t[i] = CreateThread(NULL, 0, writer, (void *)(uintptr_t)i, 0, NULL);
    lost = race_look(&race, d, s, 5000);
    atomic_store(&race.stop, true);
    WaitForMultipleObjects(RACE_WRITERS, t, TRUE, INFINITE);
    dirty_collect(d, s, race_copy, &race);
    result(!lost && !memcmp(base, race.copy, sizeof(race.copy)), name,
           "nothing is lost that is written during a look");
    dirty_remove(d, s);
}

static double now_us(void)
{
    LARGE_INTEGER t, f;

    QueryPerformanceCounter(&t);
    QueryPerformanceFrequency(&f);
    return (double)t.QuadPart * 1e6 / (double)f.QuadPart;
}

static void nothing(void *ctx, struct dirty_run r)
{
}

static void timings(const char *name, struct dirty *d)
{
    static const int percent[] = {0, 1, 10, 100};
    struct dirty_span *s;

    memset(base, 1, (size_t)BIG_PAGES * DIRTY_PAGE);
    if (dirty_add(d, &s, base, (size_t)BIG_PAGES * DIRTY_PAGE))
        return;
    for (int k = 0; k < 4; k++) {
        size_t n = (size_t)BIG_PAGES * (size_t)percent[k] / 100;
        double start, written, looked;

        dirty_collect(d, s, nothing, NULL);
        start = now_us();
        for (size_t i = 0; i < n; i++)
            base[i * 7919 % BIG_PAGES * DIRTY_PAGE]++;
        written = now_us();
        dirty_collect(d, s, nothing, NULL);
        looked = now_us();
        printf("# %-12s %3d %% of 64 MiB: %8.0f us to write, %8.0f us to look\n", name, percent[k],
               written - start, looked - written);
    }
    dirty_remove(d, s);
}

int main(void)
{
    static const char *const names[] = {"kernel", "watch", "watch-none", "hash"};

    printf("1..20\n");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        DWORD type = MEM_RESERVE | MEM_COMMIT | (strcmp(names[i], "watch") ? 0 : MEM_WRITE_WATCH);
        struct dirty *d = make(names[i]);

        base = VirtualAlloc(NULL, (size_t)BIG_PAGES * DIRTY_PAGE, type, PAGE_READWRITE);
        if (!d) {
            for (int k = 0; k < 5; k++)
                printf("ok %d - %s # SKIP not on this system\n", ++count, names[i]);
        } else {
            exact(names[i], d, PAGES);
            racing(names[i], d);
            timings(names[i], d);
            dirty_destroy(d);
        }
        VirtualFree(base, 0, MEM_RELEASE);
    }
    return 0;
}
