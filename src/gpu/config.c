/* SPDX-License-Identifier: MIT */
/* config.c: the PCI configuration space.
 *
 *   00 IDs │ 04 command, status │ 08 revision, class │ 10 BAR0 │ 14 BAR1 │ 2C subsystem │ 34 ▶ 50 │ 3C interrupt
 *   50 MSI capability: 64-bit address, one vector, no masking
 *
 * Everything else reads as zero and ignores writes. Of the command register the device implements memory
 * decoding, bus mastering and INTx disable.
 */

#include "gpu/internal.h"

enum {
    COMMAND_MEMORY = 0x2,
    COMMAND_MASTER = 0x4,
    COMMAND_INTX_OFF = 0x400,
    COMMAND_BITS = COMMAND_MEMORY | COMMAND_MASTER | COMMAND_INTX_OFF,
    STATUS_INTERRUPT = 0x8,
    STATUS_CAPABILITIES = 0x10,
    MSI_OFFSET = 0x50,
    MSI_ENABLE = 0x1,
    MSI_64BIT = 0x80,
    BAR_PREFETCHABLE = 0x8,
};

void gpu_config_init(struct gpu_config_space *c)
{
    *c = (struct gpu_config_space){.interrupt_line = 0xFF};
}

bool gpu_msi_enabled(const struct gpu *gpu)
{
    return gpu->config.msi_control & MSI_ENABLE;
}

uint64_t gpu_bar_address(struct gpu *gpu, unsigned bar)
{
    return bar <= 1 ? atomic_load_explicit(&gpu->config.bar[bar], memory_order_relaxed) : 0;
}

static uint32_t read_dword(const struct gpu *gpu, uint32_t offset)
{
    const struct gpu_config_space *c = &gpu->config;
    uint32_t status = STATUS_CAPABILITIES;

    switch (offset) {
    case 0x00:
        return AEROGPU_PCI_DEVICE_ID << 16 | AEROGPU_PCI_VENDOR_ID;
    case 0x04:
        if (gpu->irq_status & gpu->irq_enable)
            status |= STATUS_INTERRUPT; /* shows the cause whether or not INTx is disabled (PCI 3.0, 6.2.3) */
        return status << 16 | c->command;
    case 0x08:
        return AEROGPU_PCI_CLASS << 8;
    case 0x10:
        return c->bar[0];
    case 0x14:
        return c->bar[1] | BAR_PREFETCHABLE;
    case 0x2C:
        return AEROGPU_PCI_SUBSYSTEM_ID << 16 | AEROGPU_PCI_SUBSYSTEM_VENDOR_ID;
    case 0x34:
        return MSI_OFFSET;
    case 0x3C:
        return 1u << 8 | c->interrupt_line; /* INTA# */
    case MSI_OFFSET:
        return (uint32_t)(MSI_64BIT | c->msi_control) << 16 | 0x05;
    case MSI_OFFSET + 4:
        return (uint32_t)c->msi_address;
    case MSI_OFFSET + 8:
        return (uint32_t)(c->msi_address >> 32);
    case MSI_OFFSET + 12:
        return c->msi_data;
    }
    return 0;
}

static void write_dword(struct gpu *gpu, uint32_t offset, uint32_t value)
{
    struct gpu_config_space *c = &gpu->config;
    bool was_master = gpu_bus_master(gpu);

    switch (offset) {
    case 0x04:
        c->command = value & COMMAND_BITS;
        break;
    case 0x10:
        c->bar[0] = value & ~(AEROGPU_BAR0_SIZE - 1);
        return;
    case 0x14:
        c->bar[1] = value & ~(AEROGPU_BAR1_SIZE - 1);
        return;
    case 0x3C:
        c->interrupt_line = (uint8_t)value;
        return;
    case MSI_OFFSET:
        c->msi_control = (value >> 16) & MSI_ENABLE;
        break;
    case MSI_OFFSET + 4:
        c->msi_address = (c->msi_address & ~UINT64_C(0xFFFFFFFF)) | (value & ~3u);
        return;
    case MSI_OFFSET + 8:
        c->msi_address = (c->msi_address & 0xFFFFFFFF) | (uint64_t)value << 32;
        return;
    case MSI_OFFSET + 12:
        c->msi_data = (uint16_t)value;
        return;
    default:
        return;
    }
    if (!was_master && gpu_bus_master(gpu))
        gpu_dma_catch_up(gpu);
    gpu_irq_update(gpu, false);
}

void gpu_config_check(const struct gpu *gpu)
{
    const struct gpu_config_space *c = &gpu->config;

    INVARIANT(!(c->command & ~COMMAND_BITS));
    INVARIANT(!(c->bar[0] % AEROGPU_BAR0_SIZE) && !(c->bar[1] % AEROGPU_BAR1_SIZE));
    INVARIANT(!(c->msi_control & ~MSI_ENABLE) && !(c->msi_address & 3));
}

static bool legal(uint32_t offset, uint32_t size)
{
    return (size == 1 || size == 2 || size == 4) && offset <= 0x100 - size && (offset & 3) + size <= 4;
}

uint32_t gpu_config_read(struct gpu *gpu, uint32_t offset, uint32_t size)
{
    uint32_t value = UINT32_MAX;

    gpu_lock(gpu);
    if (legal(offset, size))
        value = read_dword(gpu, offset & ~3u) >> (8 * (offset & 3));
    gpu_unlock(gpu);
    return size < 4 ? value & ((1u << (8 * size)) - 1) : value;
}

void gpu_config_write(struct gpu *gpu, uint32_t offset, uint32_t size, uint32_t value)
{
    uint32_t shift = 8 * (offset & 3), mask;

    gpu_lock(gpu);
    if (legal(offset, size)) {
        mask = (size < 4 ? (1u << (8 * size)) - 1 : UINT32_MAX) << shift;
        /* Status bits that a byte access leaves alone are read-only here, so merging them in changes nothing.
         */
        write_dword(gpu, offset & ~3u, (read_dword(gpu, offset & ~3u) & ~mask) | ((value << shift) & mask));
    }
    gpu_unlock(gpu);
}
