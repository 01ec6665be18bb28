/* SPDX-License-Identifier: MIT */
#include "base/sched/slice.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

void slice_set(uint64_t ns)
{
    struct sched_attr a = {.size = sizeof(a)};

    if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0))
        return;
    a.sched_runtime = ns;
    a.sched_flags &= SCHED_FLAG_RESET_ON_FORK;
    if (syscall(SYS_sched_setattr, 0, &a, 0))
        log_debug("base", "the time slice of a thread stays as it is");
}

uint64_t slice_of(pid_t thread)
{
    struct sched_attr a = {.size = sizeof(a)};

    return syscall(SYS_sched_getattr, thread, &a, sizeof(a), 0) ? 0 : a.sched_runtime;
}

enum { RAISE = 10, LEAST = -20 };

static int raised; /* by so much */

static int current(void)
{
    FILE *f = fopen("/proc/self/autogroup", "re");
    int nice = 0;

    if (!f)
        return 0;
    if (fscanf(f, "/autogroup-%*d nice %d", &nice) != 1)
        nice = 0;
    fclose(f);
    return nice;
}

int share_nice(void)
{
    return current() + raised;
}

void share_raise(void)
{
    int was = current(), to = was - RAISE < LEAST ? LEAST : was - RAISE;
    FILE *f = raised || getsid(0) != getpid() ? NULL : fopen("/proc/self/autogroup", "we");

    if (!f)
        return;
    fprintf(f, "%d", to);
    fclose(f); /* is told here that it may not, and then nothing has changed */
    raised = was - current();
}
