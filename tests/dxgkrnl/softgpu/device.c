/* SPDX-License-Identifier: MIT */
#include "device.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { VBLANK_NS = 16666667 };

static void *ram(struct softgpu *g, uint64_t pa, size_t size)
{
    for (int i = 0; i < SOFTGPU_BLOCKS; i++) {
        struct softgpu_block *b = &g->blocks[i];
        if (b->va && pa >= b->pa && pa - b->pa < b->size && size <= b->size - (pa - b->pa))
            return (uint8_t *)b->va + (pa - b->pa);
    }
    return NULL;
}

/* A word of the aperture. */
static uint32_t *word(struct softgpu *g, uint64_t address)
{
    uint64_t page = address >> 12;

    if (page >= SOFTGPU_PAGES || !g->gart[page])
        return NULL;
    return ram(g, (uint64_t)g->gart[page] << 12 | (address & 0xFFC), 4);
}

static void raise_irq(struct softgpu *g, uint32_t bit)
{
    g->irq_status |= bit;
    if (g->irq_status & g->irq_enable)
        g->raise = true; /* without the lock: the interrupt routine may run inside */
}

static void finish_job(struct softgpu *g)
{
    g->completed = g->queue[g->head].fence;
    g->head = (g->head + 1) % SOFTGPU_QUEUE;
    g->count--;
    if (g->lose_interrupts)
        g->lose_interrupts--;
    else
        raise_irq(g, IRQ_DONE);
}

static bool fetch(struct softgpu *g, const struct softgpu_job *job, struct softgpu_cmd *c)
{
    const uint64_t address = job->address + job->at;

    for (uint32_t i = 0; i < sizeof(*c); i += 4) {
        const uint32_t *w = job->aperture ? word(g, address + i) : ram(g, address + i, 4);
        if (!w)
            return false;
        memcpy((uint8_t *)c + i, w, 4);
    }
    return true;
}

/* One command; false when it takes time, or for ever. */
static bool run(struct softgpu *g, struct softgpu_job *job, uint64_t now)
{
    struct softgpu_cmd c;
    uint32_t *w;

    if (!fetch(g, job, &c))
        goto fault;
    g->from_aperture += job->aperture;
    job->at += sizeof(c);
    g->executed++;
    switch (c.op) {
    case OP_NOP:
        return true;
    case OP_FILL:
        for (uint32_t i = 0; i < c.count; i++) {
            w = word(g, c.address + 4 * i);
            if (!w)
                goto fault;
            *w = c.value;
        }
        return true;
    case OP_DELAY:
        g->busy_until = now + c.value * NSEC_PER_MSEC;
        return false;
    case OP_HANG:
        g->hung = true;
        return false;
    case OP_MAP:
        for (uint32_t i = 0; i < c.count && (c.address >> 12) + i < SOFTGPU_PAGES; i++)
            g->gart[(c.address >> 12) + i] = c.value ? c.value + i : 0;
        return true;
    default:
        goto fault;
    }
fault:
    g->faulted = job->fence;
    job->at = job->size;
    raise_irq(g, IRQ_FAULT);
    return true;
}

/* Does what is due; returns when to come back. */
static uint64_t step(struct softgpu *g)
{
    uint64_t now = clock_now(g->clock), next = LOOP_FOREVER;

    while (g->scan_enable && now >= g->next_vblank) {
        g->next_vblank += VBLANK_NS;
        g->scan_now = g->scan;
        raise_irq(g, IRQ_VBLANK);
    }
    while (g->count && !g->hung && now >= g->busy_until) {
        struct softgpu_job *job = &g->queue[g->head];
        bool more = true;
        while (more && job->at < job->size)
            more = run(g, job, now);
        if (!more)
            break;
        finish_job(g);
    }
    if (g->count && !g->hung)
        next = g->busy_until > now ? g->busy_until : now;
    if (g->scan_enable && g->next_vblank < next)
        next = g->next_vblank;
    return next;
}

static void on_timer(void *ctx)
{
    struct softgpu *g = ctx;
    uint64_t next = step(g);

    if (g->raise)
        dxgk_interrupt(g->dxgk, 0);
    g->raise = false;
    if (next != LOOP_FOREVER)
        loop_arm(g->loop, &g->timer, next, on_timer, g);
}

