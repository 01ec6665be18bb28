/* SPDX-License-Identifier: MIT */
/* wddm_bench: what the operating system's half costs.
 *
 *   d3dkmt_render        D3DKMTRender of an empty stream over the socket until the client sees its fence, against a bare
 *                        request and answer over a socket plus one wake-up by eventfd, between two processes
 *   d3dkmt_render_local  the same in one process, against the device alone with the same stream (doorbell to interrupt)
 *   vblank_wait          lateness (p99 of each turn of 50) of WaitForVerticalBlankEvent in 16 processes, against 16 processes on timerfds that
 *                        are due together too, half a period later
 *   tdr_recovery         from the deadline of a hang to the first fence of new work, against the start of an executor before and
 *                        after it
 *   tdr_growth           memory that a service has more after 1 000 hangs and resets than after 100; descriptors and
 *                        processes must be as many as before
 *   present_rate         how far the desktop's rate of presents is from 60 Hz in a minute, with the compositor and 8
 *                        clients, each a process
 *   sim_speed            an idle composed desktop in virtual time, times processor time
 *   sim_clients          16 clients x 60 Hz for ten simulated minutes, in five lives: the same, every promise kept
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/builder.h"
#include "aerogpu/escape.h"
#include "base/clock.h"
#include "base/log.h"
#include "bench.h"
#include "d3dkmt/server.h"
#include "service.h"
#include "dxgkrnl/faults.h"
#include "dxgkrnl/progress.h"
#include "machine/driver.h"
#include "sim/explore.h"
#include "stack/stack.h"

enum { CYCLES = 1000 };
enum { ROUNDS = 60, TURN = 100, WAITERS = 16, VBLANK_ROUNDS = 10, VBLANK_TURN = 50, HANGS = 9, LIVES = 5 };
enum { VBLANKS = VBLANK_ROUNDS * VBLANK_TURN };

static const char *path;
static struct clock wall;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "wddm_bench: %s: %s\n", what, why);
    exit(4);
}

/* ---- the service, in a process of its own ---- */

static pid_t serve(void)
{
    struct settings settings = {0};
    pid_t pid;

    dxgk_settings_set(&settings, SETTINGS_GRAPHICS_DRIVERS, "TdrDelay", 1);
    dxgk_settings_set(&settings, SETTINGS_GRAPHICS_DRIVERS, "TdrLimitCount", 100000);
    dxgk_settings_set(&settings, SETTINGS_GRAPHICS_DRIVERS, "EnableFaultInjection", 1);
    pid = service_start(&(struct stack_params){.machine.kind = MACHINE_LIVE, .settings = &settings}, path,
                        0600);
    dxgk_settings_finish(&settings);
    return pid;
}

static void end(pid_t pid)
{
    d3dkmt_disconnect();
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

struct app {
    D3DKMT_HANDLE adapter, device, context;
    const struct dxgk_progress *progress;
    uint32_t size; /* of the empty stream in the command buffer */
    void *command;
    uint8_t stream[64];
};

static bool app_open(struct app *a)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE d = {0};
    D3DKMT_CREATECONTEXT x = {0};
    struct abi_builder b;
    const void *bytes;

    if (!NT_SUCCESS(D3DKMTOpenAdapterFromHdc(&open)))
        return false;
    d.hAdapter = a->adapter = open.hAdapter;
    if (!NT_SUCCESS(D3DKMTCreateDevice(&d)))
        return false;
    x.hDevice = a->device = d.hDevice;
    if (!NT_SUCCESS(D3DKMTCreateContext(&x)))
        return false;
    a->context = x.hContext;
    a->command = x.pCommandBuffer;
    a->progress = d3dkmt_progress(a->context);
    abi_builder_init(&b);
    ABI_EMIT(&b, NOP, nop, 0);
    bytes = abi_builder_end(&b, &a->size);
    memcpy(a->command, bytes, a->size);
    abi_builder_finish(&b);
    return true;
}

