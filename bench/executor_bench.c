/* SPDX-License-Identifier: MIT */
/* The round trip of an empty submission through the executor's process and back, by the event descriptor
 * (both sides sleep in between) and by exec_host_wait, against a bare ping-pong. In turns, so that all see
 * the same machine. */
#include <poll.h>
#include <stdio.h>

#include "base/error.h"
#include "bench.h"
#include "executor/host/host.h"
#include "pingpong.h"

enum { ROUNDS = 200, TRIPS = 100 };

static unsigned completed;

static void on_complete(void *ctx, const struct abi_completion *c)
{
    completed++;
    if (c->error)
        fprintf(stderr, "%s\n", c->message);
}

static void trip(struct exec_host *host, bool by_descriptor)
{
    struct abi_submission s = {.id = completed + 1};
    struct pollfd p = {.fd = exec_host_event_fd(host), .events = POLLIN};
    unsigned want = completed + 1;

    exec_host_submit(host, &s);
    while (completed != want) {
        if (by_descriptor)
            poll(&p, 1, -1);
        else
            exec_host_wait(host, -1);
        exec_host_dispatch(host);
    }
}

int main(int argc, char **argv)
{
    double us[3][ROUNDS], turn[TRIPS];
    struct exec_host_params params = {.complete = on_complete};
    struct exec_host *host;
    struct pingpong bare;
    struct bench b;
    struct error e = {0};

    bench_init(&b, argc, argv);
    if (pingpong_start(&bare) || exec_host_create(&host, &params, &e) ||
        exec_host_wait_ready(host, 60000, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    for (int n = 0; n < ROUNDS * 3; n++) {
        int kind = n % 3;

        for (int i = 0; i < TRIPS; i++) {
            double start = bench_now();

            if (kind == 0)
                pingpong_once(&bare);
            else
                trip(host, kind == 1);
            turn[i] = (bench_now() - start) / 1e3;
        }
        us[kind][n / 3] = bench_quantile(turn, TRIPS, 0.5);
    }
    exec_host_destroy(host);
    pingpong_stop(&bare);
    bench_report(&b, &(struct bench_figure){.id = "executor_sleeping",
                                            .ours_each = us[1],
                                            .reference_each = us[0],
                                            .rounds = ROUNDS,
                                            .unit = "us",
                                            .target = 1.5,
                                            .note = "a submission and its completion, against two eventfds"});
    bench_report(&b, &(struct bench_figure){.id = "executor_awake",
                                            .ours_each = us[2],
                                            .reference_each = us[0],
                                            .rounds = ROUNDS,
                                            .unit = "us",
                                            .target = 1.5,
                                            .note = "the same, by an executor that looks out for it"});
    return bench_finish(&b);
}
