/* SPDX-License-Identifier: MIT */
/* gpu.c: an AeroGPU in a program of its own: what a PCI bus would see of it. */
#include <stdio.h>

#include <aerogpu/pci.h>
#include <gpu/gpu.h>

static void *dma_map(void *ctx, uint64_t gpa, uint64_t size)
{
    return NULL;
}

static void irq(void *ctx, const struct gpu_interrupt *i)
{
}

static void arm_timer(void *ctx, uint64_t deadline_ns)
{
}

static int submit(void *ctx, const struct abi_submission *s)
{
    return -1;
}

static void reset(void *ctx)
{
}

int main(void)
{
    static const struct gpu_host_ops host = {.dma_map = dma_map, .irq = irq, .arm_timer = arm_timer};
    static const struct gpu_backend_ops backend = {.submit = submit, .reset = reset};
    struct gpu *gpu = NULL;
    struct clock clock;
    int r;

    clock_init_live(&clock);
    r = gpu_create(&gpu, &(struct gpu_params){.host = &host, .backend = &backend, .clock = &clock});
    if (r)
        return 1;
    gpu_backend_ready(gpu); /* the border's other half is there, too */
    printf("PCI %04x:%04x\n", gpu_config_read(gpu, 0, 2), gpu_config_read(gpu, 2, 2));
    gpu_destroy(gpu);
    return 0;
}
