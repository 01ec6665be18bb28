/* SPDX-License-Identifier: MIT */
/* isolation_bench: a client that draws a frame at each vblank, while eight others do what they can to keep it from that: storms of cheap
 * calls, connections that come and go, descriptors and garbage on the socket, guessed handles, memory up to the quota, malformed
 * streams, work for the GPU without end, and executors that crash.
 *
 *   isolation_wait     p99.9 of the time from a vblank to the frame behind it, pixels in hand, against a period of 60 Hz, or against
 *                      the same beside as many processes that only spin, if that is longer: what the machine itself does to it
 *   isolation_lost     frames of 1 000 that were not there at the next vblank but one, or never, or never begun because their vblank
 *                      was not heard of in its period, + 1, against those beside who spins
 *   isolation_pixels   frames with a wrong pixel, + 1, against 1
 *   isolation_growth   the service's heap that is in use at rest after the second round, against after the first
 *   isolation_left     descriptors and threads of the service when the attackers have gone, against before they came, behind a
 *                      first client that went, and what a crowd is served with
 *
 * There are two rounds of each, in turns.
 *
 * AEROGPU_SOAK=SECONDS says how long; 10. With it `make soak` makes hours of it. AEROGPU_ATTACKERS=NAME[,NAME...] lets those come
 * only (none: nobody), to find whom the client waits for. The attackers are in a session of their own, as a stranger's shell is:
 * where processors are scarce the kernel shares them out by session first. In the client's own session 200 threads that only spin
 * take longer from it than the whole storm, and no service could give that back.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "bench.h"
#include "d3dkmt/d3dkmt.h"
#include "service.h"
#include "umd/umd.h"

/* What the service keeps of a crowd: the executor of those who are one too many for their own, seven descriptors and a thread. */
enum { RESERVE = 8 };

enum { STORM_THREADS = 200, STRANGER = 12345, SIZE = 64, WARM_UP_S = 1, PERIOD = 16666667 };

/* A soak is for the service: who spins does not do anything else after a minute. */
enum { SPUN_S = 60 };

/* Until the service has ended what a client leaves. */
enum { AT_REST_S = 3 };

static char path[64];
static struct clock wall;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "isolation_bench: %s: %s\n", what, why);
    exit(4);
}

static uint64_t now(void)
{
    return clock_now(&wall);
}

/* ---- the service --------------------------------------------------------- */

/* What happens to the clients of others is no news; a reset is. */
static void on_event(void *ctx, const struct dxgk_event *event)
{
    if (event->id == 4101 || event->id == 0x116 || getenv("AEROGPU_EVENTS"))
        fprintf(stderr, "isolation_bench: %s %u: %s\n", event->source, event->id, event->text);
}

static pid_t serve(void)
{
    return service_start(&(struct stack_params){.machine.kind = MACHINE_LIVE, .on_event = on_event}, path,
                         0666);
}

struct usage {
    unsigned long long bytes, heap; /* resident; in use, at rest */
    unsigned descriptors, threads;
};

static unsigned entries(pid_t pid, const char *what)
{
    char name[64];
    unsigned n = 0;
    DIR *d;

    snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, what);
    d = opendir(name);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static struct usage usage_of(pid_t pid)
{
    struct usage u = {.descriptors = entries(pid, "fd"), .threads = entries(pid, "task")};
    unsigned long long total, resident, shared;
    char name[64];
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%d/statm", (int)pid);
    f = fopen(name, "re");
    if (f && fscanf(f, "%llu %llu %llu", &total, &resident, &shared) == 3)
        u.bytes = (resident - shared) * 4096;
    if (f)
        fclose(f);
    return u;
}

/* ---- the attackers ------------------------------------------------------- */

struct app {
    D3DKMT_HANDLE adapter, device;
};

static bool app_open(struct app *a)
{
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    D3DKMT_CREATEDEVICE d = {0};

    if (!NT_SUCCESS(D3DKMTOpenAdapterFromHdc(&open)))
        return false;
    d.hAdapter = a->adapter = open.hAdapter;
    if (!NT_SUCCESS(D3DKMTCreateDevice(&d)))
        return false;
    a->device = d.hDevice;
    return true;
}

