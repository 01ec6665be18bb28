/* SPDX-License-Identifier: MIT */
/* budget.h: what clients' calls cost the service of the processors, and who is served late for it.
 *
 * All who call are served by threads of one process, which has one share of the machine. Who calls without end uses it up, and
 * what is in time only if it gets a processor at once, a vblank, the completion of another's frame, waits behind it. So each user
 * has a budget: the processor time of his processes' calls is his debt, which time pays off at a rate. While processors are
 * scarce, those of his processes are served late that used the most of late, the average of his or more, each when enough is paid.
 * They are scarce when a thread that serves has waited for one for longer than half of the time that it ran, while somebody is
 * in debt, and for a while after that, then less and less. And nobody waits for nobody: only while more than one process calls.
 *
 *   a call is answered ──budget_charge──▶ used ──budget_look, budget_wait──▶ debt ──time──▶ 0
 *
 * Times are ns, `now` of one clock. Any thread may call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    BUDGET_PART = 16,              /* one part in so many of a processor is a user's, while they are scarce */
    BUDGET_BURST_NS = 20000000,    /* may be owed by whom nobody waits for */
    BUDGET_MOST_NS = 100000000,    /* no debt is greater */
    BUDGET_LOOK_NS = 1000000,      /* used until a thread is looked at */
    BUDGET_SCARCE_NS = 1000000000, /* processors are scarce so long after a look; */
    BUDGET_EASE_NS =
        250000000, /* then waits are halved each time that so much has gone, until nobody has any */
    BUDGET_LATE_NS = 500000000, /* what was used long before that counts no longer */
};

struct budgets;
struct budget; /* of a process */

/* NULL: no memory. */
struct budgets *budgets_create(void);
/* No budget is open. */
void budgets_destroy(struct budgets *all);

/* The budget of a process; one that is open already is the same. NULL: no memory. */
struct budget *budget_open(struct budgets *all, pid_t pid, uid_t uid, uint64_t now);
void budget_close(struct budget *b, uint64_t now);

/* A thread ran for it. True: budget_look is due. */
bool budget_charge(struct budget *b, uint64_t ran_ns);
/* The thread ran, and waited for a processor, for so long since it was looked at before. */
void budget_look(struct budget *b, uint64_t now, uint64_t ran_ns, uint64_t waited_ns);
/* How long who serves it waits until it does so again; 0: it need not, or processors are not scarce. */
uint64_t budget_wait(struct budget *b, uint64_t now);
