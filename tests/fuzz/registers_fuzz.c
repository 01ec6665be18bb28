/* SPDX-License-Identifier: MIT */
/* Fuzzes what a guest can do to the device: configuration space, both BARs and guest memory, with time
 * passing and completions arriving in between. The input is a list of commands of 12 bytes. The device's own
 * promises are checked besides what the sanitizers find. */
#include "fuzz.h"

#include <string.h>

#include "aerogpu/pci.h"
#include "base/bytes.h"
#include "gpu/gpu.h"

enum { RAM = 64 << 10, HELD = 64, MAX_COMMANDS = 4096 };

struct world {
    struct gpu *gpu;
    struct clock clock;
    uint8_t ram[RAM];
    uint64_t armed, held[HELD], fence, last_taken;
    uint32_t count;
    bool line;
};

static void *dma_map(void *ctx, uint64_t gpa, uint64_t size)
{
    struct world *w = ctx;

    must(size && gpa + size > gpa);
    return gpa < RAM && size <= RAM - gpa ? w->ram + gpa : NULL;
}

static void irq(void *ctx, const struct gpu_interrupt *i)
{
    struct world *w = ctx;

    if (i->kind == GPU_MSI)
        return;
    must(i->level != w->line); /* edges alternate */
    w->line = i->level;
}

static void arm_timer(void *ctx, uint64_t deadline_ns)
{
    ((struct world *)ctx)->armed = deadline_ns;
}

static int submit(void *ctx, const struct abi_submission *s)
{
    struct world *w = ctx;

    must(s->id > w->last_taken);
    must(!s->cmd_size == !s->cmd_gpa &&
         (!s->cmd_size || dma_map(w, s->cmd_gpa, s->cmd_size) || s->cmd_gpa >= AEROGPU_BAR1_SIZE));
    if (w->count == HELD)
        return -11; /* -EAGAIN */
    w->last_taken = s->id;
    w->held[w->count++] = s->id;
    return 0;
}

static void reset(void *ctx)
{
    ((struct world *)ctx)->fence = 0;
}

static void on_event(void *ctx, const struct gpu_event *e)
{
    struct world *w = ctx;

    if (e->kind != GPU_EVENT_FENCE)
        return;
    must(e->value > w->fence);
    w->fence = e->value;
}

static void complete(struct world *w, uint32_t which, uint32_t flags, uint32_t error)
{
    struct abi_completion c = {.flags = flags & 3, .error = error & 3, .has_fault = flags & 4};

    if (!w->count)
        return;
    which %= w->count;
    c.id = w->held[which];
    w->held[which] = w->held[--w->count];
    gpu_complete(w->gpu, &c);
}

static void show(struct world *w)
{
    struct gpu_picture p;

    if (!gpu_read_scanout(w->gpu, GPU_PICTURE_CURSOR, &p, NULL))
        free(p.rgba);
}

static void pass_time(struct world *w, uint32_t ns, bool timer)
{
    clock_advance_to(&w->clock, w->clock.virtual_ns + ns % 40000000);
    if (timer || w->armed <= w->clock.virtual_ns)
        gpu_timer(w->gpu);
}

static void command(struct world *w, uint8_t op, uint8_t size, uint16_t at, uint64_t value)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 3, 16, 0, 4};
    uint32_t n = sizes[size & 7];

    switch (op % 10) {
    case 0:
        gpu_config_write(w->gpu, at & 0x1FF, n, (uint32_t)value);
        break;
    case 1:
        gpu_config_read(w->gpu, at & 0x1FF, n);
        break;
    case 2:
    case 3:
        gpu_bar_write(w->gpu, 0, at & 0x7FF, n, value);
        break;
    case 4:
        gpu_bar_read(w->gpu, at & 1, at, n);
        break;
    case 5:
        memcpy(w->ram + at % (RAM - 8), &value, 8);
        break;
    case 6:
        complete(w, at, (uint32_t)value, (uint32_t)(value >> 32));
        break;
    case 7:
        pass_time(w, (uint32_t)value, at & 1);
        break;
    case 8:
        show(w);
        break;
    default:
        gpu_bar_write(w->gpu, 1, value, n, at);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct gpu_host_ops host = {dma_map, irq, arm_timer};
    static const struct gpu_backend_ops backend = {submit, reset};
    static struct world *w;
    struct gpu_observer observer = {.event = on_event};
    struct bytes b = bytes_of(data, size);

    if (!w)
        w = malloc(sizeof(*w));
    memset(w, 0, sizeof(*w));
    w->armed = GPU_NEVER;
    clock_init_virtual(&w->clock, 1);
    must(!gpu_create(
        &w->gpu,
        &(struct gpu_params){
            .host = &host, .host_ctx = w, .backend = &backend, .backend_ctx = w, .clock = &w->clock}));
    observer.ctx = w;
    gpu_observe(w->gpu, &observer);
    for (int i = 0; i < MAX_COMMANDS && bytes_left(&b) >= 12; i++) {
        uint8_t op = bytes_u8(&b), n = bytes_u8(&b);
        uint16_t at = bytes_u16(&b);
        command(w, op, n, at, bytes_u64(&b));
    }
    gpu_destroy(w->gpu);
    return 0;
}
