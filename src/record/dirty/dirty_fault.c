/* SPDX-License-Identifier: MIT */
/* dirty_fault.c: DIRTY_FAULT. One handler for the process; it looks the address up, marks the page and lets it be written.
 * Faults elsewhere go to the handler that was there before.
 *
 * Invariants, all by `turn`, which the handler and whoever looks take:
 *  1. A page that may be written is marked. Marking and unprotecting are one step, protecting and unmarking another: were they
 *     not, a page could be unprotected by a fault whose mark a look had taken away already, and be written unseen from then on.
 *  2. A span is looked up, and its bits are used, only while it cannot go.
 * A signal handler of the program's may write to watched memory while its thread has the turn: it goes on without, which is safe
 * because what it interrupted marks before it unprotects and unmarks before it protects.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/check.h"
#include "record/dirty/dirty_internal.h"

#define MAX_SPANS 8192

static _Atomic(struct dirty_span *) spans[MAX_SPANS];
static _Atomic size_t num_spans;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static _Atomic(char *) turn; /* whose it is: the address of a variable of the thread's */
static __thread char me __attribute__((tls_model("initial-exec")));
static _Atomic unsigned removals; /* of spans */
static __thread struct {
    uintptr_t at;
    unsigned removals;
} unknown __attribute__((tls_model("initial-exec"))); /* the last fault that was nobody's */

/* Takes the turn; false: it is this thread's already. */
static bool turn_take(void)
{
    char *nobody = NULL;

    if (atomic_load(&turn) == &me)
        return false;
    while (!atomic_compare_exchange_weak(&turn, &nobody, &me)) {
        nobody = NULL;
        sched_yield();
    }
    return true;
}

static void turn_give(bool taken)
{
    INVARIANT(!taken || atomic_load(&turn) == &me);
    if (taken)
        atomic_store(&turn, NULL);
}

static void mark(struct dirty_span *s, size_t page)
{
    __atomic_fetch_or(&s->bits[page / 64], UINT64_C(1) << (page % 64), __ATOMIC_SEQ_CST);
    mprotect((void *)(s->start + page * DIRTY_PAGE), DIRTY_PAGE, PROT_READ | PROT_WRITE);
}

static bool mark_address(uintptr_t at)
{
    bool taken = turn_take(), found = false;
    size_t n = atomic_load(&num_spans);

    for (size_t i = 0; i < n && !found; i++) {
        struct dirty_span *s = atomic_load(&spans[i]);

        found = s && at >= s->start && at < s->end;
        if (found)
            mark(s, (at - s->start) / DIRTY_PAGE);
    }
    turn_give(taken);
    return found;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr;

    if (mark_address(at))
        return;
    /* Its span may have gone between the fault and here: then the write is made again, and does not come back. */
    if (unknown.at != at || unknown.removals != atomic_load(&removals)) {
        unknown.at = at;
        unknown.removals = atomic_load(&removals);
        return;
    }
    unknown.at = 0;
    if (before.sa_flags & SA_SIGINFO && before.sa_sigaction) {
        before.sa_sigaction(sig, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(sig);
    } else {
        signal(SIGSEGV,
               SIG_DFL); /* the faulting instruction runs again and ends the program as it would have */
    }
}

/* Again where the program has put a handler of its own in its place. */
static int open_(struct dirty *d)
{
    struct sigaction now,
        sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART};
    int err = 0;

    pthread_mutex_lock(&lock);
    if (sigaction(SIGSEGV, NULL, &now))
        err = -errno;
    if (!err && !(now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)) {
        before = now;
        err = sigaction(SIGSEGV, &sa, NULL) ? -errno : 0;
    }
    pthread_mutex_unlock(&lock);
    return err;
}

static void close_(struct dirty *d)
{
}

static void remove_(struct dirty *d, struct dirty_span *s)
{
    bool taken = turn_take();

    mprotect((void *)s->start, s->end - s->start, PROT_READ | PROT_WRITE);
    for (size_t i = 0; i < num_spans; i++)
        if (spans[i] == s)
            atomic_store(&spans[i], NULL);
    atomic_fetch_add(&removals, 1);
    turn_give(taken);
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

        remove_(d, s);
        return err;
    }
    return 0;
}

bool dirty_fault_touch(void *p, size_t n)
{
    uintptr_t from = (uintptr_t)p, to = from + n;
    bool any = false, taken = turn_take();

    for (size_t i = 0; i < num_spans; i++) {
        struct dirty_span *s = atomic_load(&spans[i]);
        uintptr_t a, b;

        if (!s || to <= s->start || from >= s->end)
            continue;
        a = from > s->start ? from : s->start;
        b = to < s->end ? to : s->end;
        for (size_t page = (a - s->start) / DIRTY_PAGE; s->start + page * DIRTY_PAGE < b; page++)
            mark(s, page);
        any = true;
    }
    turn_give(taken);
    return any;
}

/* The next run of marked pages from `*at` on, protected and unmarked; false: there is none. */
static bool take_run(struct dirty_span *s, size_t pages, size_t *at, struct dirty_run *run)
{
    size_t i = *at, from;
    bool taken;

    while (i < pages && !(__atomic_load_n(&s->bits[i / 64], __ATOMIC_SEQ_CST) >> (i % 64) & 1))
        i = __atomic_load_n(&s->bits[i / 64], __ATOMIC_SEQ_CST) ? i + 1 : (i / 64 + 1) * 64;
    *at = from = i;
    if (i >= pages)
        return false;
    taken = turn_take();
    for (; i < pages && __atomic_load_n(&s->bits[i / 64], __ATOMIC_SEQ_CST) >> (i % 64) & 1; i++)
        __atomic_fetch_and(&s->bits[i / 64], ~(UINT64_C(1) << (i % 64)), __ATOMIC_SEQ_CST);
    mprotect((void *)(s->start + from * DIRTY_PAGE), (i - from) * DIRTY_PAGE, PROT_READ);
    turn_give(taken);
    INVARIANT(from < i && i <= pages); // what was marked still is: only a look takes marks away
    *run = (struct dirty_run){s->start + from * DIRTY_PAGE, s->start + i * DIRTY_PAGE};
    *at = i;
    return true;
}

static int collect(struct dirty *d, struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r),
                   void *ctx)
{
    size_t pages = (s->end - s->start) / DIRTY_PAGE, at = 0;
    struct dirty_run run;

    while (take_run(s, pages, &at,
                    &run)) /* protected before it is read: what is written from here on is found next */
        fn(ctx, run);
    return 0;
}

const struct dirty_ops dirty_fault = {open_, close_, add, remove_, collect};
