/* SPDX-License-Identifier: MIT */
#include "lose/thread.h"

#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "lose/proc.h"

enum { ARGUMENTS = 6 };
enum { DAY = 24 * 3600 }; /* seconds: who waits longer waits for ever */

/* The call that it sleeps in; -1: none, or it cannot be read. */
static long call_of(pid_t pid, uint32_t tid, uint64_t arguments[ARGUMENTS])
{
    char path[64], text[256], *at;
    long call;

    snprintf(path, sizeof(path), "/proc/%d/task/%u/syscall", (int)pid, tid);
    if (!proc_read(path, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
        return -1;
    call = strtol(text, &at, 10);
    for (int i = 0; i < ARGUMENTS; i++)
        arguments[i] = strtoull(at, &at, 16);
    return call;
}

bool thread_waits_for_events(pid_t pid)
{
    static const long calls[] = {
#ifdef SYS_poll
        SYS_poll,  SYS_select,   SYS_epoll_wait,
#endif
        SYS_ppoll, SYS_pselect6, SYS_epoll_pwait,
    };
    uint64_t arguments[ARGUMENTS];
    long call = call_of(pid, (uint32_t)pid, arguments);

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (call == calls[i])
            return true;
    return false;
}

/* A time-out that stands in the process: from now on, or up to a time of `clock`. */
static bool ends(pid_t pid, uint64_t address, bool absolute, clockid_t clock)
{
    struct timespec time = {0}, now = {0};
    struct iovec here = {&time, sizeof(time)}, there = {(void *)(uintptr_t)address, sizeof(time)};

    if (!address)
        return false;
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) != sizeof(time))
        return true; /* who may not be looked at has set one, at least */
    if (absolute)
        clock_gettime(clock, &now);
    return time.tv_sec < now.tv_sec + DAY;
}

bool thread_sleeps(pid_t pid, uint32_t tid)
{
    uint64_t a[ARGUMENTS];
    long call = call_of(pid, tid, a);

    if (call == SYS_nanosleep)
        return ends(pid, a[0], false, 0);
    if (call == SYS_clock_nanosleep)
        return ends(pid, a[2], a[1] & TIMER_ABSTIME, (clockid_t)a[0]);
    if (call == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT)
        return ends(pid, a[3], false, 0);
    if (call == SYS_futex &&
        (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET) /* pthread_cond_timedwait() and its like */
        return ends(pid, a[3], true, a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    return false;
}

long thread_switches(pid_t pid, uint32_t tid)
{
    char path[64], text[4096];

    snprintf(path, sizeof(path), "/proc/%d/task/%u/status", (int)pid, tid);
    return proc_read(path, text, sizeof(text)) ? (long)proc_number(text, "\nvoluntary_ctxt_switches:", 0)
                                               : -1;
}

bool thread_wants_processor(pid_t pid, uint32_t tid)
{
    char path[64], text[512];
    const char *state;

    snprintf(path, sizeof(path), "/proc/%d/task/%u/stat", (int)pid, tid);
    state = proc_read(path, text, sizeof(text)) ? strrchr(text, ')') : NULL; /* a name may hold anything */
    return state && state[1] == ' ' && state[2] == 'R';
}
