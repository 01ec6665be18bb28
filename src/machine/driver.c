/* SPDX-License-Identifier: MIT */
#include "machine/driver.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "aerogpu/pci.h"
#include "aerogpu/ring.h"
#include "base/check.h"

enum {
    RING_GPA = 0x1000, /* page 0 stays unused, so that address 0 is never something */
    HEAP_GPA = 0x200000,
    IN_FLIGHT = 8192,        /* more than ring and device hold */
    WATCHDOG_NS = 100000000, /* without an interrupt: look */
};

struct block { /* the heap, in address order */
    uint64_t gpa, size;
    bool used;
    struct block *next;
};

struct in_flight {
    uint64_t fence, submitted_ns;
};

struct driver {
    struct driver_params params;
    struct machine *m;
    struct driver_ring ring;
    uint64_t next_fence, last_fence;
    struct block *heap;
    uint64_t frame_buffer;
    _Atomic uint64_t completed;
    pthread_mutex_t lock; /* what the interrupt routine and driver_wait share: all below */
    struct in_flight in_flight[IN_FLIGHT];
    uint32_t first, count;
    struct driver_stats stats;
};

/* With the lock held. */
static void driver_check(const struct driver *d)
{
    INVARIANT(d->count <= IN_FLIGHT && d->first < IN_FLIGHT); /* 4 */
    INVARIANT(d->last_fence <= d->next_fence);                /* 2 */
    INVARIANT(d->ring.entries && !(d->ring.entries & (d->ring.entries - 1)));
    INVARIANT(d->stats.submissions >= d->count);
    INVARIANT(d->heap && d->heap->gpa == HEAP_GPA);
}

static uint64_t align_up(uint64_t v, uint64_t align)
{
    return (v + align - 1) & ~(align - 1);
}

/* ---- bringing a device up ------------------------------------------------ */

static void enable_msi(struct machine *m)
{
    uint32_t at = machine_config_read(m, 0x34, 1) & 0xFC, control, n = 0;

    for (; at && machine_config_read(m, at, 1) != 0x05 && n < 48;
         n++) /* a list that is a circle ends as well */
        at = machine_config_read(m, at + 1, 1) & 0xFC;
    if (!at || n == 48)
        return; /* INTx it is */
    control = machine_config_read(m, at + 2, 2);
    machine_config_write(m, at + 4, 4, 0xFEE00000);
    if (control & 0x80)
        machine_config_write(m, at + 8, 4, 0);
    machine_config_write(m, at + (control & 0x80 ? 12 : 8), 2, DRIVER_MSI_DATA);
    machine_config_write(m, at + 2, 2, control | 1);
}

void driver_enable(struct machine *m, bool msi)
{
    if (msi)
        enable_msi(m);
    machine_config_write(m, 0x04, 2, 0x6); /* memory decoding, bus mastering */
}

int driver_probe(struct machine *m, bool msi, struct error *e)
{
    uint32_t id = machine_config_read(m, 0x00, 4), abi;

    if (id != (AEROGPU_PCI_DEVICE_ID << 16 | AEROGPU_PCI_VENDOR_ID))
        return error_set(e, -ENODEV, "PCI function %04x:%04x is no AeroGPU", id & 0xFFFF, id >> 16);
    driver_enable(m, msi);
    abi = machine_read(m, AEROGPU_REG_ABI_VERSION);
    if (machine_read(m, AEROGPU_REG_MAGIC) != AEROGPU_MMIO_MAGIC ||
        AEROGPU_ABI_VERSION_MAJOR(abi) != AEROGPU_ABI_MAJOR)
        return error_set(e, -ENODEV, "the device speaks ABI 0x%08x", abi);
    return 0;
}

uint32_t driver_ring_bytes(uint32_t entries)
{
    return (uint32_t)(sizeof(struct aerogpu_ring_header) + entries * sizeof(struct aerogpu_submit_desc));
}

