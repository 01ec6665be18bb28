/* gpu_bench: what the device costs: the way from doorbell to interrupt, and how even its vblanks are.
 *
 *   doorbell_roundtrip   doorbell of an empty submission to its interrupt, executor in its own process,
 * against an eventfd ping-pong between two processes: medians, measured in turns vblank_jitter        p99
 * lateness of 60 Hz vblank interrupts while the executor is saturated, against a thread that sleeps on a
 * timerfd for the same times, both at once
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "aerogpu/pci.h"
#include "base/clock.h"
#include "bench.h"
#include "machine/driver.h"
#include "machine/samples.h"
#include "pingpong.h"

enum { ROUNDS = 40, TURN = 250, VBLANKS = 600 };

static void die(const char *what, const struct error *e)
{
    fprintf(stderr, "gpu_bench: %s: %s\n", what, e->text);
    exit(4);
}

static void start(struct machine **m, struct driver **d, struct driver_params *p)
{
    struct error e = {0};

    if (machine_create(m, &(struct machine_params){.kind = MACHINE_LIVE, .ram_size = 64 << 20}, &e) ||
        machine_wait_ready(*m, 60000, &e))
        die("live machine", &e);
    p->machine = *m;
    if (driver_create(d, p, &e))
        die("driver", &e);
}

/* ---- doorbell_roundtrip ---- */

struct turn {
    struct machine *m;
    _Atomic uint64_t rung, heard;
    struct samples *ours;
};

static void heard(void *ctx, uint64_t fence, uint64_t submitted, uint64_t completed)
{
    struct turn *t = ctx;

    atomic_store(&t->heard, machine_now(t->m));
}

static bool has_heard(void *ctx)
{
    return atomic_load(&((struct turn *)ctx)->heard) != 0;
}

static void doorbell_roundtrip(struct bench *b)
{
    struct turn t = {.m = NULL};
    struct driver_params p = {.on_fence = heard, .ctx = &t};
    struct samples ours = {0}, reference = {0};
    struct pingpong pong;
    struct driver *d;
    struct clock clock;

    clock_init_live(&clock);
    start(&t.m, &d, &p);
    if (pingpong_start(&pong))
        die("ping-pong", &(struct error){.text = "no process"});
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < TURN; i++) {
            struct driver_submission s = {0};
            uint64_t rung = machine_now(t.m);
            atomic_store(&t.heard, 0);
            if (driver_submit(d, &s, NULL) || machine_wait(t.m, has_heard, &t, 5 * NSEC_PER_SEC))
                die("round trip", &(struct error){.text = "no interrupt"});
            if (round)
                samples_add(&ours, atomic_load(&t.heard) - rung);
        }
        for (int i = 0; i < TURN; i++) {
            uint64_t then = clock_now(&clock);
            pingpong_once(&pong);
            if (round)
                samples_add(&reference, clock_now(&clock) - then);
        }
    }
    pingpong_stop(&pong);
    bench_report(b, &(struct bench_figure){.id = "doorbell_roundtrip",
                                           .ours = (double)samples_percentile(&ours, 50) / 1000,
                                           .reference = (double)samples_percentile(&reference, 50) / 1000,
                                           .unit = "us",
                                           .target = 1.5});
    driver_destroy(d);
    machine_destroy(t.m);
    samples_finish(&ours);
    samples_finish(&reference);
}

/* ---- vblank_jitter ---- */

static void vblank_seen(void *ctx, uint64_t seq, uint64_t time_ns, uint64_t seen_ns)
{
    samples_add(ctx, seen_ns - time_ns);
}

struct sleeper {
    uint64_t first, period;
    struct samples late;
};

static void *sleep_on_timerfd(void *arg)
{
    struct sleeper *s = arg;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct clock clock;

    clock_init_live(&clock);
    for (int i = 0; i < VBLANKS; i++) {
        uint64_t due = s->first + (uint64_t)i * s->period, n;
        struct itimerspec its = {.it_value = {(time_t)(due / NSEC_PER_SEC), (long)(due % NSEC_PER_SEC)}};
        timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, NULL);
        if (read(fd, &n, sizeof(n)) == sizeof(n))
            samples_add(&s->late, clock_now(&clock) - due);
    }
    close(fd);
    return NULL;
}

/* Keeps the ring of empty submissions full, so that executor and device thread have no rest. */
static void saturate(struct machine *m, struct driver *d, uint64_t until)
{
    struct driver_submission s = {0};
    uint64_t fence = 0;

    while (machine_now(m) < until)
        for (int i = 0; i < 64; i++)
            if (driver_submit(d, &s, &fence) == -EAGAIN)
                driver_wait(d, fence - 128, NSEC_PER_SEC);
    driver_wait_idle(d, 10 * NSEC_PER_SEC);
}

static void vblank_jitter(struct bench *b)
{
    struct samples ours = {0};
    struct driver_params p = {.on_vblank = vblank_seen, .ctx = &ours};
    struct sleeper sleeper = {.period = 16666667};
    struct machine *m;
    struct driver *d;
    pthread_t thread;

    start(&m, &d, &p);
    if (driver_set_mode(d, 640, 480, AEROGPU_FORMAT_B8G8R8X8_UNORM))
        die("mode", &(struct error){.text = "no memory"});
    /* Half a period beside the vblanks, so that the two do not wait for each other's processor. */
    sleeper.first = machine_now(m) + sleeper.period / 2;
    if (pthread_create(&thread, NULL, sleep_on_timerfd, &sleeper))
        die("reference", &(struct error){.text = "no thread"});
    saturate(m, d, machine_now(m) + VBLANKS * sleeper.period);
    pthread_join(thread, NULL);
    driver_disable_scanout(d);
    bench_report(b, &(struct bench_figure){.id = "vblank_jitter",
                                           .ours = (double)samples_percentile(&ours, 99) / 1000,
                                           .reference = (double)samples_percentile(&sleeper.late, 99) / 1000,
                                           .unit = "us p99",
                                           .target = 1.2});
    driver_destroy(d);
    machine_destroy(m);
    samples_finish(&ours);
    samples_finish(&sleeper.late);
}

int main(int argc, char **argv)
{
    struct bench b;

    bench_init(&b, argc, argv);
    doorbell_roundtrip(&b);
    vblank_jitter(&b);
    return bench_finish(&b);
}
