/* SPDX-License-Identifier: MIT */
#include "cpu/model/event.h"

#include <string.h>

static const char *const kind_names[CPU_EV_COUNT] = {
#define NAME(name, text, operands) [CPU_EV_##name] = text,
    CPU_EVENT_KINDS(NAME)
#undef NAME
};

static const char *const irq_names[CPU_IRQ_COUNT] = {
#define NAME(name, text) [CPU_IRQ_##name] = text,
    CPU_IRQS(NAME)
#undef NAME
};

const char *cpu_event_kind_name(enum cpu_event_kind kind)
{
    return (unsigned)kind < CPU_EV_COUNT ? kind_names[kind] : "?";
}

const char *cpu_irq_name(enum cpu_irq irq)
{
    return (unsigned)irq < CPU_IRQ_COUNT ? irq_names[irq] : "?";
}

/* Kernel drivers whose fences stand for work of a GPU; those that only show pictures, share memory or compute are none. */
bool cpu_is_gpu_driver(const char *name)
{
    static const char *const gpus[] = {
        "amdgpu",     "radeon",   "i915",    "xe",  "nouveau", "nvidia",  "nvidia-drm", "v3d",     "vc4",
        "lima",       "panfrost", "panthor", "msm", "msm_drm", "etnaviv", "tegra",      "powervr", "asahi",
        "virtio_gpu", "vmwgfx",   "svga",    "qxl", "mali",    "kgsl",    "drm_sched"};

    for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++)
        if (!strcmp(name, gpus[i]))
            return true;
    return false;
}

uint32_t cpu_fence_of(const char *driver, const char *timeline)
{
    uint32_t hash = 5381;

    if (!*driver || !strncmp(driver, "dma_fence_", 10)) /* it holds others, of anybody */
        return CPU_FENCE_UNSAID;
    if (!cpu_is_gpu_driver(driver) || !strncmp(timeline, "CRTC:", 5) || !strncmp(timeline, "CONNECTOR:", 10))
        return CPU_FENCE_OTHER;
    if (!strcmp(driver, "drm_sched"))
        return CPU_FENCE_GPU;
    for (; *driver; driver++)
        hash = hash * 33 + (uint8_t)*driver;
    return (hash | 1) << 8 | CPU_FENCE_GPU;
}