static void *thread_main(void *arg)
{
    struct softgpu *g = arg;

    pthread_mutex_lock(&g->lock);
    while (!g->stop) {
        uint64_t next = step(g);
        struct timespec ts = {.tv_sec = (time_t)(next / NSEC_PER_SEC),
                              .tv_nsec = (long)(next % NSEC_PER_SEC)};
        if (g->raise) {
            g->raise = false;
            pthread_mutex_unlock(&g->lock);
            dxgk_interrupt(g->dxgk, 0);
            pthread_mutex_lock(&g->lock);
        } else if (next == LOOP_FOREVER)
            pthread_cond_wait(&g->cond, &g->lock);
        else if (next > clock_now(g->clock))
            pthread_cond_timedwait(&g->cond, &g->lock, &ts);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static void kick(struct softgpu *g)
{
    if (g->loop)
        loop_arm(g->loop, &g->timer, clock_now(g->clock), on_timer, g);
    else
        pthread_cond_signal(&g->cond);
}

static uint64_t mmio_read(void *ctx, uint64_t address, unsigned size)
{
    struct softgpu *g = ctx;
    uint32_t v = UINT32_MAX;

    pthread_mutex_lock(&g->lock);
    switch (address - SOFTGPU_BAR) {
    case REG_ID:
        v = SOFTGPU_ID;
        break;
    case REG_IRQ_STATUS:
        v = g->irq_status;
        break;
    case REG_IRQ_ENABLE:
        v = g->irq_enable;
        break;
    case REG_COMPLETED:
        v = g->completed;
        break;
    case REG_FAULTED:
        v = g->faulted;
        break;
    case REG_SCAN_NOW:
        v = g->scan_now;
        break;
    }
    pthread_mutex_unlock(&g->lock);
    return size == 4 ? v : v & 0xFF;
}

static void mmio_write(void *ctx, uint64_t address, unsigned size, uint64_t value)
{
    struct softgpu *g = ctx;
    uint32_t v = (uint32_t)value;

    if (size != 4)
        return;
    pthread_mutex_lock(&g->lock);
    switch (address - SOFTGPU_BAR) {
    case REG_IRQ_STATUS:
        g->irq_status &= ~v;
        break;
    case REG_IRQ_ENABLE:
        g->irq_enable = v;
        break;
    case REG_CMD_LO:
        g->cmd_lo = v;
        break;
    case REG_CMD_HI:
        g->cmd_hi = v;
        break;
    case REG_CMD_SIZE:
        g->cmd_size = v;
        break;
    case REG_CMD_APERTURE:
        g->cmd_aperture = v;
        break;
    case REG_SUBMIT:
        g->queue[(g->head + g->count++) % SOFTGPU_QUEUE] =
            (struct softgpu_job){.address = (uint64_t)g->cmd_hi << 32 | g->cmd_lo,
                                 .size = g->cmd_size,
                                 .fence = v,
                                 .aperture = g->cmd_aperture};
        kick(g);
        break;
    case REG_CANCEL:
        if (g->count > 1)
            g->count = 1;
        break;
    case REG_RESET:
        g->count = g->irq_status = 0;
        g->hung = false;
        g->busy_until = 0;
        g->scan = SOFTGPU_PAGES; /* nothing */
        memset(g->gart, 0, sizeof(g->gart));
        break;
    case REG_SCAN:
        g->scan = v;
        break;
    case REG_SCAN_ENABLE:
        if (v && !g->scan_enable)
            g->next_vblank = clock_now(g->clock) + VBLANK_NS;
        g->scan_enable = v;
        kick(g);
        break;
    }
    pthread_mutex_unlock(&g->lock);
}

static int dma_alloc(void *ctx, size_t size, void **va, uint64_t *pa)
{
    struct softgpu *g = ctx;
    int fd = memfd_create("softgpu", MFD_CLOEXEC);
    void *p = MAP_FAILED;

    if (fd >= 0 && !ftruncate(fd, (off_t)size))
        p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return -ENOMEM;
    }
    pthread_mutex_lock(&g->lock);
    for (int i = 0; i < SOFTGPU_BLOCKS; i++)
        if (!g->blocks[i].va) {
            g->blocks[i] = (struct softgpu_block){p, g->next_pa, size, fd};
            g->next_pa += size + 4096;
            g->allocated += size;
            *va = p;
            *pa = g->blocks[i].pa;
            pthread_mutex_unlock(&g->lock);
            return 0;
        }
    pthread_mutex_unlock(&g->lock);
    munmap(p, size);
    close(fd);
    return -ENOMEM;
}

static void dma_free(void *ctx, void *va, uint64_t pa, size_t size)
{
    struct softgpu *g = ctx;

    pthread_mutex_lock(&g->lock);
    for (int i = 0; i < SOFTGPU_BLOCKS; i++)
        if (g->blocks[i].va == va) {
            g->blocks[i].va = NULL;
            close(g->blocks[i].fd);
            g->allocated -= size;
        }
    pthread_mutex_unlock(&g->lock);
    munmap(va, size);
    (void)pa;
}

static void *dma_ptr(void *ctx, uint64_t pa, size_t size)
{
    struct softgpu *g = ctx;
    void *p;

    pthread_mutex_lock(&g->lock);
    p = ram(g, pa, size);
    pthread_mutex_unlock(&g->lock);
    return p;
}

static int dma_fd(void *ctx, uint64_t pa, size_t size, uint64_t *offset)
{
    struct softgpu *g = ctx;
    int fd = -1;

    pthread_mutex_lock(&g->lock);
    for (int i = 0; i < SOFTGPU_BLOCKS; i++)
        if (g->blocks[i].va && g->blocks[i].pa == pa && g->blocks[i].size >= size)
            fd = g->blocks[i].fd;
    pthread_mutex_unlock(&g->lock);
    *offset = 0;
    return fd;
}

static uint32_t config_read(void *ctx, uint32_t offset, void *data, uint32_t size)
{
    static const uint8_t config[64] = {0x34, 0x12, 0xcd, 0xab, [8] = 2, [44] = 0x34, 0x12, 1, 0};

    UNREFERENCED_PARAMETER(ctx);
    if (offset > sizeof(config) || size > sizeof(config) - offset)
        return 0;
    memcpy(data, config + offset, size);
    return size;
}

int softgpu_init(struct softgpu *g, struct clock *clock, struct loop *loop)
{
    static const struct dxgk_resource resources[] = {
        {.type = CmResourceTypeMemory, .start = SOFTGPU_BAR, .length = 4096},
        {.type = CmResourceTypeInterrupt, .flags = CM_RESOURCE_INTERRUPT_MESSAGE, .vector = 0x30},
    };
    pthread_condattr_t attr;

    memset(g, 0, sizeof(*g));
    g->clock = clock;
    g->loop = loop;
    g->next_pa = 0x100000;
    g->bus = (struct dxgk_bus){.ctx = g,
                               .resources = resources,
                               .num_resources = 2,
                               .memory_size = UINT64_C(1) << 30,
                               .mmio_read = mmio_read,
                               .mmio_write = mmio_write,
                               .dma_alloc = dma_alloc,
                               .dma_free = dma_free,
                               .dma_ptr = dma_ptr,
                               .dma_fd = dma_fd,
                               .config_read = config_read};
    pthread_mutex_init(&g->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&g->cond, &attr);
    pthread_condattr_destroy(&attr);
    return loop ? 0 : -pthread_create(&g->thread, NULL, thread_main, g);
}

void softgpu_stop(struct softgpu *g)
{
    if (g->loop) {
        loop_cancel(g->loop, &g->timer);
    } else if (!g->stop) { /* set by nobody else */
        pthread_mutex_lock(&g->lock);
        g->stop = true;
        pthread_cond_signal(&g->cond);
        pthread_mutex_unlock(&g->lock);
        pthread_join(g->thread, NULL);
    }
}

void softgpu_finish(struct softgpu *g)
{
    softgpu_stop(g);
    pthread_cond_destroy(&g->cond);
    pthread_mutex_destroy(&g->lock);
}