void driver_ring_init(struct driver_ring *r, struct machine *m, uint64_t ring_gpa, uint64_t fence_gpa,
                      uint32_t entries)
{
    uint32_t bytes = driver_ring_bytes(entries);

    *r = (struct driver_ring){.machine = m,
                              .header = (void *)(machine_ram(m) + ring_gpa),
                              .slots = (void *)(machine_ram(m) + ring_gpa + sizeof(*r->header)),
                              .fence_page = (void *)(machine_ram(m) + fence_gpa),
                              .entries = entries};
    *r->header = (struct aerogpu_ring_header){.magic = AEROGPU_RING_MAGIC,
                                              .abi_version = AEROGPU_ABI_VERSION_U32,
                                              .size_bytes = bytes,
                                              .entry_count = entries,
                                              .entry_stride_bytes = sizeof(struct aerogpu_submit_desc)};
    memset(r->fence_page, 0, sizeof(*r->fence_page));
    machine_write64(m, AEROGPU_REG_RING_GPA_LO, ring_gpa);
    machine_write(m, AEROGPU_REG_RING_SIZE_BYTES, bytes);
    machine_write64(m, AEROGPU_REG_FENCE_GPA_LO, fence_gpa);
    machine_write(m, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
}

/* Head and tail are aligned, which their packed struct does not say. */
static uint32_t *index_of(const struct driver_ring *r, size_t offset)
{
    return (uint32_t *)(void *)((uint8_t *)r->header + offset);
}

static uint32_t taken(const struct driver_ring *r)
{
    return __atomic_load_n(index_of(r, offsetof(struct aerogpu_ring_header, head)), __ATOMIC_ACQUIRE);
}

bool driver_ring_put(struct driver_ring *r, const struct aerogpu_submit_desc *d)
{
    uint32_t tail = r->header->tail;

    if (tail - taken(r) >= r->entries)
        return false;
    r->slots[tail % r->entries] = *d;
    r->slots[tail % r->entries].desc_size_bytes = sizeof(*d);
    __atomic_store_n(index_of(r, offsetof(struct aerogpu_ring_header, tail)), tail + 1, __ATOMIC_RELEASE);
    return true;
}

void driver_ring_doorbell(struct driver_ring *r)
{
    machine_write(r->machine, AEROGPU_REG_DOORBELL, 1);
}

bool driver_ring_empty(const struct driver_ring *r)
{
    return taken(r) == r->header->tail;
}

uint64_t driver_ring_completed(const struct driver_ring *r)
{
    return __atomic_load_n(
        (const uint64_t *)(const void *)((const uint8_t *)r->fence_page +
                                         offsetof(struct aerogpu_fence_page, completed_fence)),
        __ATOMIC_ACQUIRE);
}

/* ---- guest memory -------------------------------------------------------- */

static struct block *block_new(uint64_t gpa, uint64_t size, struct block *next)
{
    struct block *b = calloc(1, sizeof(*b));

    if (b)
        *b = (struct block){.gpa = gpa, .size = size, .next = next};
    return b;
}

/* Cuts `b` at `gpa`, inside it. */
static bool split(struct block *b, uint64_t gpa)
{
    struct block *rest = block_new(gpa, b->gpa + b->size - gpa, b->next);

    if (!rest)
        return false;
    b->size = gpa - b->gpa;
    b->next = rest;
    return true;
}

uint64_t driver_alloc(struct driver *d, uint64_t size, uint64_t align)
{
    align = align < 64 ? 64 : align;
    if (!size || size > machine_ram_size(d->m))
        return 0;
    size = align_up(size, 64);
    for (struct block *b = d->heap; b; b = b->next) {
        uint64_t at = align_up(b->gpa, align), end = b->gpa + b->size;
        if (b->used || at > end || end - at < size)
            continue;
        if (at != b->gpa) {
            if (!split(b, at))
                return 0;
            b = b->next;
        }
        if (b->size != size && !split(b, at + size))
            return 0;
        b->used = true;
        return at;
    }
    return 0;
}

void driver_free(struct driver *d, uint64_t gpa)
{
    if (!gpa)
        return;
    for (struct block *b = d->heap, *prev = NULL; b; prev = b, b = b->next) {
        if (b->gpa != gpa || !b->used)
            continue;
        b->used = false;
        for (struct block *left = prev && !prev->used ? prev : b; left->next && !left->next->used;) {
            struct block *dead = left->next;
            left->size += dead->size;
            left->next = dead->next;
            free(dead);
        }
        return;
    }
}

void *driver_ptr(struct driver *d, uint64_t gpa)
{
    return machine_ram(d->m) + gpa;
}

uint64_t driver_free_bytes(const struct driver *d)
{
    uint64_t n = 0;

    for (const struct block *b = d->heap; b; b = b->next)
        n += b->used ? 0 : b->size;
    return n;
}

/* ---- interrupts ---------------------------------------------------------- */

/* Tells of all that completed up to COMPLETED_FENCE. With the lock held. */
static void note_completed(struct driver *d)
{
    uint64_t completed = driver_ring_completed(&d->ring);
    uint64_t now = d->params.on_fence ? machine_now(d->m) : 0;

    while (d->count && d->in_flight[d->first].fence <= completed) {
        struct in_flight f = d->in_flight[d->first];
        d->first = (d->first + 1) % IN_FLIGHT;
        d->count--;
        if (d->params.on_fence)
            d->params.on_fence(d->params.ctx, f.fence, f.submitted_ns, now);
    }
    atomic_store_explicit(&d->completed, completed, memory_order_release);
}

static void note_vblank(struct driver *d)
{
    uint64_t now = machine_now(d->m);

    d->stats.vblanks++;
    if (d->params.on_vblank)
        d->params.on_vblank(d->params.ctx, machine_read64(d->m, AEROGPU_REG_SCANOUT0_VBLANK_SEQ_LO),
                            machine_read64(d->m, AEROGPU_REG_SCANOUT0_VBLANK_TIME_NS_LO), now);
}

static void note_error(struct driver *d)
{
    uint32_t count = machine_read(d->m, AEROGPU_REG_ERROR_COUNT);

    d->stats.errors++;
    d->stats.last_error_code = machine_read(d->m, AEROGPU_REG_ERROR_CODE);
    d->stats.last_error_fence = machine_read64(d->m, AEROGPU_REG_ERROR_FENCE_LO);
    if (d->params.on_error)
        d->params.on_error(d->params.ctx, d->stats.last_error_code, d->stats.last_error_fence, count);
}

static void service(struct driver *d, uint32_t status)
{
    machine_write(d->m, AEROGPU_REG_IRQ_ACK,
                  status); /* first: what comes after it raises the next interrupt */
    if (status & AEROGPU_IRQ_ERROR)
        note_error(d);
    if (status & AEROGPU_IRQ_SCANOUT_VBLANK)
        note_vblank(d);
    if (status & AEROGPU_IRQ_FENCE)
        note_completed(d);
}

static void interrupt(void *ctx)
{
    struct driver *d = ctx;
    uint32_t status = machine_read(d->m, AEROGPU_REG_IRQ_STATUS);

    pthread_mutex_lock(&d->lock);
    driver_check(d);
    d->stats.interrupts++;
    if (status)
        service(d, status);
    else
        d->stats.spurious_interrupts++;
    pthread_mutex_unlock(&d->lock);
}

/* No interrupt for a while: looks whether one is missing, and rings again while something is in the ring. */
static void watchdog(struct driver *d)
{
    uint32_t status = machine_read(d->m, AEROGPU_REG_IRQ_STATUS);
    bool again = !driver_ring_empty(&d->ring);

    pthread_mutex_lock(&d->lock);
    if (status) {
        d->stats.missed_interrupts++;
        service(d, status);
    }
    note_completed(d);
    d->stats.doorbells_again += again;
    pthread_mutex_unlock(&d->lock);
    if (again)
        driver_ring_doorbell(&d->ring);
}

/* ---- life cycle ---------------------------------------------------------- */

int driver_create(struct driver **out, const struct driver_params *p, struct error *e)
{
    uint32_t entries = p->ring_entries ? p->ring_entries : 256;
    uint64_t ram = machine_ram_size(p->machine);
    struct driver *d;
    int r = driver_probe(p->machine, !p->intx, e);

    *out = NULL;
    if (r)
        return r;
    if (entries & (entries - 1) || entries > 16384 || ram <= HEAP_GPA)
        return error_set(e, -EINVAL, "%u ring entries, %llu bytes of memory", entries,
                         (unsigned long long)ram);
    d = calloc(1, sizeof(*d));
    if (d)
        d->heap = block_new(HEAP_GPA, ram - HEAP_GPA, NULL);
    if (!d || !d->heap) {
        free(d);
        return error_set(e, -ENOMEM, "no memory for a driver");
    }
    d->params = *p;
    d->m = p->machine;
    pthread_mutex_init(&d->lock, NULL);
    machine_set_irq(d->m, interrupt, d);
    driver_ring_init(&d->ring, d->m, RING_GPA, align_up(RING_GPA + driver_ring_bytes(entries), 4096),
                     entries);
    machine_write(d->m, AEROGPU_REG_IRQ_ENABLE,
                  AEROGPU_IRQ_FENCE | AEROGPU_IRQ_SCANOUT_VBLANK | AEROGPU_IRQ_ERROR);
    *out = d;
    return 0;
}

void driver_destroy(struct driver *d)
{
    if (!d)
        return;
    machine_write(d->m, AEROGPU_REG_IRQ_ENABLE, 0);
    machine_write(d->m, AEROGPU_REG_SCANOUT0_ENABLE, 0);
    machine_write(d->m, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_RESET);
    machine_set_irq(d->m, NULL, NULL);
    machine_config_write(d->m, 0x04, 2, 0);
    while (d->heap) {
        struct block *b = d->heap;
        d->heap = b->next;
        free(b);
    }
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* ---- scanout ------------------------------------------------------------- */

void driver_set_scanout(struct driver *d, uint64_t fb_gpa, uint32_t width, uint32_t height, uint32_t format,
                        uint32_t pitch)
{
    machine_write(d->m, AEROGPU_REG_SCANOUT0_WIDTH, width);
    machine_write(d->m, AEROGPU_REG_SCANOUT0_HEIGHT, height);
    machine_write(d->m, AEROGPU_REG_SCANOUT0_FORMAT, format);
    machine_write(d->m, AEROGPU_REG_SCANOUT0_PITCH_BYTES, pitch);
    machine_write64(d->m, AEROGPU_REG_SCANOUT0_FB_GPA_LO, fb_gpa);
    machine_write(d->m, AEROGPU_REG_SCANOUT0_ENABLE, 1);
}

int driver_set_mode(struct driver *d, uint32_t width, uint32_t height, uint32_t format)
{
    uint64_t pitch = align_up((uint64_t)width * aerogpu_pixel_bytes(format), 256), fb;

    if (!pitch || !height || pitch > UINT32_MAX)
        return -EINVAL;
    fb = driver_alloc(d, pitch * height, 4096);
    if (!fb)
        return -ENOMEM;
    memset(driver_ptr(d, fb), 0, pitch * height);
    driver_set_scanout(d, fb, width, height, format, (uint32_t)pitch);
    driver_free(d, d->frame_buffer);
    d->frame_buffer = fb;
    return 0;
}

void driver_disable_scanout(struct driver *d)
{
    machine_write(d->m, AEROGPU_REG_SCANOUT0_ENABLE, 0);
}

uint64_t driver_frame_buffer(const struct driver *d)
{
    return d->frame_buffer;
}

/* ---- submissions --------------------------------------------------------- */

int driver_submit(struct driver *d, const struct driver_submission *s, uint64_t *fence)
{
    struct aerogpu_submit_desc desc = {.flags = s->flags,
                                       .context_id = s->context_id,
                                       .cmd_gpa = s->cmd_gpa,
                                       .cmd_size_bytes = s->cmd_size,
                                       .alloc_table_gpa = s->alloc_gpa,
                                       .alloc_table_size_bytes = s->alloc_size,
                                       .signal_fence = s->fence ? s->fence : d->next_fence + 1};

    bool room;

    pthread_mutex_lock(&d->lock);
    driver_check(d);
    room = d->count < IN_FLIGHT && driver_ring_put(&d->ring, &desc);
    if (room) {
        d->in_flight[(d->first + d->count++) % IN_FLIGHT] =
            (struct in_flight){desc.signal_fence, machine_now(d->m)};
        d->stats.submissions++;
        if (desc.signal_fence > d->next_fence)
            d->next_fence = desc.signal_fence;
        d->last_fence = d->next_fence;
    }
    pthread_mutex_unlock(&d->lock);
    if (!room)
        return -EAGAIN;
    if (fence)
        *fence = desc.signal_fence;
    driver_ring_doorbell(&d->ring);
    return 0;
}

uint64_t driver_completed(const struct driver *d)
{
    return atomic_load_explicit(&d->completed, memory_order_acquire);
}

struct waiting {
    struct driver *d;
    uint64_t fence;
};

static bool reached(void *ctx)
{
    struct waiting *w = ctx;

    return driver_completed(w->d) >= w->fence;
}

int driver_wait(struct driver *d, uint64_t fence, uint64_t timeout_ns)
{
    struct waiting w = {d, fence};
    uint64_t start = machine_now(d->m);

    for (;;) {
        uint64_t passed = machine_now(d->m) - start, left = passed < timeout_ns ? timeout_ns - passed : 0;
        if (!machine_wait(d->m, reached, &w, left < WATCHDOG_NS ? left : WATCHDOG_NS))
            return 0;
        watchdog(d);
        if (reached(&w))
            return 0;
        if (machine_now(d->m) - start >= timeout_ns)
            return -ETIMEDOUT;
    }
}

int driver_wait_idle(struct driver *d, uint64_t timeout_ns)
{
    return driver_wait(d, d->last_fence, timeout_ns);
}

void driver_reset(struct driver *d)
{
    machine_write(d->m, AEROGPU_REG_RING_CONTROL, AEROGPU_RING_CONTROL_ENABLE | AEROGPU_RING_CONTROL_RESET);
    pthread_mutex_lock(&d->lock);
    d->first = d->count = 0;
    d->last_fence = 0;
    atomic_store(&d->completed, 0);
    pthread_mutex_unlock(&d->lock);
}

void driver_get_stats(struct driver *d, struct driver_stats *out)
{
    pthread_mutex_lock(&d->lock);
    *out = d->stats;
    pthread_mutex_unlock(&d->lock);
}