static void *cheap_calls(void *arg)
{
    const struct app *a = arg;

    for (;;) {
        D3DKMT_GETDEVICESTATE s = {.hDevice = a->device, .StateType = D3DKMT_DEVICESTATE_EXECUTION};
        if (!NT_SUCCESS(D3DKMTGetDeviceState(&s)))
            usleep(1000);
    }
    return NULL;
}

static void storm(struct rng *rng)
{
    struct app a;
    pthread_t t;

    if (app_open(&a))
        for (int i = 0; i < STORM_THREADS; i++)
            pthread_create(&t, NULL, cheap_calls, &a);
    pause();
}

static void come_and_go(struct rng *rng)
{
    struct app a;

    for (;;) {
        app_open(&a);
        d3dkmt_disconnect();
    }
}

static void garbage(struct rng *rng)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    uint8_t bytes[512];

    snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
    for (;;) {
        int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), two[2] = {0, 1};
        union {
            char bytes[CMSG_SPACE(sizeof(two))];
            struct cmsghdr align;
        } control = {0};
        struct iovec iov = {bytes, 1 + rng_below(rng, sizeof(bytes))};
        struct msghdr m = {
            .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);

        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)rng_next(rng);
        *c = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(two))};
        memcpy(CMSG_DATA(c), two, sizeof(two));
        if (s >= 0 && !connect(s, (const struct sockaddr *)&to, sizeof(to)))
            for (int i = 0; i < 4 && sendmsg(s, &m, MSG_NOSIGNAL | MSG_DONTWAIT) > 0; i++)
                continue;
        if (s >= 0)
            close(s);
    }
}

static void guess(struct rng *rng)
{
    struct app a = {0};

    for (app_open(&a);;) {
        D3DKMT_QUERYRESOURCEINFO q = {.hDevice = a.device, .hGlobalShare = (D3DKMT_HANDLE)rng_next(rng)};
        D3DKMT_GETDEVICESTATE s = {.hDevice = (D3DKMT_HANDLE)rng_next(rng),
                                   .StateType = D3DKMT_DEVICESTATE_EXECUTION};
        D3DKMTQueryResourceInfo(&q);
        D3DKMTGetDeviceState(&s);
    }
}

/* Has a user-mode device, and a new one whenever that is lost. */
static struct umd_device *device(struct umd_device *d)
{
    if (d && !umd_removed(d))
        return d;
    umd_close(d);
    while (!NT_SUCCESS(umd_open(&d, &(struct umd_params){0})))
        usleep(10000);
    return d;
}

static void hoard(struct rng *rng)
{
    struct umd_device *d = NULL;

    for (;;) {
        struct umd_resource *r;
        NTSTATUS s = STATUS_SUCCESS;
        d = device(d);
        for (int i = 0; i < 500 && NT_SUCCESS(s); i++)
            s = i % 8 ? umd_buffer(d, &r, 0, NULL, 1 << 20, true)
                      : umd_finish(d, 1000); /* quotas, not hangs */
        umd_close(d);
        d = NULL;
    }
}

static void malformed(struct rng *rng)
{
    struct umd_device *d = NULL;

    for (;;) {
        d = device(d);
        ABI_EMIT(umd_stream(d), DESTROY_SAMPLER, destroy_sampler, .sampler_handle = 99);
        ABI_EMIT(umd_stream(d), SET_RENDER_TARGETS, set_render_targets, .color_count = 1,
                 .colors = {(uint32_t)rng_below(rng, 1 << 20)});
        ABI_EMIT(umd_stream(d), DRAW, draw, .vertex_count = 3, .instance_count = 1);
        umd_finish(d, 1000);
    }
}

/* Draws without end, and is killed again and again by somebody else: the next. */
static void draw(struct rng *rng)
{
    struct umd_device *d = NULL;
    struct umd_resource *t = NULL;

    for (;;) {
        if (!d || umd_removed(d)) {
            d = device(d);
            if (!NT_SUCCESS(umd_texture(d, &t,
                                        &(struct umd_texture_params){256, 256, AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                                                     AEROGPU_RESOURCE_USAGE_RENDER_TARGET})))
                continue;
            umd_target(d, t);
        }
        umd_clear(d, 1, 0, 0, 1);
        umd_finish(d, 1000);
    }
}