/* A turn: the median, in microseconds, of what `once` takes. */
static double turn(void (*once)(void *ctx), void *ctx)
{
    double us[TURN];

    for (int i = 0; i < TURN; i++) {
        double then = bench_now();
        once(ctx);
        us[i] = (bench_now() - then) / 1e3;
    }
    return bench_quantile(us, TURN, 0.5);
}

static NTSTATUS app_render(struct app *a)
{
    D3DKMT_RENDER r = {.hContext = a->context, .CommandLength = a->size};
    NTSTATUS s = D3DKMTRender(&r);

    return NT_SUCCESS(s) ? d3dkmt_wait(a->context, a->progress->queued, D3DKMT_FOREVER) : s;
}

static void render_once(void *app)
{
    if (app_render(app) != STATUS_SUCCESS)
        die("render", "the device was lost");
}

/* ---- d3dkmt_render ---- */

struct peer {
    pid_t pid;
    int socket, event;
};

/* Answers a message of D3DKMTRender's size and then signals the event. */
static void peer_start(struct peer *p)
{
    int s[2];
    char msg[512];

    p->event = eventfd(0, 0);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s))
        die("socketpair", strerror(errno));
    p->socket = s[0];
    p->pid = fork();
    if (!p->pid) {
        uint64_t one = 1;
        close(s[0]);
        while (recv(s[1], msg, sizeof(msg), 0) > 0)
            if (send(s[1], msg, 392, 0) < 0 || write(p->event, &one, 8) != 8)
                break;
        _exit(0);
    }
    close(s[1]);
}

static void peer_once(void *peer)
{
    struct peer *p = peer;
    char msg[512] = {0};
    uint64_t n;

    if (send(p->socket, msg, 392, 0) < 0 || recv(p->socket, msg, sizeof(msg), 0) < 0 ||
        read(p->event, &n, 8) != 8)
        die("peer", strerror(errno));
}

static void render_over_socket(struct bench *b)
{
    double ours[ROUNDS], reference[ROUNDS];
    struct peer peer;
    struct app a;
    pid_t pid = serve();

    peer_start(&peer);
    if (!app_open(&a))
        die("d3dkmt_render", "no device");
    turn(render_once, &a);
    for (int round = 0; round < ROUNDS; round++) {
        ours[round] = turn(render_once, &a);
        reference[round] = turn(peer_once, &peer);
    }
    close(peer.socket);
    waitpid(peer.pid, NULL, 0);
    bench_report(b, &(struct bench_figure){.id = "d3dkmt_render",
                                           .ours_each = ours,
                                           .reference_each = reference,
                                           .rounds = ROUNDS,
                                           .unit = "us",
                                           .target = 2,
                                           .note = "Render and its completion over a socket, against a bare "
                                                   "exchange and an eventfd"});
    end(pid);
}

/* ---- d3dkmt_render_local ---- */

struct bare {
    struct machine *m;
    struct driver *driver;
    struct driver_submission stream;
    const struct app *app;
    _Atomic bool heard;
};

static void heard(void *ctx, uint64_t fence, uint64_t submitted, uint64_t completed)
{
    atomic_store(&((struct bare *)ctx)->heard, true);
}

static bool has_heard(void *ctx)
{
    return atomic_load(&((struct bare *)ctx)->heard);
}

static void bare_once(void *bare)
{
    struct bare *t = bare;

    /* a driver's buffer is new each time */
    memcpy(driver_ptr(t->driver, t->stream.cmd_gpa), t->app->command, t->app->size);
    atomic_store(&t->heard, false);
    if (driver_submit(t->driver, &t->stream, NULL) || machine_wait(t->m, has_heard, t, NSEC_PER_SEC))
        die("device", "no interrupt");
}

