/* SPDX-License-Identifier: MIT */
/* ends.c: how the process ends, for whoever cannot wait for it: it may be started by a launcher that says nothing of it.
 *
 * Handlers are set only where the program has none: what it does with signals is its own affair.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "lose/slot.h"

enum { LOOK_STEPS = 1000 }; /* of 5 ms: so long the dying wait to be looked at */

static void note_signal(int sig)
{
    struct lose_record *r = lose_record;
    uint32_t none = 0;

    if (atomic_compare_exchange_strong(&r->died_pid, &none, (uint32_t)getpid())) {
        atomic_store(&r->died_tid, (uint32_t)syscall(SYS_gettid));
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* whoever looks is no ancestor for sure */
        atomic_store(&r->died_of, (uint32_t)sig);
        for (int i = 0; r->stacks && !atomic_load(&r->looked) && i < LOOK_STEPS; i++)
            nanosleep(&(struct timespec){0, 5 * NSEC_PER_MSEC}, NULL);
    }
    signal(sig, SIG_DFL);
    raise(sig); /* when this handler is over */
}

static void set_handlers(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    struct sigaction ours = {.sa_handler = note_signal, .sa_flags = SA_ONSTACK}, old;

    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        if (!sigaction(fatal[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(fatal[i], &ours, NULL);
}

void lose_watch_signals(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, set_handlers);
}

static void __attribute__((destructor)) note_exit(void)
{
    for (uint32_t i = 0; lose_record && i < LOSE_DEVICES; i++)
        if (atomic_load(&lose_record->device[i].pid) == (uint32_t)getpid())
            atomic_store(&lose_record->device[i].left_ns, lose_now());
}