static const struct attack {
    const char *name;
    void (*run)(struct rng *rng);
} attacks[] = {{"storm", storm}, {"come-and-go", come_and_go}, {"garbage", garbage}, {"guess", guess},
               {"hoard", hoard}, {"malformed", malformed},     {"draw", draw},       {"draw", draw}};
enum { ATTACKERS = sizeof(attacks) / sizeof(attacks[0]) };

static bool comes(const char *name)
{
    const char *only = getenv("AEROGPU_ATTACKERS"), *at = only ? strstr(only, name) : NULL;
    size_t n = strlen(name);

    return !only || (at && (at == only || at[-1] == ',') && (!at[n] || at[n] == ','));
}

/* Only wants a processor, and none of the service. */
static void spin(struct rng *rng)
{
    for (;;)
        rng_next(rng);
}

/* The stranger, and his processes in his session and process group: their number. They attack, or spin. */
static pid_t strangers(bool attack)
{
    pid_t stranger = fork();

    if (stranger)
        return stranger;
    if (setsid() < 0 || !freopen("/dev/null", "w", stderr) ||
        (!geteuid() && (setgid(STRANGER) || setuid(STRANGER))) ||
        prctl(PR_SET_PDEATHSIG, SIGKILL)) /* after the change of user, which takes it back */
        _exit(1);
    for (unsigned i = 0; i < ATTACKERS; i++)
        if (comes(attacks[i].name) && !fork()) {
            struct rng rng = {i + 1};
            if (!prctl(PR_SET_PDEATHSIG, SIGKILL))
                (attack ? attacks[i].run : spin)(&rng);
            _exit(1);
        }
    while (wait(NULL) > 0 || errno == EINTR)
        continue;
    pause();
    _exit(0);
}

static void end_strangers(pid_t stranger)
{
    kill(-stranger, SIGKILL);
    waitpid(stranger, NULL, 0);
}

/* What is ended takes a while: processes of clients, threads of connections. */
static struct usage usage_at_rest(pid_t service, const struct usage *before)
{
    uint64_t end = now() + 30 * NSEC_PER_SEC;
    struct usage u;

    do {
        usleep(100000);
        u = usage_of(service);
    } while (u.descriptors + u.threads > before->descriptors + before->threads + RESERVE && now() < end);
    sleep(AT_REST_S);
    return usage_of(service);
}

/* Executors of everybody but the first client crash, one every half second. */
static void crash_one(pid_t service, pid_t spared)
{
    char name[64], text[512] = "";
    pid_t pid;
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%d/task/%d/children", (int)service, (int)service);
    for (DIR *d = opendir("/proc"); d; closedir(d), d = NULL)
        for (const struct dirent *e; (e = readdir(d));) {
            int parent = 0;
            pid = atoi(e->d_name);
            snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
            f = pid > 0 ? fopen(name, "re") : NULL;
            if (f && fscanf(f, "%*d (%511[^)]) %*c %d", text, &parent) == 2 && parent == service &&
                pid != spared && !strncmp(text, "aerogpu-exec", 12)) {
                fclose(f);
                kill(pid, SIGSEGV);
                closedir(d);
                return;
            }
            if (f)
                fclose(f);
        }
}

static pid_t first_executor(pid_t service)
{
    char name[64], text[64];

    for (pid_t pid = service + 1; pid < service + 100; pid++) {
        int parent = 0;
        FILE *f;
        snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
        f = fopen(name, "re");
        if (f && fscanf(f, "%*d (%63[^)]) %*c %d", text, &parent) == 2 && parent == service) {
            fclose(f);
            return pid;
        }
        if (f)
            fclose(f);
    }
    die("service", "it has no executor");
    return 0;
}

/* ---- the client ---------------------------------------------------------- */