static void render_local(struct bench *b)
{
    double ours[ROUNDS], reference[ROUNDS];
    struct app a;
    struct bare t = {.app = &a};
    struct driver_params dp = {.on_fence = heard, .ctx = &t};
    struct dxgk_client *client = NULL;
    struct d3dkmt_transport transport;
    struct stack *stack;
    struct error e = {0};

    if (stack_create(&stack, &(struct stack_params){.machine.kind = MACHINE_LIVE}, &e) ||
        machine_wait_ready(stack_machine(stack), 60000, &e) || !NT_SUCCESS(stack_start(stack, &e)) ||
        dxgk_client_open(stack_dxgk(stack), &client, 1, true))
        die("stack", e.text);
    if (machine_create(&t.m, &(struct machine_params){.kind = MACHINE_LIVE, .ram_size = 64 << 20}, &e) ||
        machine_wait_ready(t.m, 60000, &e))
        die("machine", e.text);
    dp.machine = t.m;
    if (driver_create(&t.driver, &dp, &e))
        die("driver", e.text);
    d3dkmt_local(&transport, client);
    d3dkmt_use(&transport);
    if (!app_open(&a))
        die("d3dkmt_render_local", "no device");
    t.stream.cmd_gpa = driver_alloc(t.driver, a.size, 64);
    t.stream.cmd_size = a.size;
    turn(render_once, &a);
    turn(bare_once, &t);
    for (int round = 0; round < ROUNDS; round++) {
        ours[round] = turn(render_once, &a);
        reference[round] = turn(bare_once, &t);
    }
    bench_report(b, &(struct bench_figure){.id = "d3dkmt_render_local",
                                           .ours_each = ours,
                                           .reference_each = reference,
                                           .rounds = ROUNDS,
                                           .unit = "us",
                                           .target = 1.3,
                                           .note = "the same in one process, against the device alone"});
    d3dkmt_use(NULL);
    dxgk_client_close(client);
    stack_destroy(stack);
    driver_destroy(t.driver);
    machine_destroy(t.m);
}

/* ---- vblank_wait ---- */

/* A vblank's time as the device gives it: all are whole periods apart. */
static bool ask_vblank(struct app *a, uint64_t *vblank, uint64_t *period)
{
    struct aerogpu_escape_query_vblank q = {
        .header = {AEROGPU_ESCAPE_VERSION, AEROGPU_ESCAPE_OP_QUERY_VBLANK, sizeof(q), 0}};

    if (D3DKMTWaitForVerticalBlankEvent(&(D3DKMT_WAITFORVERTICALBLANKEVENT){a->adapter, a->device, 0}) ||
        D3DKMTEscape(&(D3DKMT_ESCAPE){
            .hAdapter = a->adapter, .pPrivateDriverData = &q, .PrivateDriverDataSize = sizeof(q)}))
        return false;
    *vblank = q.last_vblank_time_ns;
    *period = q.vblank_period_ns;
    return true;
}

/* How late each wait ends: behind the first time that was still to come when it began, or, if it ends before that, behind the time
 * before, of which it must have been the news. All times are whole periods from `first`, and so both kinds of waiters are late by the
 * same rule, by more than a period too; one that does not wait at all is late by half a period. */
static double late_us(uint64_t first, uint64_t period, uint64_t began)
{
    uint64_t due = first + ((began - first) / period + 1) * period, now = clock_now(&wall);

    return (double)(now - (now < due ? due - period : due)) / 1e3;
}

/* Without a call between the waits that would be in the others' way. */
static void wait_for_vblanks(double *late)
{
    struct app a;
    uint64_t vblank, period, began;

    if (!app_open(&a) || !ask_vblank(&a, &vblank, &period))
        _exit(1);
    for (int i = 0; i < VBLANKS; i++) {
        began = clock_now(&wall);
        if (D3DKMTWaitForVerticalBlankEvent(&(D3DKMT_WAITFORVERTICALBLANKEVENT){a.adapter, a.device, 0}))
            _exit(1);
        late[i] = late_us(vblank, period, began);
    }
    _exit(0);
}

static void wait_on_timerfd(double *late, uint64_t first, uint64_t period)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    uint64_t n;

    for (int i = 0; i < VBLANKS; i++) {
        struct itimerspec its = {0};
        uint64_t began = clock_now(&wall), due = first + ((began - first) / period + 1) * period;
        its.it_value.tv_sec = (time_t)(due / NSEC_PER_SEC);
        its.it_value.tv_nsec = (long)(due % NSEC_PER_SEC);
        timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, NULL);
        if (read(fd, &n, sizeof(n)) != sizeof(n))
            _exit(1);
        late[i] = late_us(first, period, began);
    }
    _exit(0);
}

