/* SPDX-License-Identifier: MIT */
/* breadcrumbs.h: the guest's own markers and checkpoints (ext.h). */
#pragma once

#include <stdint.h>

#include <vulkan/vulkan.h>

struct breadcrumb_buffer;
struct exec_engine;

struct pending_breadcrumb {
    VkBuffer buffer;
    VkDeviceSize offset;
    uint32_t size;
    uint64_t data[2];
};

enum { BREADCRUMB_LIMIT = 64 };

struct breadcrumbs {
    struct breadcrumb_buffer *buffers;
    uint32_t num_buffers, num_pending;
    bool warned; /* of the limit */
    struct pending_breadcrumb pending[BREADCRUMB_LIMIT];
};

void exec_checkpoints_forget(struct exec_engine *g, uint32_t context);
/* All that was recorded before is waited for: what waits is written. */
void exec_breadcrumbs_behind_barrier(struct exec_engine *g);
/* The device is idle. */
void exec_breadcrumbs_forget_all(struct exec_engine *g);