struct outcome {
    double *waits; /* ns */
    size_t n, max;
    unsigned lost, skipped, wrong, removed;
};

struct painter {
    struct umd_device *d;
    struct umd_resource *t;
};

static bool painter_open(struct painter *p)
{
    p->d = device(p->d);
    if (!NT_SUCCESS(umd_texture(p->d, &p->t,
                                &(struct umd_texture_params){SIZE, SIZE, AEROGPU_FORMAT_B8G8R8A8_UNORM,
                                                             AEROGPU_RESOURCE_USAGE_RENDER_TARGET})))
        return false;
    umd_target(p->d, p->t);
    return true;
}

static bool frame(struct painter *p, unsigned i, struct outcome *o)
{
    static const uint32_t colours[] = {0xFFFF0000, 0xFF00FF00, 0xFF0000FF};
    uint32_t want = colours[i % 3], *pixels;

    umd_clear(p->d, (float)(want >> 16 & 1), (float)(want >> 8 & 1), (float)(want & 1), 1);
    if (umd_read(p->t, &pixels, 2000) != STATUS_SUCCESS)
        return false;
    for (unsigned k = 0; k < SIZE * SIZE; k++)
        if (pixels[k] != want) {
            o->wrong++;
            break;
        }
    free(pixels);
    return true;
}

static void frames(struct painter *p, uint64_t end, struct outcome *o, pid_t service, pid_t spared)
{
    uint64_t crash = now();

    for (unsigned i = 0; now() < end && o->n < o->max; i++) {
        D3DKMT_WAITFORVERTICALBLANKEVENT v = {.hAdapter = umd_adapter(p->d), .hDevice = umd_kmt_device(p->d)};
        uint64_t before = now();
        bool shown = NT_SUCCESS(D3DKMTWaitForVerticalBlankEvent(&v));
        uint64_t start = now(),
                 periods = (start - before + PERIOD / 2) / PERIOD; /* 0 or 1 if it came in time */

        o->skipped += periods > 1 ? (unsigned)periods - 1 : 0;
        shown = shown && frame(p, i, o);
        o->waits[o->n++] = (double)(now() - start);
        o->lost += !shown || now() - start > 2 * PERIOD;
        if (umd_removed(p->d) || !shown) {
            o->removed += umd_removed(p->d);
            painter_open(p);
        }
        if (spared && now() - crash > NSEC_PER_SEC / 2) {
            crash_one(service, spared);
            crash = now();
        }
    }
}

static struct outcome outcome_of(unsigned seconds)
{
    struct outcome o = {.max = 100 * (size_t)seconds + 1000};

    o.waits = malloc(o.max * sizeof(*o.waits));
    if (!o.waits)
        die("the client", "no memory");
    return o;
}

/* Another client draws a frame and goes. */
static void visit(void)
{
    struct outcome o = {0};
    struct painter p = {0};
    pid_t pid = fork();
    int status = -1;

    if (!pid)
        _exit(painter_open(&p) && frame(&p, 0, &o) && !o.wrong ? 0 : 1);
    waitpid(pid, &status, 0);
    if (status)
        die("a client", "it drew nothing");
}

/* One round beside strangers, once they are up. `end`: of the service, with all of them there. */
static void beside(bool attack, struct painter *p, double seconds, struct outcome *o, pid_t service,
                   pid_t spared, struct usage *end)
{
    struct outcome begin = outcome_of(2 * WARM_UP_S);
    pid_t stranger = strangers(attack);

    frames(p, now() + 2 * WARM_UP_S * NSEC_PER_SEC, &begin, service, attack ? spared : 0);
    frames(p, now() + (uint64_t)(seconds * NSEC_PER_SEC), o, service, attack ? spared : 0);
    o->wrong += begin.wrong;
    *end = usage_of(service);
    end_strangers(stranger);
    free(begin.waits);
}

static double lost_of_1000(const struct outcome *o)
{
    return 1 + 1000.0 * (o->lost + o->skipped) / (double)(o->n + o->skipped ? o->n + o->skipped : 1);
}

