#include "stack/stack.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "aerogpu/pci.h"
#include "dxgkrnl/faults.h"

enum { PAGE = 4096, MSI_ADDRESS = 0xFEE00000, MSI_DATA = 0x40 };

struct piece { /* guest memory, in address order */
    uint64_t pa, size;
    bool used;
    struct piece *next;
};

struct stack {
    struct machine *machine;
    struct dxgk *dxgk;
    struct dxgk_bus bus;
    struct dxgk_resource resources[3];
    pthread_mutex_t lock; /* pieces */
    struct piece *pieces;
    uint64_t used;
    _Atomic uint32_t lost_doorbells; /* still to lose */
};

extern DRIVER_INITIALIZE DriverEntry;

/* ---- the PCI function ---- */

static uint32_t config_read(void *ctx, uint32_t offset, void *data, uint32_t size)
{
    struct stack *s = ctx;

    if (offset > 256 || size > 256 - offset)
        return 0;
    for (uint32_t i = 0; i < size; i++)
        ((uint8_t *)data)[i] = (uint8_t)machine_config_read(s->machine, offset + i, 1);
    return size;
}

static uint32_t config_write(void *ctx, uint32_t offset, const void *data, uint32_t size)
{
    struct stack *s = ctx;

    if (offset > 256 || size > 256 - offset)
        return 0;
    for (uint32_t i = 0; i < size; i++)
        machine_config_write(s->machine, offset + i, 1, ((const uint8_t *)data)[i]);
    return size;
}

static bool in_bar(struct stack *s, unsigned bar, uint64_t address, uint64_t *offset)
{
    uint64_t base = gpu_bar_address(machine_gpu(s->machine), bar);
    uint64_t size = bar ? AEROGPU_BAR1_SIZE : AEROGPU_BAR0_SIZE;

    *offset = address - base;
    return address >= base && *offset < size;
}

static uint64_t mmio_read(void *ctx, uint64_t address, unsigned size)
{
    struct stack *s = ctx;
    uint64_t offset;

    for (unsigned bar = 0; bar < 2; bar++)
        if (in_bar(s, bar, address, &offset))
            return gpu_bar_read(machine_gpu(s->machine), bar, offset, size);
    return UINT64_MAX;
}

static bool lose_doorbell(struct stack *s, uint64_t offset)
{
    uint32_t n = atomic_load(&s->lost_doorbells);

    while (offset == AEROGPU_REG_DOORBELL && n)
        if (atomic_compare_exchange_weak(&s->lost_doorbells, &n, n - 1))
            return true;
    return false;
}

static void mmio_write(void *ctx, uint64_t address, unsigned size, uint64_t value)
{
    struct stack *s = ctx;
    uint64_t offset;

    if (in_bar(s, 0, address, &offset) && lose_doorbell(s, offset))
        return;
    if (in_bar(s, 0, address, &offset) && size == 4)
        machine_write(s->machine, (uint32_t)offset, (uint32_t)value); /* where the sim loses doorbells */
    else if (in_bar(s, 0, address, &offset))
        gpu_bar_write(machine_gpu(s->machine), 0, offset, size, value);
    else if (in_bar(s, 1, address, &offset))
        gpu_bar_write(machine_gpu(s->machine), 1, offset, size, value);
}

static void on_irq(void *ctx)
{
    struct stack *s = ctx;

    dxgk_interrupt(s->dxgk, 0);
}

static void set_up_msi(struct machine *m)
{
    uint32_t cap = machine_config_read(m, 0x34, 1);

    while (cap && machine_config_read(m, cap, 1) != 0x05)
        cap = machine_config_read(m, cap + 1, 1);
    if (!cap)
        return;
    machine_config_write(m, cap + 4, 4, MSI_ADDRESS);
    machine_config_write(m, cap + 8, 4, 0);
    machine_config_write(m, cap + 12, 2, MSI_DATA);
    machine_config_write(m, cap + 2, 2, 1);
}

/* ---- guest memory ---- */

static struct piece *piece_new(uint64_t pa, uint64_t size, struct piece *next)
{
    struct piece *p = calloc(1, sizeof(*p));

    if (p)
        *p = (struct piece){.pa = pa, .size = size, .next = next};
    return p;
}

static int dma_alloc(void *ctx, size_t size, void **va, uint64_t *pa)
{
    struct stack *s = ctx;
    struct piece *p;

    size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
    pthread_mutex_lock(&s->lock);
    for (p = s->pieces; p && (p->used || p->size < size); p = p->next)
        ;
    if (p && p->size > size) {
        struct piece *rest = piece_new(p->pa + size, p->size - size, p->next);
        if (rest) {
            p->size = size;
            p->next = rest;
        } else {
            p = NULL;
        }
    }
    if (p) {
        p->used = true;
        s->used += size;
    }
    pthread_mutex_unlock(&s->lock);
    if (!p || !size)
        return -ENOMEM;
    *pa = p->pa;
    *va = machine_ram(s->machine) + p->pa;
    memset(*va, 0, size);
    return 0;
}

static void dma_free(void *ctx, void *va, uint64_t pa, size_t size)
{
    struct stack *s = ctx;

    (void)va;
    (void)size;
    pthread_mutex_lock(&s->lock);
    for (struct piece *p = s->pieces, *prev = NULL; p; prev = p, p = p->next) {
        if (p->pa != pa || !p->used)
            continue;
        p->used = false;
        s->used -= p->size;
        for (struct piece *left = prev && !prev->used ? prev : p; left->next && !left->next->used;) {
            struct piece *dead = left->next;
            left->size += dead->size;
            left->next = dead->next;
            free(dead);
        }
        break;
    }
    pthread_mutex_unlock(&s->lock);
}

