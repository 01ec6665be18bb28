/* SPDX-License-Identifier: MIT */
#include "service.h"

#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sched/slice.h"
#include "d3dkmt/server.h"

/* Shared with the service. */
static struct {
    _Atomic unsigned answers;
    _Atomic size_t heap;
} * page;

static void serve(const struct stack_params *params, const char *path, unsigned mode, int ready)
{
    struct d3dkmt_server *server;
    struct stack *stack;
    struct error e = {0};
    sigset_t term;
    int sig;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid(); /* as `aerogpu serve` under an init */
    share_raise();
    log_set_level(LOG_ERROR);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigaddset(&term, SIGUSR1);
    sigprocmask(SIG_BLOCK, &term, NULL);
    if (stack_create(&stack, params, &e) || machine_wait_ready(stack_machine(stack), 60000, &e) ||
        !NT_SUCCESS(stack_start(stack, &e)) ||
        d3dkmt_serve(&server, &(struct d3dkmt_serve_params){stack_dxgk(stack), path, mode, (gid_t)-1}, &e)) {
        fprintf(stderr, "bench: service: %s\n", e.text);
        _exit(4);
    }
    if (write(ready, "r", 1) != 1)
        _exit(1);
    while (!sigwait(&term, &sig) && sig == SIGUSR1) {
        struct mallinfo2 m = mallinfo2();
        atomic_store(&page->heap, m.uordblks + m.hblkhd);
        atomic_fetch_add(&page->answers, 1);
    }
    d3dkmt_serve_end(server);
    stack_destroy(stack);
    _exit(0);
}

pid_t service_start(const struct stack_params *params, const char *path, unsigned mode)
{
    int fds[2];
    pid_t pid;
    char c;

    page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || pipe(fds)) {
        perror("bench: service");
        exit(4);
    }
    pid = fork();
    if (!pid)
        serve(params, path, mode, fds[1]);
    close(fds[1]);
    if (pid < 0 || read(fds[0], &c, 1) != 1) {
        fputs("bench: the service did not start\n", stderr);
        exit(4);
    }
    close(fds[0]);
    return pid;
}

size_t service_heap(pid_t service)
{
    unsigned answers = atomic_load(&page->answers);

    kill(service, SIGUSR1);
    for (int i = 0; i < 10000 && atomic_load(&page->answers) == answers; i++)
        usleep(1000);
    return atomic_load(&page->heap);
}
