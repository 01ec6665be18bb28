/* SPDX-License-Identifier: MIT */
#include "base/sched/signame.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

struct signal_name signal_name(int sig)
{
    const char *name = sigabbrev_np(sig);
    struct signal_name out;

    if (name)
        snprintf(out.text, sizeof(out.text), "SIG%s", name);
    else if (sig >= SIGRTMIN && sig <= SIGRTMAX)
        snprintf(out.text, sizeof(out.text), sig == SIGRTMIN ? "SIGRTMIN" : "SIGRTMIN+%d", sig - SIGRTMIN);
    else
        snprintf(out.text, sizeof(out.text), "signal %d", sig);
    return out;
}
