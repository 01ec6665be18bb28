/* SPDX-License-Identifier: MIT */
/* gpu_bench: what the device costs: the way from doorbell to interrupt, how even its vblanks are, and whether it grows.
 *
 *   doorbell_roundtrip   doorbell of an empty submission to its interrupt, executor in its own process, against an
 *                        eventfd ping-pong between two processes: medians, measured in turns. The ping-pong is measured
 *                        as the kernel places the two and with both on one processor; the faster counts.
 *   vblank_jitter        p99 lateness of 60 Hz vblank interrupts while the executor is saturated, against a thread that
 *                        sleeps on a timerfd for the same times, both at once
 *   rss_slope            memory of the device's process and of the executor over 100 000 frames that make, use and
 *                        destroy what frames do: at the end against after the first tenth
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "abi/builder.h"
#include "aerogpu/pci.h"
#include "base/clock.h"
#include "bench.h"
#include "machine/driver.h"
#include "pingpong.h"

enum {
    ROUNDS = 40,
    TURN = 250,
    VBLANK_ROUNDS = 10,
    VBLANK_TURN = 100,
    VBLANKS = VBLANK_ROUNDS * VBLANK_TURN
};

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

/* The median of a turn, in microseconds. */
static double ping_pong(struct pingpong *pong)
{
    double us[TURN];

    for (int i = 0; i < TURN; i++) {
        double then = bench_now();
        pingpong_once(pong);
        us[i] = (bench_now() - then) / 1e3;
    }
    return bench_quantile(us, TURN, 0.5);
}

static double doorbells(struct turn *t, struct driver *d)
{
    double us[TURN];

    for (int i = 0; i < TURN; i++) {
        struct driver_submission s = {0};
        uint64_t rung = machine_now(t->m);
        atomic_store(&t->heard, 0);
        if (driver_submit(d, &s, NULL) || machine_wait(t->m, has_heard, t, 5 * NSEC_PER_SEC))
            die("round trip", &(struct error){.text = "no interrupt"});
        us[i] = (double)(atomic_load(&t->heard) - rung) / 1e3;
    }
    return bench_quantile(us, TURN, 0.5);
}

static double median(const double *v, size_t n)
{
    double sorted[ROUNDS];

    memcpy(sorted, v, n * sizeof(*v));
    return bench_quantile(sorted, n, 0.5);
}

static void doorbell_roundtrip(struct bench *b)
{
    struct turn t = {.m = NULL};
    struct driver_params p = {.on_fence = heard, .ctx = &t};
    double ours[ROUNDS], apart[ROUNDS], together[ROUNDS];
    struct pingpong pong;
    struct driver *d;

    start(&t.m, &d, &p);
    if (pingpong_start(&pong))
        die("ping-pong", &(struct error){.text = "no process"});
    doorbells(&t, d);
    for (int round = 0; round < ROUNDS; round++) {
        ours[round] = doorbells(&t, d);
        apart[round] = ping_pong(&pong);
        pingpong_together(&pong, true);
        together[round] = ping_pong(&pong);
        pingpong_together(&pong, false);
    }
    pingpong_stop(&pong);
    bench_report(b, &(struct bench_figure){
                        .id = "doorbell_roundtrip",
                        .ours_each = ours,
                        .reference_each = median(apart, ROUNDS) < median(together, ROUNDS) ? apart : together,
                        .rounds = ROUNDS,
                        .unit = "us",
                        .target = 1.5,
                        .note = "doorbell to interrupt, against a ping-pong of two processes"});
    driver_destroy(d);
    machine_destroy(t.m);
}

/* ---- vblank_jitter ---- */

/* How late each was, in microseconds. Who sleeps longer than a period hears of what comes next, on either side: the device has one
 * interrupt for all that passed, and the timer is set to the next. */
struct late {
    double us[VBLANKS];
    size_t n;
};

