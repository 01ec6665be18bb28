/* SPDX-License-Identifier: MIT */
#include "stack/stack.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "aerogpu/pci.h"
#include "base/log.h"
#include "base/sched/private_memory.h"
#include "base/sched/schedstat.h"
#include "base/sched/tasks.h"
#include "dxgkrnl/faults.h"
#include "dxgkrnl/kernel/process.h"
#include "machine/driver.h"
#include "stack/memory.h"

struct stack {
    struct machine *machine;
    struct dxgk *dxgk;
    struct dxgk_bus bus;
    struct dxgk_resource resources[3];
    struct memory *memory;
    _Atomic uint32_t lost_doorbells; /* still to be lost */
};

extern DRIVER_INITIALIZE DriverEntry;

/* ---- the PCI function ---------------------------------------------------- */

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

static bool lose_doorbell(struct stack *s)
{
    uint32_t left = atomic_load_explicit(&s->lost_doorbells, memory_order_relaxed);

    while (left)
        if (atomic_compare_exchange_weak(&s->lost_doorbells, &left, left - 1))
            return true;
    return false;
}

static void mmio_write(void *ctx, uint64_t address, unsigned size, uint64_t value)
{
    struct stack *s = ctx;
    uint64_t offset;

    if (in_bar(s, 0, address, &offset)) {
        if (offset == AEROGPU_REG_DOORBELL && lose_doorbell(s))
            return;
        if (size == 4)
            machine_write(s->machine, (uint32_t)offset, (uint32_t)value); /* where the sim loses doorbells */
        else
            gpu_bar_write(machine_gpu(s->machine), 0, offset, size, value);
    } else if (in_bar(s, 1, address, &offset)) {
        gpu_bar_write(machine_gpu(s->machine), 1, offset, size, value);
    }
}

static void *mmio_map(void *ctx, uint64_t address, uint64_t size)
{
    struct stack *s = ctx;
    uint64_t offset;

    return in_bar(s, 1, address, &offset) && size <= AEROGPU_BAR1_SIZE - offset
               ? gpu_vram(machine_gpu(s->machine)) + offset
               : NULL;
}

/* What firmware would have left: the linear frame buffer of VBE, scanned out. */
static bool post_display(void *ctx, struct dxgk_post_display *out)
{
    struct stack *s = ctx;

    *out = (struct dxgk_post_display){.width = 1024,
                                      .height = 768,
                                      .pitch = 1024 * 4,
                                      .format = D3DDDIFMT_X8R8G8B8,
                                      .address = gpu_bar_address(machine_gpu(s->machine), 1) +
                                                 AEROGPU_VRAM_VBE_LFB_OFFSET};
    machine_write(s->machine, AEROGPU_REG_SCANOUT0_WIDTH, out->width);
    machine_write(s->machine, AEROGPU_REG_SCANOUT0_HEIGHT, out->height);
    machine_write(s->machine, AEROGPU_REG_SCANOUT0_FORMAT, AEROGPU_FORMAT_B8G8R8X8_UNORM);
    machine_write(s->machine, AEROGPU_REG_SCANOUT0_PITCH_BYTES, out->pitch);
    machine_write(s->machine, AEROGPU_REG_SCANOUT0_FB_GPA_LO, (uint32_t)out->address);
    machine_write(s->machine, AEROGPU_REG_SCANOUT0_FB_GPA_HI, (uint32_t)(out->address >> 32));
    machine_write(s->machine, AEROGPU_REG_SCANOUT0_ENABLE, 1);
    return true;
}

static void on_irq(void *ctx)
{
    struct stack *s = ctx;

    dxgk_interrupt(s->dxgk, 0);
}

/* ---- guest memory -------------------------------------------------------- */

static int dma_alloc(void *ctx, size_t size, void **va, uint64_t *pa)
{
    return stack_memory_alloc(((struct stack *)ctx)->memory, size, 0, va, pa);
}

static int dma_alloc_for(void *ctx, size_t size, uint64_t owner, void **va, uint64_t *pa)
{
    return stack_memory_alloc(((struct stack *)ctx)->memory, size, owner, va, pa);
}

static void dma_free(void *ctx, void *va, uint64_t pa, size_t size)
{
    (void)va;
    (void)size;
    stack_memory_free(((struct stack *)ctx)->memory, pa);
}

