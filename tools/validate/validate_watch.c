/* SPDX-License-Identifier: MIT */
#include "validate_watch.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "aerogpu/escape.h"
#include "dxgkrnl/kernel.h"

/* ---- the sampler --------------------------------------------------------- */

enum { INTERVAL_MS = 10, MAX_SAMPLES = 3000 };

struct sampler {
    struct validate_host *h;
    struct dxgk_client *client;
    D3DKMT_HANDLE adapter;
    pthread_t thread;
    uint64_t start_ns, slowest_ns;
    json_t *samples;
    _Atomic bool stop, done;
};

static uint64_t now(struct sampler *w)
{
    return clock_now(stack_clock(w->h->stack));
}

static bool ask(struct sampler *w, uint32_t op, void *block, uint32_t size)
{
    struct aerogpu_escape_header *header = block;
    uint64_t start = now(w), took;
    NTSTATUS s;

    *header = (struct aerogpu_escape_header){.version = AEROGPU_ESCAPE_VERSION, .op = op, .size = size};
    s = dxgk_Escape(
        w->client,
        &(D3DKMT_ESCAPE){.hAdapter = w->adapter, .pPrivateDriverData = block, .PrivateDriverDataSize = size});
    took = now(w) - start;
    w->slowest_ns = took > w->slowest_ns ? took : w->slowest_ns;
    return s == STATUS_SUCCESS;
}

static void take_sample(struct sampler *w)
{
    struct aerogpu_escape_query_perf p = {0};
    struct aerogpu_escape_query_vblank v = {0};
    double ms = (double)(now(w) - w->start_ns) / 1e6;

    if (json_array_size(w->samples) >= MAX_SAMPLES || !ask(w, AEROGPU_ESCAPE_OP_QUERY_PERF, &p, sizeof(p)) ||
        !ask(w, AEROGPU_ESCAPE_OP_QUERY_VBLANK, &v, sizeof(v)))
        return;
    json_array_append_new(w->samples, json_pack("[f, I, I, I, I]", ms, (json_int_t)p.last_submitted_fence,
                                                (json_int_t)p.last_completed_fence, (json_int_t)v.vblank_seq,
                                                (json_int_t)p.reset_from_timeout_count));
}

static void *live_main(void *arg)
{
    struct sampler *w = arg;
    struct timespec pause = {0, INTERVAL_MS * 1000000L};

    while (!atomic_load(&w->stop)) {
        take_sample(w);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* A coroutine of the sim's kernel. */
static void sim_main(void *arg)
{
    struct sampler *w = arg;
    struct kernel *k = dxgk_kernel(stack_dxgk(w->h->stack));

    while (!atomic_load(&w->stop)) {
        struct kwaiters nobody = {0};
        take_sample(w);
        dxgk_kernel_wait(k, &nobody, now(w) + INTERVAL_MS * NSEC_PER_MSEC);
    }
    atomic_store(&w->done, true);
}

struct sampler *sampler_start(struct validate_host *h)
{
    struct sampler *w = calloc(1, sizeof(*w));
    D3DKMT_OPENADAPTERFROMHDC open = {0};
    int r;

    if (!w)
        return NULL;
    w->h = h;
    w->samples = json_array();
    w->start_ns = now(w);
    if (dxgk_client_open(stack_dxgk(h->stack), &w->client, (uint64_t)getpid(), true))
        goto fail;
    if (!NT_SUCCESS(dxgk_OpenAdapterFromHdc(w->client, &open)))
        goto fail;
    w->adapter = open.hAdapter;
    r = h->sim ? dxgk_kernel_spawn(dxgk_kernel(stack_dxgk(h->stack)), "sampler", sim_main, w)
               : pthread_create(&w->thread, NULL, live_main, w);
    if (!r)
        return w;
fail:
    if (w->client)
        dxgk_client_close(w->client);
    json_decref(w->samples);
    free(w);
    return NULL;
}

static bool is_done(void *ctx)
{
    return atomic_load(&((struct sampler *)ctx)->done);
}

json_t *sampler_stop(struct sampler *w)
{
    json_t *out;

    if (!w)
        return json_null();
    atomic_store(&w->stop, true);
    if (w->h->sim)
        machine_wait(stack_machine(w->h->stack), is_done, w, NSEC_PER_SEC);
    else
        pthread_join(w->thread, NULL);
    take_sample(w); /* how it ended */
    dxgk_client_close(w->client);
    out = json_pack("{s:f, s:i, s:f, s:o}", "start_ms", (double)(w->start_ns - w->h->start_ns) / 1e6,
                    "interval_ms", (int)INTERVAL_MS, "slowest_ms", (double)w->slowest_ns / 1e6, "samples",
                    w->samples);
    free(w);
    return out;
}

/* ---- the leak monitor ---------------------------------------------------- */

static uint64_t resident(int pid)
{
    unsigned long long pages = 0;
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/statm", pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    if (fscanf(f, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static unsigned entries(const char *path)
{
    DIR *dir = opendir(path);
    unsigned n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* Children of any thread of ours, the dead that nobody has waited for among them. */
static unsigned children(void)
{
    DIR *dir = opendir("/proc/self/task");
    unsigned n = 0;
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        char path[300];
        FILE *f;
        int pid;
        snprintf(path, sizeof(path), "/proc/self/task/%s/children", e->d_name);
        f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
        while (f && fscanf(f, "%d", &pid) == 1)
            n++;
        if (f)
            fclose(f);
    }
    if (dir)
        closedir(dir);
    return n;
}

void leak_monitor_sample(struct validate_host *h, struct leak_level *out)
{
    struct d3dkmt_server_stats stats = {0};

    for (int i = 0; h->server && i < 100; i++) { /* the last client may just be going */
        d3dkmt_serve_stats(h->server, &stats);
        if (!stats.open_clients)
            break;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    *out = (struct leak_level){
        .minute = (double)(clock_now(stack_clock(h->stack)) - h->start_ns) / 60e9,
        .memory = resident((int)getpid()),
        .executor_memory = resident(machine_executor_pid(stack_machine(h->stack))),
        .guest_memory = stack_memory_used(h->stack),
        .descriptors = entries("/proc/self/fd"),
        .processes = children(),
        .clients = stats.open_clients,
    };
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

bool leak_verdict(const struct leak_level *levels, unsigned n, char *text, size_t size)
{
    const struct leak_level *first, *last = &levels[n - 1];
    uint64_t slack = 8u << 20;

    if (n < 2) {
        snprintf(text, size, "too short to say");
        return false;
    }
    first = &levels[n > 3 ? n / 3 : 0]; /* caches and pools have their size by then */
    snprintf(
        text, size,
        "memory %.1f to %.1f MiB, executor %.1f to %.1f MiB, guest memory %.1f to %.1f MiB, descriptors %u to %u, processes %u to %u, clients left %u",
        (double)first->memory / 0x1p20, (double)last->memory / 0x1p20,
        (double)first->executor_memory / 0x1p20, (double)last->executor_memory / 0x1p20,
        (double)first->guest_memory / 0x1p20, (double)last->guest_memory / 0x1p20, first->descriptors,
        last->descriptors, first->processes, last->processes, last->clients);
    return last->memory > first->memory + most(slack, first->memory / 20) ||
           last->executor_memory > first->executor_memory + most(4 * slack, first->executor_memory / 10) ||
           last->guest_memory > first->guest_memory || last->descriptors > first->descriptors ||
           last->processes > first->processes || last->clients;
}