/* The p99 of each turn of some waiters: late[waiter][vblank]. */
static void turns_of(const double *late, double p99[VBLANK_ROUNDS])
{
    double us[WAITERS * VBLANK_TURN];

    for (int r = 0; r < VBLANK_ROUNDS; r++) {
        for (int w = 0; w < WAITERS; w++)
            memcpy(us + w * VBLANK_TURN, late + w * VBLANKS + r * VBLANK_TURN, VBLANK_TURN * sizeof(*us));
        p99[r] = bench_quantile(us, WAITERS * VBLANK_TURN, 0.99);
    }
}

/* 16 of each, at once, so that they have the same machine. */
static void vblank_wait(struct bench *b)
{
    size_t size = 2 * WAITERS * VBLANKS * sizeof(double);
    double *late = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double ours[VBLANK_ROUNDS], reference[VBLANK_ROUNDS];
    pid_t pid = serve(), children[2 * WAITERS];
    uint64_t vblank, period;
    int status, bad = 0;
    struct app a;

    if (!app_open(&a) || !ask_vblank(&a, &vblank, &period))
        die("vblank_wait", "no vblank");
    d3dkmt_disconnect();

    for (int i = 0; i < 2 * WAITERS; i++) {
        children[i] = fork();
        if (!children[i] && i < WAITERS)
            wait_for_vblanks(late + i * VBLANKS);
        else if (!children[i])
            wait_on_timerfd(late + i * VBLANKS, vblank - period / 2, period);
    }
    for (int i = 0; i < 2 * WAITERS; i++) {
        waitpid(children[i], &status, 0);
        bad |= status;
    }
    if (bad)
        die("vblank_wait", "a waiter failed");
    turns_of(late, ours);
    turns_of(late + WAITERS * VBLANKS, reference);
    bench_report(b,
                 &(struct bench_figure){.id = "vblank_wait",
                                        .ours_each = ours,
                                        .reference_each = reference,
                                        .rounds = VBLANK_ROUNDS,
                                        .unit = "us p99",
                                        .target = 1.3,
                                        .note = "how late 16 waiters of a vblank are, against 16 timerfds"});
    end(pid);
    munmap(late, size);
}

/* ---- tdr_recovery ---- */

static void inject(struct app *a, enum dxgk_fault fault)
{
    struct dxgk_injection i = {fault, 1};

    if (D3DKMTEscape(&(D3DKMT_ESCAPE){.hAdapter = a->adapter,
                                      .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_INJECT,
                                      .pPrivateDriverData = &i,
                                      .PrivateDriverDataSize = sizeof(i)}))
        die("tdr_recovery", "the fault cannot be injected");
}

static void app_close(struct app *a)
{
    D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){a->device});
    D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){a->adapter});
}

/* Milliseconds until a new executor takes submissions, by itself: what a recovery cannot do without. */
static double executor_start(void)
{
    uint64_t then = clock_now(&wall);
    struct error e = {0};
    struct machine *m;
    double ms;

    if (machine_create(&m, &(struct machine_params){.kind = MACHINE_LIVE, .ram_size = 64 << 20}, &e) ||
        machine_wait_ready(m, 60000, &e))
        die("machine", e.text);
    ms = (double)(clock_now(&wall) - then) / 1e6;
    machine_destroy(m);
    return ms;
}

