/* SPDX-License-Identifier: MIT */
#include "service.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "d3dkmt/server.h"

static void serve(const struct stack_params *params, const char *path, unsigned mode, int ready)
{
    struct d3dkmt_server *server;
    struct stack *stack;
    struct error e = {0};
    sigset_t term;
    int sig;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    log_set_level(LOG_ERROR);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    if (stack_create(&stack, params, &e) || machine_wait_ready(stack_machine(stack), 60000, &e) ||
        !NT_SUCCESS(stack_start(stack, &e)) ||
        d3dkmt_serve(&server, &(struct d3dkmt_serve_params){stack_dxgk(stack), path, mode, (gid_t)-1}, &e)) {
        fprintf(stderr, "bench: service: %s\n", e.text);
        _exit(4);
    }
    if (write(ready, "r", 1) != 1)
        _exit(1);
    sigwait(&term, &sig);
    d3dkmt_serve_end(server);
    stack_destroy(stack);
    _exit(0);
}

pid_t service_start(const struct stack_params *params, const char *path, unsigned mode)
{
    int fds[2];
    pid_t pid;
    char c;

    if (pipe(fds)) {
        perror("bench: pipe");
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
