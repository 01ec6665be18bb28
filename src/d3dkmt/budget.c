/* SPDX-License-Identifier: MIT */
/* budget.c: see budget.h.
 *
 *  1. A call adds to `used` and `unseen`, and looks at `scarce_at`; all else is under `lock`.
 *  2. Users and processes are in their lists once each; a process while it is open or remembered, its user while it is there or in debt.
 */
#include "d3dkmt/budget.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"

#define EASED 8 /* all is as if processors never were scarce */

struct user {
    struct user *next;
    uid_t uid;
    uint64_t debt, recent; /* recent: the sum of his processes' */
    unsigned processes;    /* with something recent */
    bool needed;
};

struct budget {
    struct budget *next;
    struct budgets *all;
    struct user *user;
    pid_t pid;
    unsigned opened;
    _Atomic uint64_t used, /* since it was made a debt */
        unseen;            /* since its threads were looked at */
    uint64_t recent;       /* what is used, and less of it the longer ago */
};

struct budgets {
    _Atomic uint64_t scarce_at; /* when processors were seen to be; 0: never */
    pthread_mutex_t lock;
    struct budget *processes;
    struct user *users;
    unsigned there; /* processes with something recent */
    uint64_t settled_at;
};

struct budgets *budgets_create(void)
{
    struct budgets *all = calloc(1, sizeof(*all));

    if (all)
        pthread_mutex_init(&all->lock, NULL);
    return all;
}

void budgets_destroy(struct budgets *all)
{
    while (all && all->processes) {
        struct budget *b = all->processes;
        INVARIANT(!b->opened);
        all->processes = b->next;
        free(b);
    }
    while (all && all->users) {
        struct user *u = all->users;
        all->users = u->next;
        free(u);
    }
    if (all)
        pthread_mutex_destroy(&all->lock);
    free(all);
}

/* ---- with the lock ------------------------------------------------------- */

/* False: it is gone. */
static bool settle_process(struct budget *b, uint64_t time)
{
    uint64_t used = atomic_exchange(&b->used, 0);
    struct user *u = b->user;

    b->recent = time < BUDGET_LATE_NS ? b->recent - b->recent * time / BUDGET_LATE_NS : 0;
    b->recent += used;
    u->debt = u->debt + used < BUDGET_MOST_NS ? u->debt + used : BUDGET_MOST_NS;
    u->needed |= b->opened || b->recent;
    if (!b->recent)
        return b->opened;
    u->recent += b->recent;
    u->processes++;
    b->all->there++;
    return true;
}

static void settle(struct budgets *all, uint64_t now)
{
    uint64_t time = now > all->settled_at ? now - all->settled_at : 0,
             paid = time / BUDGET_PART; /* another's now */

    all->settled_at += time;
    all->there = 0;
    for (struct user *u = all->users; u; u = u->next) {
        u->debt = u->debt > paid ? u->debt - paid : 0;
        u->recent = u->processes = u->needed = 0;
    }
    for (struct budget **p = &all->processes; *p;) {
        struct budget *b = *p;
        if (settle_process(b, time)) {
            p = &b->next;
            continue;
        }
        *p = b->next;
        free(b);
    }
    for (struct user **p = &all->users; *p;) {
        struct user *u = *p;
        if (u->needed || u->debt) {
            p = &u->next;
            continue;
        }
        *p = u->next;
        free(u);
    }
}

static struct user *find_user(struct budgets *all, uid_t uid)
{
    struct user *u;

    for (u = all->users; u && u->uid != uid; u = u->next)
        ;
    if (!u && (u = calloc(1, sizeof(*u)))) {
        u->uid = uid;
        u->next = all->users;
        all->users = u;
    }
    return u;
}

static struct budget *find(struct budgets *all, struct user *user, pid_t pid)
{
    struct budget *b;

    for (b = all->processes; b && (b->user != user || b->pid != pid); b = b->next)
        ;
    if (!b && (b = calloc(1, sizeof(*b)))) {
        b->all = all;
        b->user = user;
        b->pid = pid;
        b->next = all->processes;
        all->processes = b;
    }
    return b;
}

/* ---- processes ----------------------------------------------------------- */

struct budget *budget_open(struct budgets *all, pid_t pid, uid_t uid, uint64_t now)
{
    struct budget *b = NULL;
    struct user *user;

    pthread_mutex_lock(&all->lock);
    settle(all, now);
    user = find_user(all, uid);
    if (user)
        b = find(all, user, pid);
    if (b)
        b->opened++;
    pthread_mutex_unlock(&all->lock);
    return b;
}

void budget_close(struct budget *b, uint64_t now)
{
    struct budgets *all = b->all;

    pthread_mutex_lock(&all->lock);
    INVARIANT(b->opened);
    b->opened--;
    settle(all, now); /* it may be gone */
    pthread_mutex_unlock(&all->lock);
}

bool budget_charge(struct budget *b, uint64_t ran_ns)
{
    atomic_fetch_add_explicit(&b->used, ran_ns, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&b->unseen, ran_ns, memory_order_relaxed) + ran_ns < BUDGET_LOOK_NS)
        return false;
    atomic_store_explicit(&b->unseen, 0, memory_order_relaxed);
    return true;
}

void budget_look(struct budget *b, uint64_t now, uint64_t ran_ns, uint64_t waited_ns)
{
    struct budgets *all = b->all;
    bool debts = false;

    pthread_mutex_lock(&all->lock);
    settle(all, now);
    for (const struct user *u = all->users; u; u = u->next)
        debts |= u->debt > BUDGET_BURST_NS / 2; /* who is served late is kept at little more */
    if (debts && all->there > 1 && waited_ns > ran_ns / 2)
        atomic_store(&all->scarce_at, now);
    pthread_mutex_unlock(&all->lock);
}

/* How often waits have been halved since processors were scarce. */
static unsigned eased(const struct budgets *all, uint64_t now)
{
    uint64_t at = atomic_load_explicit(&all->scarce_at, memory_order_relaxed), end = at + BUDGET_SCARCE_NS,
             n = now < end ? 0 : 1 + (now - end) / BUDGET_EASE_NS;

    return at && n < EASED && BUDGET_PART >> n ? (unsigned)n : EASED;
}

uint64_t budget_wait(struct budget *b, uint64_t now)
{
    struct budgets *all = b->all;
    unsigned ease = eased(all, now);
    uint64_t ns = 0;

    if (ease == EASED)
        return 0;
    pthread_mutex_lock(&all->lock);
    settle(all, now);
    if (b->user->debt > BUDGET_BURST_NS && b->recent * b->user->processes >= b->user->recent)
        ns = (b->user->debt - BUDGET_BURST_NS) * (BUDGET_PART >> ease);
    pthread_mutex_unlock(&all->lock);
    return ns;
}