static void *dma_ptr(void *ctx, uint64_t pa, size_t size)
{
    return stack_memory_ptr(((struct stack *)ctx)->memory, pa, size);
}

static int dma_fd(void *ctx, uint64_t pa, size_t size, uint64_t *offset)
{
    (void)size;
    return stack_memory_fd(((struct stack *)ctx)->memory, pa, offset);
}

/* ---- faults -------------------------------------------------------------- */

static void wait_for_device(void *ctx, bool (*done)(void *arg), void *arg, uint64_t timeout_ns)
{
    machine_wait(((struct stack *)ctx)->machine, done, arg, timeout_ns);
}

static bool poll_begin(void *ctx)
{
    return machine_poll_begin(((struct stack *)ctx)->machine);
}

static void poll_end(void *ctx)
{
    machine_poll_end(((struct stack *)ctx)->machine);
}

enum { PREPARE_MS = 10000 };

static void prepare(void *ctx, uint64_t process)
{
    struct error e = {0};

    if (machine_prepare(((struct stack *)ctx)->machine, (uint32_t)process, PREPARE_MS, &e))
        log_warn("stack", "process %llu: %s", (unsigned long long)process, e.text);
}

/* Any thread of this process may be what a completion waits for: the device's, one that waits for it and serves it meanwhile, or whoever
 * has dxgkrnl's processor when the interrupt comes. A simulation has its own time. */
static void schedlook(void *ctx, uint64_t process, struct schedlook *out)
{
    struct machine *m = ((struct stack *)ctx)->machine;

    if (machine_loop(m))
        *out = (struct schedlook){0};
    else
        schedlook_read(machine_client_pid(m, (uint32_t)process), out);
}

static bool end_work(void *ctx, uint64_t process, bool hangs)
{
    return machine_end_work(((struct stack *)ctx)->machine, (uint32_t)process, hangs);
}

static void process_gone(void *ctx, uint64_t process)
{
    machine_client_gone(((struct stack *)ctx)->machine, (uint32_t)process);
}

static bool is_ending(void *ctx, uint64_t process)
{
    return machine_is_ending(((struct stack *)ctx)->machine, (uint32_t)process);
}

static uint64_t memory(void *ctx, uint64_t process)
{
    return machine_client_bytes(((struct stack *)ctx)->machine, (uint32_t)process);
}

static NTSTATUS inject(void *ctx, uint32_t fault, uint32_t value)
{
    struct stack *s = ctx;

    switch (fault) {
    case DXGK_FAULT_LOSE_DOORBELL:
        s->lost_doorbells = value;
        return STATUS_SUCCESS;
    case DXGK_FAULT_STALE_FENCE:
        machine_stale_fences(s->machine, value);
        return STATUS_SUCCESS;
    case DXGK_FAULT_KILL_EXECUTOR:
        return !value || !machine_kill_executor(s->machine) ? STATUS_SUCCESS : STATUS_DEVICE_NOT_READY;
    case DXGK_FAULT_STOP_EXECUTOR:
        return !machine_stop_executor(s->machine, value ? UINT64_MAX : 0) ? STATUS_SUCCESS
                                                                          : STATUS_DEVICE_NOT_READY;
    case DXGK_FAULT_LATE_EXECUTOR:
        return !machine_stop_executor(s->machine, value * NSEC_PER_USEC) ? STATUS_SUCCESS
                                                                         : STATUS_DEVICE_NOT_READY;
    default:
        return STATUS_NOT_SUPPORTED;
    }
}

/* ---- life cycle ---------------------------------------------------------- */

/* Threads of an executor and of what serves it, without the Vulkan driver's on a processor, which has one for each that there is; and what
 * the service has for itself. */
enum { THREADS_EACH = 12, THREADS_OWN = 24, MOST_CPUS = 32 };

/* Processes that may have an executor where the user may have so many threads and no more: what starts finds them all, or is refused. */
static uint32_t processes(void)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned left = tasks_left(), each = THREADS_EACH + (cpus < 1           ? 1u
                                                               : cpus > MOST_CPUS ? MOST_CPUS
                                                                                  : (unsigned)cpus);
    uint32_t n;

    if (left == UINT_MAX)
        return 0;
    n = left > THREADS_OWN + each ? (left - THREADS_OWN) / each : 1;
    if (n < 64)
        log_warn(
            "stack",
            "the user's limit of processes (ulimit -u) leaves room for %u executors: no more processes get devices",
            n);
    return n;
}

