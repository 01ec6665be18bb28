/* SPDX-License-Identifier: MIT */
#include "pingpong.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void __attribute__((noreturn)) answer(const struct pingpong *p)
{
    uint64_t n;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(p->there, &n, sizeof(n)) == sizeof(n) && write(p->back, &n, sizeof(n)) == sizeof(n))
        continue;
    _exit(0);
}

int pingpong_start(struct pingpong *p)
{
    p->there = eventfd(0, EFD_CLOEXEC);
    p->back = eventfd(0, EFD_CLOEXEC);
    sched_getaffinity(0, sizeof(p->all), &p->all);
    p->pid = fork();
    if (p->pid == 0)
        answer(p);
    return p->there < 0 || p->back < 0 || p->pid < 0 ? -errno : 0;
}

void pingpong_once(struct pingpong *p)
{
    uint64_t n = 1;

    if (write(p->there, &n, sizeof(n)) != sizeof(n) || read(p->back, &n, sizeof(n)) != sizeof(n))
        _exit(1);
}

void pingpong_together(struct pingpong *p, bool together)
{
    cpu_set_t one = p->all;
    int cpu = 0;

    while (together && !CPU_ISSET(cpu, &p->all))
        cpu++;
    if (together) {
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof(one), &one);
    sched_setaffinity(p->pid, sizeof(one), &one);
}

void pingpong_stop(struct pingpong *p)
{
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    close(p->there);
    close(p->back);
}
