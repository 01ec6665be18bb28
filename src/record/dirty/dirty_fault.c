/* dirty_fault.c: DIRTY_FAULT. One handler for the process; it looks the address up in a list that only grows at its
 * head and whose links are read atomically, marks the page and lets it be written. Faults elsewhere go to the handler
 * that was there before. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/dirty/dirty_internal.h"

#define MAX_SPANS 8192

static _Atomic(struct dirty_span *) spans[MAX_SPANS];
static _Atomic size_t num_spans;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static bool installed;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr;
    size_t n = atomic_load(&num_spans);

    for (size_t i = 0; i < n; i++) {
        struct dirty_span *s = atomic_load(&spans[i]);
        size_t page;

        if (!s || at < s->start || at >= s->end)
            continue;
        page = (at - s->start) / DIRTY_PAGE;
        __atomic_fetch_or(&s->bits[page / 64], UINT64_C(1) << (page % 64), __ATOMIC_RELAXED);
        mprotect((void *)(s->start + page * DIRTY_PAGE), DIRTY_PAGE, PROT_READ | PROT_WRITE);
        return;
    }
    if (before.sa_flags & SA_SIGINFO && before.sa_sigaction) {
        before.sa_sigaction(sig, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(sig);
    } else {
        signal(SIGSEGV,
               SIG_DFL); /* the faulting instruction runs again and ends the program as it would have */
    }
}

static int open_(struct dirty *d)
{
    struct sigaction sa = {.sa_sigaction = on_fault,
                           .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART};

    pthread_mutex_lock(&lock);
    if (!installed && !sigaction(SIGSEGV, &sa, &before))
        installed = true;
    pthread_mutex_unlock(&lock);
    return installed ? 0 : -errno;
}

static void close_(struct dirty *d)
{
}

static int add(struct dirty *d, struct dirty_span *s)
{
    size_t pages = (s->end - s->start) / DIRTY_PAGE, i;

    s->bits = calloc((pages + 63) / 64, sizeof(*s->bits));
    if (!s->bits)
        return -ENOMEM;
    pthread_mutex_lock(&lock);
    for (i = 0; i < num_spans && spans[i]; i++)
        ;
    if (i == MAX_SPANS) {
        pthread_mutex_unlock(&lock);
        return -ENOSPC;
    }
    atomic_store(&spans[i], s);
    if (i == num_spans)
        atomic_store(&num_spans, i + 1);
    pthread_mutex_unlock(&lock);
    if (mprotect((void *)s->start, s->end - s->start, PROT_READ)) {
        int err = -errno;

        atomic_store(&spans[i], NULL);
        return err;
    }
    return 0;
}

bool dirty_fault_touch(void *p, size_t n)
{
    uintptr_t from = (uintptr_t)p, to = from + n;
    bool any = false;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < num_spans; i++) {
        struct dirty_span *s = atomic_load(&spans[i]);
        uintptr_t a, b;

        if (!s || to <= s->start || from >= s->end)
            continue;
        a = from > s->start ? from : s->start;
        b = to < s->end ? to : s->end;
        for (size_t page = (a - s->start) / DIRTY_PAGE; s->start + page * DIRTY_PAGE < b; page++) {
            __atomic_fetch_or(&s->bits[page / 64], UINT64_C(1) << (page % 64), __ATOMIC_RELAXED);
            mprotect((void *)(s->start + page * DIRTY_PAGE), DIRTY_PAGE, PROT_READ | PROT_WRITE);
        }
        any = true;
    }
    pthread_mutex_unlock(&lock);
    return any;
}

static void remove_(struct dirty *d, struct dirty_span *s)
{
    mprotect((void *)s->start, s->end - s->start, PROT_READ | PROT_WRITE);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < num_spans; i++)
        if (spans[i] == s)
            atomic_store(&spans[i], NULL);
    pthread_mutex_unlock(&lock);
}

static int collect(struct dirty *d, struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r),
                   void *ctx)
{
    size_t pages = (s->end - s->start) / DIRTY_PAGE;

    for (size_t i = 0; i < pages;) {
        size_t from = i;

        if (!(i % 64) && !__atomic_load_n(&s->bits[i / 64], __ATOMIC_RELAXED)) {
            i += 64;
            continue;
        }
        while (i < pages && __atomic_load_n(&s->bits[i / 64], __ATOMIC_RELAXED) >> (i % 64) & 1)
            i++;
        if (i == from) {
            i++;
            continue;
        }
        /* protect first: what is written from here on is found by the next look */
        for (size_t k = from; k < i; k++)
            __atomic_fetch_and(&s->bits[k / 64], ~(UINT64_C(1) << (k % 64)), __ATOMIC_RELAXED);
        mprotect((void *)(s->start + from * DIRTY_PAGE), (i - from) * DIRTY_PAGE, PROT_READ);
        fn(ctx, (struct dirty_run){s->start + from * DIRTY_PAGE, s->start + i * DIRTY_PAGE});
    }
    return 0;
}

const struct dirty_ops dirty_fault = {open_, close_, add, remove_, collect};
