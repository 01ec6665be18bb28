/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aerogpu/ext.h"
#include "aerogpu/ring.h"
#include "base/array.h"
#include "base/check.h"
#include "base/log.h"
#include "machine/priv.h"

enum {
    PAGE = 4096,
    FENCE_PAGE = sizeof(struct aerogpu_fence_page),
    LONG_FENCE_PAGE = AEROGPU_EXT_FENCE_PAGE_BYTES
};

static int open_ram(struct machine *m, struct error *e)
{
    void *p;

    if (!m->ram_size)
        m->ram_size = 256u << 20;
    if (m->ram_size % PAGE || m->ram_size > BAR1_ADDRESS)
        return error_set(e, -EINVAL, "guest memory of %llu bytes: not whole pages, or it reaches the BARs",
                         (unsigned long long)m->ram_size);
    m->ram_fd = memfd_create("aerogpu-ram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (m->ram_fd < 0 || ftruncate(m->ram_fd, (off_t)m->ram_size) ||
        fcntl(m->ram_fd, F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) /* the executor has it, too */
        return error_set(e, -errno, "guest memory: %s", strerror(errno));
    p = mmap(NULL, BAR1_ADDRESS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED && mmap(p, m->ram_size, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_NORESERVE | MAP_FIXED, m->ram_fd, 0) == MAP_FAILED) {
        munmap(p, BAR1_ADDRESS);
        p = MAP_FAILED;
    }
    if (p == MAP_FAILED)
        return error_set(e, -errno, "guest memory: %s", strerror(errno));
    m->ram = p;
    return 0;
}

int machine_create(struct machine **out, const struct machine_params *p, struct error *e)
{
    struct machine *m = calloc(1, sizeof(*m));
    int r;

    *out = NULL;
    if (!m)
        return error_set(e, -ENOMEM, "no memory for a machine");
    m->ops = p->kind == MACHINE_SIM ? &machine_sim_ops : &machine_live_ops;
    m->params = *p;
    m->ram_size = p->ram_size;
    m->ram_fd = -1;
    pthread_mutex_init(&m->map_lock, NULL);
    r = open_ram(m, e);
    if (!r)
        r = m->ops->start(m, e);
    if (r)
        goto fail;
    r = gpu_create(
        &m->gpu,
        &(struct gpu_params){
            .host = m->ops->host,
            .host_ctx = m,
            .backend = m->ops->backend,
            .backend_ctx = m,
            .clock = &m->clock,
            .vblank_period_ns = p->vblank_period_ns,
            .without_features =
                p->without_features | (p->addresses ? 0 : AEROGPU_EXT_FEATURE(EXT_ADDRESSES)) |
                (p->one_executor ? AEROGPU_EXT_FEATURE(EXT_CLIENTS) | AEROGPU_EXT_FEATURE(EXT_ENGINES) : 0)});
    if (r) {
        error_set(e, r, "device: %s", strerror(-r));
        goto fail;
    }
    gpu_config_write(m->gpu, 0x10, 4, BAR0_ADDRESS);
    gpu_config_write(m->gpu, 0x14, 4, BAR1_ADDRESS);
    r = m->ops->run(m, e);
    if (r)
        goto fail;
    *out = m;
    return 0;
fail:
    machine_destroy(m);
    return r;
}

void machine_destroy(struct machine *m)
{
    if (!m)
        return;
    if (m->kind)
        m->ops->stop(m);
    gpu_destroy(m->gpu);
    if (m->kind)
        m->ops->free(m);
    if (m->ram)
        munmap(m->ram, BAR1_ADDRESS);
    if (m->ram_fd >= 0)
        close(m->ram_fd);
    pthread_mutex_destroy(&m->map_lock);
    free(m->regions);
    free(m);
}

void *machine_dma_map(void *machine, uint64_t gpa, uint64_t size)
{
    struct machine *m = machine;
    static uint8_t nowhere[LONG_FENCE_PAGE];
    bool found = gpa < m->ram_size && size <= m->ram_size - gpa;

    if (atomic_load_explicit(&m->stale_fences, memory_order_relaxed) &&
        (size == FENCE_PAGE || size == LONG_FENCE_PAGE) && gpa == atomic_load(&m->fence_page)) {
        atomic_fetch_sub(&m->stale_fences, 1);
        return nowhere;
    }
    if (!found && gpa >= m->ram_size) {
        pthread_mutex_lock(&m->map_lock);
        for (size_t i = 0; i < m->num_regions && !found; i++) {
            const struct machine_region *r = &m->regions[i];
            found = gpa >= r->gpa && gpa - r->gpa < r->size && size <= r->size - (gpa - r->gpa);
        }
        pthread_mutex_unlock(&m->map_lock);
    }
    return found ? m->ram + gpa : NULL;
}

/* With map_lock. */
static void map_check(const struct machine *m)
{
    INVARIANT(m->ram && m->ram_size && !(m->ram_size % PAGE) && m->ram_size <= BAR1_ADDRESS);
    INVARIANT(m->num_regions <= m->max_regions);
    for (size_t i = 0; i < m->num_regions; i++) {
        const struct machine_region *r = &m->regions[i];
        INVARIANT(r->size && !(r->gpa % PAGE) && !(r->size % PAGE));
        INVARIANT(r->gpa >= m->ram_size && r->gpa <= BAR1_ADDRESS && r->size <= BAR1_ADDRESS - r->gpa);
    }
}

int machine_map(struct machine *m, uint64_t gpa, uint64_t size, int fd, struct error *e)
{
    int r = 0;

    if (!size || gpa % PAGE || size % PAGE || gpa < m->ram_size || gpa > BAR1_ADDRESS ||
        size > BAR1_ADDRESS - gpa)
        return error_set(e, -EINVAL, "guest memory at 0x%llx, 0x%llx bytes: not whole pages behind RAM",
                         (unsigned long long)gpa, (unsigned long long)size);
    pthread_mutex_lock(&m->map_lock);
    map_check(m);
    for (size_t i = 0; i < m->num_regions && !r; i++)
        if (gpa < m->regions[i].gpa + m->regions[i].size && m->regions[i].gpa < gpa + size)
            r = error_set(e, -EEXIST, "guest memory at 0x%llx is there already", (unsigned long long)gpa);
    if (!r && array_reserve(m->regions, m->max_regions, m->num_regions + 1))
        r = error_set(e, -ENOMEM, "no memory for a map");
    if (!r && m->ops->map)
        r = m->ops->map(m, gpa, size, fd, e);
    if (!r && mmap(m->ram + gpa, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        r = error_set(e, -errno, "guest memory at 0x%llx: %s", (unsigned long long)gpa, strerror(errno));
        if (m->ops->unmap)
            m->ops->unmap(m, gpa, size);
    }
    if (!r)
        m->regions[m->num_regions++] = (struct machine_region){gpa, size};
    pthread_mutex_unlock(&m->map_lock);
    return r;
}

void machine_unmap(struct machine *m, uint64_t gpa, uint64_t size)
{
    pthread_mutex_lock(&m->map_lock);
    map_check(m);
    for (size_t i = 0; i < m->num_regions; i++)
        if (m->regions[i].gpa == gpa && m->regions[i].size == size) {
            m->regions[i] = m->regions[--m->num_regions];
            if (m->ops->unmap)
                m->ops->unmap(m, gpa, size);
            /* The device may be about to read there: zeroes, not a fault. */
            if (mmap(m->ram + gpa, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
                log_warn("machine", "guest memory at 0x%llx stays mapped: %s", (unsigned long long)gpa,
                         strerror(errno)); /* nobody is led there, and what comes next replaces it */
            break;
        }
    pthread_mutex_unlock(&m->map_lock);
}

uint64_t machine_memory_end(const struct machine *m)
{
    return BAR1_ADDRESS;
}

void machine_stale_fences(struct machine *m, uint32_t count)
{
    atomic_store(&m->fence_page, gpu_bar_read(m->gpu, 0, AEROGPU_REG_FENCE_GPA_LO, 8));
    atomic_store(&m->stale_fences, count);
}

uint32_t machine_stale_fences_left(struct machine *m)
{
    return atomic_load(&m->stale_fences);
}

int machine_kill_executor(struct machine *m)
{
    return m->ops->kill_executor(m);
}

int machine_stop_executor(struct machine *m, uint64_t ns)
{
    return m->ops->stop_executor(m, ns);
}

bool machine_end_work(struct machine *m, uint32_t client, bool hangs)
{
    return m->ops->end_work(m, client, hangs);
}

bool machine_is_ending(struct machine *m, uint32_t client)
{
    return m->ops->is_ending && m->ops->is_ending(m, client);
}

void machine_client_gone(struct machine *m, uint32_t client)
{
    if (m->ops->client_gone)
        m->ops->client_gone(m, client);
}

uint64_t machine_client_bytes(struct machine *m, uint32_t client)
{
    return m->ops->client_bytes ? m->ops->client_bytes(m, client) : 0;
}

int machine_wait_ready(struct machine *m, int timeout_ms, struct error *e)
{
    return m->ops->wait_ready(m, timeout_ms, e);
}

int machine_prepare(struct machine *m, uint32_t client, int timeout_ms, struct error *e)
{
    return m->ops->prepare && !m->params.one_executor ? m->ops->prepare(m, client, timeout_ms, e) : 0;
}

void machine_set_irq(struct machine *m, void (*irq)(void *ctx), void *ctx)
{
    m->ops->set_irq(m, irq, ctx);
}

struct gpu *machine_gpu(struct machine *m)
{
    return m->gpu;
}

const struct clock *machine_clock(const struct machine *m)
{
    return &m->clock;
}

uint64_t machine_now(const struct machine *m)
{
    return clock_now(&m->clock);
}

struct loop *machine_loop(struct machine *m)
{
    return m->ops->loop ? m->ops->loop(m) : NULL;
}

uint8_t *machine_ram(struct machine *m)
{
    return m->ram;
}

uint64_t machine_ram_size(const struct machine *m)
{
    return m->ram_size;
}

uint32_t machine_read(struct machine *m, uint32_t reg)
{
    return (uint32_t)gpu_bar_read(m->gpu, 0, reg, 4);
}

uint64_t machine_read64(struct machine *m, uint32_t reg)
{
    return gpu_bar_read(m->gpu, 0, reg, 8);
}

void machine_write(struct machine *m, uint32_t reg, uint32_t value)
{
    if (!m->ops->drop_write || !m->ops->drop_write(m, reg))
        gpu_bar_write(m->gpu, 0, reg, 4, value);
}

void machine_write64(struct machine *m, uint32_t reg, uint64_t value)
{
    gpu_bar_write(m->gpu, 0, reg, 8, value);
}

uint32_t machine_config_read(struct machine *m, uint32_t offset, uint32_t size)
{
    return gpu_config_read(m->gpu, offset, size);
}

void machine_config_write(struct machine *m, uint32_t offset, uint32_t size, uint32_t value)
{
    gpu_config_write(m->gpu, offset, size, value);
}

int machine_wait(struct machine *m, bool (*done)(void *ctx), void *ctx, uint64_t timeout_ns)
{
    return m->ops->wait(m, done, ctx, timeout_ns);
}

bool machine_poll_begin(struct machine *m)
{
    return m->ops->poll_begin && m->ops->poll_begin(m);
}

void machine_poll_end(struct machine *m)
{
    m->ops->poll_end(m);
}

void machine_sleep(struct machine *m, uint64_t ns)
{
    m->ops->sleep(m, ns);
}

void machine_get_stats(struct machine *m, struct machine_stats *out)
{
    m->ops->get_stats(m, out);
}

void machine_device_name(struct machine *m, char name[256], bool *is_cpu)
{
    name[0] = '\0';
    *is_cpu = true;
    if (m->ops->device_name)
        m->ops->device_name(m, name, is_cpu);
}

unsigned machine_descriptors(const struct machine *m, int *fds, unsigned max)
{
    unsigned n = 0;

    if (n < max)
        fds[n++] = m->ram_fd;
    if (n < max)
        fds[n++] = gpu_vram_fd(m->gpu);
    return m->ops->descriptors ? n + m->ops->descriptors(m, fds + n, max - n) : n;
}

int machine_executor_pid(struct machine *m)
{
    return m->ops->executor_pid ? m->ops->executor_pid(m) : 0;
}

int machine_client_pid(struct machine *m, uint32_t client)
{
    return m->ops->client_pid ? m->ops->client_pid(m, client) : 0;
}

bool machine_progress(struct machine *m, struct exec_progress *out)
{
    return m->ops->progress && m->ops->progress(m, out);
}

bool machine_last_death(struct machine *m, struct exec_death *out, struct exec_progress *progress)
{
    return m->ops->last_death && m->ops->last_death(m, out, progress);
}