static void *dma_ptr(void *ctx, uint64_t pa, size_t size)
{
    struct stack *s = ctx;
    uint64_t ram = machine_ram_size(s->machine);

    return pa < ram && size <= ram - pa ? machine_ram(s->machine) + pa : NULL;
}

static int dma_fd(void *ctx, uint64_t pa, size_t size, uint64_t *offset)
{
    struct stack *s = ctx;

    (void)size;
    *offset = pa;
    return machine_ram_fd(s->machine);
}

/* ---- faults on demand; those of a sim come from its seed ---- */

static NTSTATUS inject(void *ctx, uint32_t fault, uint32_t value)
{
    struct stack *s = ctx;
    int pid = machine_executor_pid(s->machine), signal;

    switch (fault) {
    case DXGK_FAULT_LOSE_DOORBELL:
        atomic_store(&s->lost_doorbells, value);
        return STATUS_SUCCESS;
    case DXGK_FAULT_KILL_EXECUTOR:
        signal = SIGKILL;
        break;
    case DXGK_FAULT_STOP_EXECUTOR:
        signal = SIGSTOP;
        break;
    default:
        return STATUS_NOT_SUPPORTED;
    }
    if (!value)
        return STATUS_SUCCESS;
    return pid > 0 && !kill((pid_t)pid, signal) ? STATUS_SUCCESS : STATUS_DEVICE_NOT_READY;
}

/* ---- life ---- */

static void describe(struct stack *s, bool swapped)
{
    struct gpu *gpu = machine_gpu(s->machine);

    s->resources[swapped ? 1 : 0] = (struct dxgk_resource){
        .type = CmResourceTypeMemory, .start = gpu_bar_address(gpu, 0), .length = AEROGPU_BAR0_SIZE};
    s->resources[swapped ? 0 : 1] = (struct dxgk_resource){.type = CmResourceTypeMemory,
                                                           .flags = CM_RESOURCE_MEMORY_PREFETCHABLE,
                                                           .start = gpu_bar_address(gpu, 1),
                                                           .length = AEROGPU_BAR1_SIZE};
    s->resources[2] =
        (struct dxgk_resource){.type = CmResourceTypeInterrupt,
                               .flags = CM_RESOURCE_INTERRUPT_MESSAGE | CM_RESOURCE_INTERRUPT_LATCHED,
                               .vector = MSI_DATA};
    s->bus = (struct dxgk_bus){.ctx = s,
                               .resources = s->resources,
                               .num_resources = 3,
                               .memory_size = machine_ram_size(s->machine),
                               .config_read = config_read,
                               .config_write = config_write,
                               .mmio_read = mmio_read,
                               .mmio_write = mmio_write,
                               .dma_alloc = dma_alloc,
                               .dma_free = dma_free,
                               .dma_ptr = dma_ptr,
                               .dma_fd = dma_fd,
                               .inject = inject};
}

int stack_create(struct stack **out, const struct stack_params *p, struct error *e)
{
    struct machine_params mp = p->machine;
    struct stack *s = calloc(1, sizeof(*s));
    int r;

    *out = NULL;
    if (!s)
        return error_set(e, -ENOMEM, "no memory for the stack");
    pthread_mutex_init(&s->lock, NULL);
    mp.irq = NULL;
    r = machine_create(&s->machine, &mp, e);
    if (r)
        goto fail;
    s->pieces = piece_new(PAGE, machine_ram_size(s->machine) - PAGE, NULL);
    if (!s->pieces) {
        r = error_set(e, -ENOMEM, "no memory for the stack");
        goto fail;
    }
    describe(s, p->bars_swapped);
    r = dxgk_create(&s->dxgk,
                    &(struct dxgk_params){.clock = stack_clock(s),
                                          .loop = machine_loop(s->machine),
                                          .bus = &s->bus,
                                          .settings = p->settings,
                                          .service = "aerogpu",
                                          .on_event = p->on_event,
                                          .event_ctx = p->event_ctx},
                    e);
    if (r)
        goto fail;
    machine_set_irq(s->machine, on_irq, s);
    machine_config_write(s->machine, 0x04, 2, 0x6); /* memory decoding, bus mastering */
    set_up_msi(s->machine);
    r = p->miniport ? dxgk_load_file(s->dxgk, p->miniport, e) : dxgk_load(s->dxgk, DriverEntry, e);
    if (r)
        goto fail;
    *out = s;
    return 0;
fail:
    stack_destroy(s);
    return r;
}

NTSTATUS stack_start(struct stack *s, struct error *e)
{
    return dxgk_start(s->dxgk, e);
}

void stack_destroy(struct stack *s)
{
    if (!s)
        return;
    if (s->dxgk)
        dxgk_unload(s->dxgk); /* the last work goes while there are interrupts */
    if (s->machine)
        machine_set_irq(s->machine, NULL, NULL);
    dxgk_destroy(s->dxgk);
    machine_destroy(s->machine);
    while (s->pieces) {
        struct piece *p = s->pieces;
        s->pieces = p->next;
        free(p);
    }
    pthread_mutex_destroy(&s->lock);
    free(s);
}

struct dxgk *stack_dxgk(struct stack *s)
{
    return s->dxgk;
}

struct machine *stack_machine(struct stack *s)
{
    return s->machine;
}

struct clock *stack_clock(struct stack *s)
{
    return (struct clock *)machine_clock(s->machine);
}

void stack_sleep(struct stack *s, uint64_t ns)
{
    machine_sleep(s->machine, ns);
}

uint64_t stack_memory_used(struct stack *s)
{
    uint64_t used;

    pthread_mutex_lock(&s->lock);
    used = s->used;
    pthread_mutex_unlock(&s->lock);
    return used;
}