static void tdr_recovery(struct bench *b)
{
    double ours[HANGS], reference[HANGS], before, after = executor_start();
    pid_t pid = serve();
    struct app a, next;

    if (!app_open(&a))
        die("tdr_recovery", "no device");
    for (int i = 0; i < HANGS; i++) {
        uint64_t deadline, done;
        if (app_render(&a) != STATUS_SUCCESS)
            die("tdr_recovery", "new work does not run");
        inject(&a, DXGK_FAULT_STOP_EXECUTOR);
        deadline = clock_now(&wall) + NSEC_PER_SEC; /* TdrDelay */
        if (app_render(&a) != STATUS_DEVICE_REMOVED)
            die("tdr_recovery", "the hang was not noticed");
        if (!app_open(&next) || app_render(&next) != STATUS_SUCCESS)
            die("tdr_recovery", "new work does not run");
        done = clock_now(&wall);
        ours[i] = done > deadline ? (double)(done - deadline) / 1e6 : 0;
        before = after;
        after = executor_start();
        reference[i] = (before + after) / 2;
        app_close(&a);
        a = next;
    }
    bench_report(b, &(struct bench_figure){.id = "tdr_recovery",
                                           .ours_each = ours,
                                           .reference_each = reference,
                                           .rounds = HANGS,
                                           .unit = "ms",
                                           .target = 1.9,
                                           .note = "from TdrDelay to new work that ran, against the start of "
                                                   "an executor"});
    end(pid);
}

/* ---- tdr_growth ---- */

struct size {
    long resident_kib;
    int descriptors, children;
};

static int count_lines(const char *command)
{
    FILE *f = popen(command, "r");
    int n = 0;

    if (!f || fscanf(f, "%d", &n) != 1)
        n = -1;
    if (f)
        pclose(f);
    return n;
}

/* At rest: for a moment after a reset one executor ends while the next is there. */
static struct size measure(pid_t pid)
{
    struct size s = {0};
    char text[128];

    sleep(1);
    snprintf(text, sizeof(text), "awk '/VmRSS/{print $2}' /proc/%d/status", (int)pid);
    s.resident_kib = count_lines(text);
    snprintf(text, sizeof(text), "ls /proc/%d/fd | wc -l", (int)pid);
    s.descriptors = count_lines(text);
    snprintf(text, sizeof(text), "cat /proc/%d/task/*/children | wc -w", (int)pid);
    s.children = count_lines(text);
    return s;
}

/* A stopped executor, and a time-out that is asked for: what a hang does, without the wait for it. */
static void hang_and_reset(struct app *a)
{
    UINT force = D3DKMT_TDRDBGCTRLTYPE_FORCETDR;

    if (!app_open(a) || app_render(a) != STATUS_SUCCESS)
        die("tdr_growth", "new work does not run");
    inject(a, DXGK_FAULT_STOP_EXECUTOR);
    if (D3DKMTRender(&(D3DKMT_RENDER){.hContext = a->context, .CommandLength = a->size}) ||
        D3DKMTEscape(&(D3DKMT_ESCAPE){.hAdapter = a->adapter,
                                      .Type = D3DKMT_ESCAPE_TDRDBGCTRL,
                                      .pPrivateDriverData = &force,
                                      .PrivateDriverDataSize = sizeof(force)}) ||
        d3dkmt_wait(a->context, d3dkmt_progress(a->context)->queued, D3DKMT_FOREVER) != STATUS_DEVICE_REMOVED)
        die("tdr_growth", "the hang was not noticed");
    app_close(a);
}

static void tdr_growth(struct bench *b)
{
    pid_t pid = serve();
    struct size before = {0}, after;
    struct app a;
    char note[96];

    for (int i = 0; i < CYCLES; i++) {
        hang_and_reset(&a);
        if (i == CYCLES / 10)
            before = measure(pid);
    }
    after = measure(pid);
    snprintf(note, sizeof(note), "%d cycles; descriptors %d, then %d; processes %d, then %d", CYCLES,
             before.descriptors, after.descriptors, before.children, after.children);
    bench_report(b, &(struct bench_figure){.id = "tdr_growth",
                                           .ours = (double)after.resident_kib,
                                           .reference = (double)before.resident_kib,
                                           .unit = "KiB",
                                           .target = after.descriptors > before.descriptors ||
                                                             after.children > before.children
                                                         ? 0
                                                         : 1.05,
                                           .note = note});
    end(pid);
}

/* ---- present_rate ---- */

enum { COMPOSED_FRAMES = 3600 };

