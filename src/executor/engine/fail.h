/* SPDX-License-Identifier: MIT */
/* fail.h: how a packet handler says what is wrong: each returns 0, or a negative errno after one of these. The first of a
 * submission counts. */
#pragma once

#include <stdint.h>

#include <vulkan/vulkan.h>

#include <aerogpu/pci.h>

#include "abi/submission.h"

struct exec_engine;

int exec_fail(struct exec_engine *g, uint32_t code, enum abi_cause cause, int err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
#define fail_decode(g, ...)      exec_fail(g, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_OTHER, -EBADMSG, __VA_ARGS__)
#define fail_decode_type(g, ...) exec_fail(g, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_TYPE, -EBADMSG, __VA_ARGS__)
#define fail_decode_alignment(g, ...)                                                                        \
    exec_fail(g, AEROGPU_ERROR_CMD_DECODE, ABI_CAUSE_MISALIGNED, -EBADMSG, __VA_ARGS__)
#define fail_oob(g, ...)     exec_fail(g, AEROGPU_ERROR_OOB, ABI_CAUSE_OTHER, -ERANGE, __VA_ARGS__)
#define fail_backend(g, ...) exec_fail(g, AEROGPU_ERROR_BACKEND, ABI_CAUSE_OTHER, -EIO, __VA_ARGS__)
#define fail_memory(g, ...)  exec_fail(g, AEROGPU_ERROR_BACKEND, ABI_CAUSE_MEMORY, -ENOMEM, __VA_ARGS__)
#define fail_backend_alignment(g, ...)                                                                       \
    exec_fail(g, AEROGPU_ERROR_BACKEND, ABI_CAUSE_MISALIGNED, -EIO, __VA_ARGS__)
/* "… is not guest memory" */
int exec_fail_dma(struct exec_engine *g, const char *what, uint64_t gpa, uint64_t size);
/* The Vulkan device's own word. */
int exec_fail_vulkan(struct exec_engine *g, const char *what, VkResult r);