static void describe(struct stack *s, bool swapped, uint64_t work_memory)
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
                               .vector = DRIVER_MSI_DATA};
    s->bus = (struct dxgk_bus){.ctx = s,
                               .resources = s->resources,
                               .num_resources = 3,
                               .memory_size = machine_memory_end(s->machine),
                               .dma_size = machine_ram_size(s->machine),
                               .config_read = config_read,
                               .config_write = config_write,
                               .mmio_read = mmio_read,
                               .mmio_write = mmio_write,
                               .mmio_map = mmio_map,
                               .post_display = post_display,
                               .dma_alloc = dma_alloc,
                               .dma_alloc_for = dma_alloc_for,
                               .inject = inject,
                               .prepare = prepare,
                               .schedlook = schedlook,
                               .end_work = end_work,
                               .is_ending = is_ending,
                               .process_gone = process_gone,
                               .memory = machine_loop(s->machine) ? NULL : memory,
                               .processes = machine_loop(s->machine) ? 0 : processes(),
                               .work_memory = work_memory ? work_memory : private_memory_of_machine() / 2,
                               .wait = wait_for_device,
                               .poll_begin = poll_begin,
                               .poll_end = poll_end,
                               .dma_free = dma_free,
                               .dma_ptr = dma_ptr,
                               .dma_fd = dma_fd};
}

/* A miniport that closes what the machine is made of is named, before anything of it is missed. */
static void keep(const struct stack *s, bool keeps)
{
    int fds[8];
    unsigned n = machine_descriptors(s->machine, fds, sizeof(fds) / sizeof(fds[0]));

    for (unsigned i = 0; i < n; i++)
        dxgk_process_keep(fds[i], keeps);
}

int stack_create(struct stack **out, const struct stack_params *p, struct error *e)
{
    struct machine_params mp = p->machine;
    struct stack *s = calloc(1, sizeof(*s));
    const char *miniport;
    int r;

    *out = NULL;
    if (!s)
        return error_set(e, -ENOMEM, "no memory for the stack");
    mp.irq = NULL;
    r = machine_create(&s->machine, &mp, e);
    if (r)
        goto fail;
    r = stack_memory_create(&s->memory, s->machine);
    if (r) {
        error_set(e, r, "no memory for the stack");
        goto fail;
    }
    describe(s, p->bars_swapped, p->work_memory);
    r = dxgk_create(&s->dxgk,
                    &(struct dxgk_params){.clock = stack_clock(s),
                                          .loop = machine_loop(s->machine),
                                          .bus = &s->bus,
                                          .settings = p->settings,
                                          .service = "aerogpu",
                                          .umd = {[KMTUMDVERSION_DX9] = "aerogpu_d3d9_x64.dll",
                                                  [KMTUMDVERSION_DX10] = "aerogpu_d3d10_x64.dll",
                                                  [KMTUMDVERSION_DX11] = "aerogpu_d3d10_x64.dll"},
                                          .umd_wow = {[KMTUMDVERSION_DX9] = "aerogpu_d3d9.dll",
                                                      [KMTUMDVERSION_DX10] = "aerogpu_d3d10.dll",
                                                      [KMTUMDVERSION_DX11] = "aerogpu_d3d10.dll"},
                                          .on_event = p->on_event,
                                          .event_ctx = p->event_ctx},
                    e);
    if (r)
        goto fail;
    keep(s, true);
    machine_set_irq(s->machine, on_irq, s);
    driver_enable(s->machine, true);
    miniport = p->miniport ? p->miniport : getenv(STACK_MINIPORT_VARIABLE);
    r = miniport ? dxgk_load_file(s->dxgk, miniport, e) : dxgk_load(s->dxgk, DriverEntry, e);
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
    if (s->machine)
        keep(s, false);
    stack_memory_destroy(s->memory);
    machine_destroy(s->machine);
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
    return stack_memory_bytes(s->memory);
}