static void report(struct bench *b, struct outcome *o, struct outcome *alone)
{
    const double period = 1000.0 / 60;
    double wait = bench_quantile(o->waits, o->n, 0.999) / 1e6,
           machine = bench_quantile(alone->waits, alone->n, 0.999) / 1e6;

    fprintf(
        stderr,
        "isolation: %zu frames, p99.9 %.1f ms, %u lost, %u periods skipped, %u wrong, device removed %u times; "
        "beside who spins: %zu, %.1f ms, %u lost, %u skipped\n",
        o->n, wait, o->lost, o->skipped, o->wrong, o->removed, alone->n, machine, alone->lost,
        alone->skipped);
    bench_report(b,
                 &(struct bench_figure){.id = "isolation_wait",
                                        .ours = wait,
                                        .reference = machine > period ? machine : period,
                                        .unit = "ms",
                                        .target = 1.2,
                                        .note = machine > period ? "beside as many processes that only spin"
                                                                 : "a period of 60 Hz"});
    bench_report(b, &(struct bench_figure){.id = "isolation_lost",
                                           .ours = lost_of_1000(o),
                                           .reference = lost_of_1000(alone),
                                           .unit = "frames + 1",
                                           .target = 1,
                                           .note = "of 1 000, beside as many processes that only spin"});
    bench_report(b, &(struct bench_figure){.id = "isolation_pixels",
                                           .ours = 1 + o->wrong,
                                           .reference = 1,
                                           .unit = "frames + 1",
                                           .target = 1,
                                           .note = "none"});
}

int main(int argc, char **argv)
{
    const char *soak = getenv("AEROGPU_SOAK");
    unsigned seconds = soak ? (unsigned)atoi(soak) : 10;
    struct outcome o = outcome_of(seconds), alone = outcome_of(seconds);
    struct usage before, round[2], after;
    struct painter p = {0};
    pid_t service, spared;
    struct bench b;

    bench_init(&b, argc, argv);
    if (seconds < 2)
        die("AEROGPU_SOAK", "2 seconds or more");
    snprintf(path, sizeof(path), "/tmp/aerogpu-isolation-%d.sock", (int)getpid());
    setenv("AEROGPU_SOCKET", path, 1);
    clock_init_live(&wall);
    service = serve();
    spared = comes("crash") ? first_executor(service) : 0;
    if (!painter_open(&p))
        die("the client", "it has no device");
    visit();
    sleep(AT_REST_S);
    before = usage_of(service);
    for (int i = 0; i < 2; i++) {
        beside(false, &p, seconds / 4.0 < SPUN_S ? seconds / 4.0 : SPUN_S, &alone, service, 0, &round[i]);
        beside(true, &p, seconds / 2.0, &o, service, spared, &round[i]);
        after = usage_at_rest(service, &before);
        round[i].heap = service_heap(service);
    }
    umd_close(p.d);
    d3dkmt_disconnect();
    kill(service, SIGTERM);
    waitpid(service, NULL, 0);
    fprintf(
        stderr,
        "isolation: service %llu to %llu KiB, heap in use %llu to %llu KiB; %u, %u, %u, then %u descriptors; %u, %u, %u, then %u threads\n",
        round[0].bytes >> 10, round[1].bytes >> 10, round[0].heap >> 10, round[1].heap >> 10,
        before.descriptors, round[0].descriptors, round[1].descriptors, after.descriptors, before.threads,
        round[0].threads, round[1].threads, after.threads);
    report(&b, &o, &alone);
    bench_report(&b, &(struct bench_figure){.id = "isolation_growth",
                                            .ours = (double)round[1].heap / 1048576,
                                            .reference = (double)round[0].heap / 1048576,
                                            .unit = "MiB",
                                            .target = 1.1,
                                            .note = "its heap in use after half of the time"});
    bench_report(&b, &(struct bench_figure){.id = "isolation_left",
                                            .ours = after.descriptors + after.threads,
                                            .reference = before.descriptors + before.threads + RESERVE,
                                            .unit = "descriptors and threads",
                                            .target = 1,
                                            .note = "before the attackers came, and one executor"});
    free(o.waits);
    free(alone.waits);
    return bench_finish(&b);
}