/* Starts the suite's compositor with its clients; says how long it has run now and then. */
static bool compose(const char *report)
{
    char samples[32], json[80];
    int status, seconds = 0;
    pid_t pid;

    snprintf(samples, sizeof(samples), "--samples=%d", COMPOSED_FRAMES);
    snprintf(json, sizeof(json), "--json=%s", report);
    pid = fork();
    if (!pid) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        execl(AEROGPU_SUITE_DIR "/dwm_flush_pacing", "dwm_flush_pacing", samples, "--producers=8", json,
              (char *)NULL);
        _exit(127);
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        sleep(1);
        if (++seconds % 10 == 0)
            fprintf(stderr, "present_rate: %d of %d s\n", seconds, COMPOSED_FRAMES / 60);
    }
    return status == 0;
}

static void present_rate(struct bench *b)
{
    char report[64];
    pid_t pid = serve();
    bool composed;
    json_t *r;
    double rate;

    snprintf(report, sizeof(report), "/tmp/aerogpu-bench-%d.json", (int)getpid());
    composed = compose(report);
    r = json_load_file(report, 0, NULL);
    rate = json_number_value(json_object_get(json_object_get(r, "measured"), "frames_per_second"));
    if (!composed)
        bench_failed(b, "present_rate",
                     r ? json_string_value(json_object_get(r, "failure"))
                       : "the compositor cannot be started");
    unlink(report);
    json_decref(r);
    end(pid);
    if (!composed)
        return;
    bench_report(b, &(struct bench_figure){.id = "present_rate",
                                           .ours = fabs(rate - 60) > 0.1 ? 0 : rate,
                                           .reference = 60,
                                           .unit = "Hz",
                                           .target = 0.998,
                                           .at_least = 1,
                                           .note = "frames composed for a minute, against vblanks"});
}

/* ---- the sim ---- */

/* Some lives, one after the other, each with a seed of its own. */
static void sim(struct bench *b, const char *id, struct explore_params p, double target)
{
    double ours[LIVES], reference[LIVES], before, after = bench_merge_rate();

    for (int i = 0; i < LIVES; i++) {
        double start = bench_cpu();
        struct explore_result r;

        p.seed = (uint64_t)i + 1;
        if (sim_explore(&p, &r)) {
            bench_failed(b, id, r.broken);
            return;
        }
        ours[i] = (double)r.virtual_ns / (bench_cpu() - start);
        before = after;
        after = bench_merge_rate();
        reference[i] = (before + after) / 2;
    }
    bench_report(b, &(struct bench_figure){.id = id,
                                           .ours_each = ours,
                                           .reference_each = reference,
                                           .rounds = LIVES,
                                           .unit = "x real time",
                                           .target = target,
                                           .at_least = 1,
                                           .note = "against million events merged a second"});
}

static void sim_speed(struct bench *b)
{
    sim(b, "sim_speed",
        (struct explore_params){.clients = 1, .length_ns = 120 * NSEC_PER_SEC, .calm = true, .steady = true},
        10);
}

static void sim_clients(struct bench *b)
{
    sim(b, "sim_clients",
        (struct explore_params){.clients = 16, .length_ns = 120 * NSEC_PER_SEC, .calm = true, .steady = true},
        1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *id;
        void (*measure)(struct bench *b);
    } figures[] = {
        {"d3dkmt_render", render_over_socket},
        {"vblank_wait", vblank_wait},
        {"tdr_recovery", tdr_recovery},
        {"tdr_growth", tdr_growth},
        {"d3dkmt_render_local", render_local},
        {"present_rate", present_rate},
        {"sim_speed", sim_speed},
        {"sim_clients", sim_clients},
    };
    struct bench b;
    char socket[64];

    bench_init(&b, argc, argv);
    clock_init_live(&wall);
    log_set_level(LOG_ERROR);
    snprintf(socket, sizeof(socket), "/tmp/aerogpu-bench-%d.sock", (int)getpid());
    path = socket;
    setenv(D3DKMT_SOCKET_VARIABLE, path, 1);
    for (unsigned i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        if (bench_wants(&b, figures[i].id))
            figures[i].measure(&b);
    return bench_finish(&b);
}
