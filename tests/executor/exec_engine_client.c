/* SPDX-License-Identifier: MIT */
/* The engine's interface, served by the executor's process: what tests ask of an engine they can ask of the
 * sandboxed one.
 *
 * Guest memory here is whatever dma_map(0, RIG_RAM) of the caller is; the process works on a copy, made
 * before and carried back after each submission, one at a time. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine_rig.h"
#include "executor/host/host.h"

struct exec_engine {
    struct exec_engine_params params;
    struct exec_host *host;
    int fd;
    unsigned char *copy, *ram;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t idle;
    bool busy;
    _Atomic bool quit;
    char name[256];
    bool is_cpu;
};

static void on_complete(void *ctx, const struct abi_completion *c)
{
    struct exec_engine *g = ctx;

    memcpy(g->ram, g->copy, RIG_RAM);
    g->params.complete(g->params.ctx, c);
    pthread_mutex_lock(&g->lock);
    g->busy = false;
    pthread_cond_signal(&g->idle);
    pthread_mutex_unlock(&g->lock);
}

static void *dispatcher(void *arg)
{
    struct exec_engine *g = arg;

    while (!atomic_load(&g->quit)) {
        exec_host_wait(g->host, 20);
        exec_host_dispatch(g->host);
    }
    return NULL;
}

int exec_engine_create(struct exec_engine **out, const struct exec_engine_params *p, struct error *e)
{
    struct exec_engine *g = calloc(1, sizeof(*g));
    struct exec_host_params hp = {.device = p->device, .complete = on_complete, .ctx = g};
    int r;

    if (!g)
        return -ENOMEM;
    g->params = *p;
    g->fd = memfd_create("ram", MFD_CLOEXEC);
    g->ram = p->dma_map(p->ctx, 0, RIG_RAM);
    if (g->fd < 0 || ftruncate(g->fd, RIG_RAM) || !g->ram)
        abort();
    g->copy = mmap(NULL, RIG_RAM, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, 0);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->idle, NULL);
    r = exec_host_create(&g->host, &hp, e);
    if (!r)
        r = exec_host_map(g->host, 0, RIG_RAM, g->fd, 0, e);
    if (!r)
        r = exec_host_wait_ready(g->host, 60000, e);
    if (!r) {
        exec_host_device_name(g->host, g->name, &g->is_cpu);
        r = -pthread_create(&g->thread, NULL, dispatcher, g);
    }
    if (r) {
        exec_host_destroy(g->host);
        free(g);
        return r;
    }
    *out = g;
    return 0;
}

static void wait_idle(struct exec_engine *g)
{
    pthread_mutex_lock(&g->lock);
    while (g->busy)
        pthread_cond_wait(&g->idle, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

void exec_engine_submit(struct exec_engine *g, const struct abi_submission *s)
{
    wait_idle(g);
    memcpy(g->copy, g->ram, RIG_RAM);
    g->busy = true;
    if (exec_host_submit(g->host, s))
        abort();
}

void exec_engine_reset(struct exec_engine *g)
{
    wait_idle(g);
    exec_host_reset(g->host);
}

void exec_engine_destroy(struct exec_engine *g)
{
    if (!g)
        return;
    wait_idle(g);
    atomic_store(&g->quit, true);
    pthread_join(g->thread, NULL);
    exec_host_destroy(g->host);
    munmap(g->copy, RIG_RAM);
    close(g->fd);
    free(g);
}

const char *exec_engine_device_name(const struct exec_engine *g, bool *is_cpu)
{
    *is_cpu = g->is_cpu;
    return g->name;
}

uint64_t exec_engine_address_meant(uint64_t address)
{
    return address;
}