static void add_late(struct late *l, uint64_t ns)
{
    if (l->n < VBLANKS)
        l->us[l->n++] = (double)ns / 1e3;
}

static void vblank_seen(void *ctx, uint64_t seq, uint64_t time_ns, uint64_t seen_ns)
{
    add_late(ctx, seen_ns - time_ns);
}

struct sleeper {
    uint64_t first, period;
    struct late late;
};

static void *sleep_on_timerfd(void *arg)
{
    struct sleeper *s = arg;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct clock clock;

    clock_init_live(&clock);
    for (uint64_t due = s->first, last = due + VBLANKS * s->period; due < last;) {
        struct itimerspec its = {.it_value = {(time_t)(due / NSEC_PER_SEC), (long)(due % NSEC_PER_SEC)}};
        uint64_t n, now;
        timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, NULL);
        if (read(fd, &n, sizeof(n)) != sizeof(n))
            break;
        now = clock_now(&clock);
        due += (now - due) / s->period * s->period; /* the device's clock says the last one's time, too */
        add_late(&s->late, now - due);
        due += s->period;
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
    static struct late ours;
    static struct sleeper sleeper = {.period = 16666667};
    struct driver_params p = {.on_vblank = vblank_seen, .ctx = &ours};
    double turns[2][VBLANK_ROUNDS];
    size_t rounds;
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
    driver_destroy(d);
    machine_destroy(m);
    rounds = (ours.n < sleeper.late.n ? ours.n : sleeper.late.n) / VBLANK_TURN;
    for (size_t i = 0; i < rounds; i++) {
        turns[0][i] = bench_quantile(ours.us + i * VBLANK_TURN, VBLANK_TURN, 0.99);
        turns[1][i] = bench_quantile(sleeper.late.us + i * VBLANK_TURN, VBLANK_TURN, 0.99);
    }
    if (ours.n < VBLANK_TURN && sleeper.late.n >= VBLANK_TURN) {
        bench_failed(b, "vblank_jitter", "the timer was seen a hundred times, and vblanks were not");
        return;
    }
    if (!rounds) {
        bench_not_measured(b, "vblank_jitter", "the machine is too busy for a hundred vblanks");
        return;
    }
    bench_report(b,
                 &(struct bench_figure){.id = "vblank_jitter",
                                        .ours_each = turns[0],
                                        .reference_each = turns[1],
                                        .rounds = rounds,
                                        .unit = "us p99",
                                        .target = 1.2,
                                        .note = "how late vblanks are seen under load, against a timerfd"});
}

/* ---- rss_slope ---- */

enum { FRAMES = 100000, STREAM_SPACE = 64 << 10, SIDE = 64 };

/* Resident anonymous memory of a process in KiB: guest memory is shared and does not count. */
static double rss_kib(pid_t pid)
{
    char path[64], line[256];
    double kib = -1;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "RssAnon: %lf", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib;
}

/* The executor is the only child. */
static pid_t child_of(pid_t parent)
{
    struct dirent *t;
    char path[300];
    int pid = 0;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", parent);
    tasks = opendir(path);
    while (tasks && !pid && (t = readdir(tasks))) {
        FILE *f;
        snprintf(path, sizeof(path), "/proc/%d/task/%s/children", parent, t->d_name);
        f = t->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (f && fscanf(f, "%d", &pid) != 1)
            pid = 0;
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return pid;
}

/* A frame as a program makes it: a vertex buffer and a target of its own, a triangle, a present, and all of it gone. */
static uint32_t build_frame(void *stream)
{
    static const float triangle[3][6] = {
        {-1, -1, 1, 0, 0, 1}, {-1, 3, 0, 1, 0, 1}, {3, -1, 0, 0, 1, 1}}; /* position, colour */
    const struct aerogpu_vertex_buffer_binding vb = {.buffer = 1, .stride_bytes = 24};
    struct abi_builder b;
    const void *bytes;
    uint32_t size;

    abi_builder_init(&b);
    ABI_EMIT(&b, CREATE_TEXTURE2D, create_texture2d, .texture_handle = 2,
             .usage_flags = AEROGPU_RESOURCE_USAGE_RENDER_TARGET, .format = AEROGPU_FORMAT_B8G8R8A8_UNORM,
             .width = SIDE, .height = SIDE, .mip_levels = 1, .array_layers = 1);
    ABI_EMIT(&b, CREATE_BUFFER, create_buffer, .buffer_handle = 1,
             .usage_flags = AEROGPU_RESOURCE_USAGE_VERTEX_BUFFER, .size_bytes = sizeof(triangle));
    ABI_EMIT_TAIL(&b, UPLOAD_RESOURCE, upload_resource, triangle, sizeof(triangle), .resource_handle = 1,
                  .size_bytes = sizeof(triangle));
    ABI_EMIT(&b, SET_RENDER_TARGETS, set_render_targets, .color_count = 1, .colors = {2});
    ABI_EMIT_TAIL(&b, SET_VERTEX_BUFFERS, set_vertex_buffers, &vb, sizeof(vb), .buffer_count = 1);
    ABI_EMIT(&b, DRAW, draw, .vertex_count = 3, .instance_count = 1);
    ABI_EMIT(&b, PRESENT, present, .scanout_id = 0);
    ABI_EMIT(&b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 1);
    ABI_EMIT(&b, DESTROY_RESOURCE, destroy_resource, .resource_handle = 2);
    bytes = abi_builder_end(&b, &size);
    memcpy(stream, bytes, size);
    abi_builder_finish(&b);
    return size;
}

static void rss_slope(struct bench *b)
{
    struct driver_params p = {0};
    struct driver_submission s = {0};
    struct driver_stats stats;
    struct machine *m;
    struct driver *d;
    double early[2] = {0}, late[2] = {0};
    pid_t pids[2] = {getpid(), 0};
    static const char *const ids[] = {"rss_slope", "rss_slope_executor"};
    uint64_t fence = 0;

    start(&m, &d, &p);
    pids[1] = child_of(getpid());
    s.cmd_gpa = driver_alloc(d, STREAM_SPACE, 4096);
    if (!s.cmd_gpa || driver_set_mode(d, SIDE, SIDE, AEROGPU_FORMAT_B8G8R8X8_UNORM))
        die("mode", &(struct error){.text = "no memory"});
    s.cmd_size = build_frame(driver_ptr(d, s.cmd_gpa));
    for (int i = 0; i < FRAMES; i++) {
        if (i == FRAMES / 10)
            for (int k = 0; k < 2; k++)
                early[k] = rss_kib(pids[k]);
        if (driver_submit(d, &s, &fence) || driver_wait(d, fence, 10 * NSEC_PER_SEC))
            die("frame", &(struct error){.text = "no completion"});
        if (isatty(STDERR_FILENO) && i % 1000 == 0)
            fprintf(stderr, "\rrss_slope: frame %d of %d", i, FRAMES);
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    driver_get_stats(d, &stats);
    if (stats.errors)
        die("frames", &(struct error){.text = "the device reported errors"});
    for (int k = 0; k < 2; k++) {
        char note[96];
        late[k] = rss_kib(pids[k]);
        snprintf(note, sizeof(note), "anonymous memory over %d frames: %+.2f bytes a frame", FRAMES,
                 (late[k] - early[k]) * 1024 / (FRAMES * 0.9));
        bench_report(b, &(struct bench_figure){.id = ids[k],
                                               .ours = late[k],
                                               .reference = early[k],
                                               .unit = "KiB",
                                               .target = 1.02,
                                               .note = note});
    }
    driver_destroy(d);
    machine_destroy(m);
}

int main(int argc, char **argv)
{
    struct bench b;

    bench_init(&b, argc, argv);
    doorbell_roundtrip(&b);
    vblank_jitter(&b);
    rss_slope(&b);
    return bench_finish(&b);
}
