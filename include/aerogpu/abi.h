/* SPDX-License-Identifier: MIT */
/* abi.h: what every AeroGPU ABI header shares: the version and compile-time checks.
 *
 * The headers in this folder are the contract between guest and device, wire-compatible with the public AeroGPU ABI 1.4.
 * They include nothing but the C headers for fixed-width types, and compile as C and as C++. All values are little-endian.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define AEROGPU_ABI_MAJOR       1u /* differs: the other side cannot be spoken to */
#define AEROGPU_ABI_MINOR       4u /* differs: unknown opcodes and trailing bytes are skipped */
#define AEROGPU_ABI_VERSION_U32 ((AEROGPU_ABI_MAJOR << 16) | AEROGPU_ABI_MINOR)

#define AEROGPU_ABI_VERSION_MAJOR(v) ((uint32_t)(v) >> 16)
#define AEROGPU_ABI_VERSION_MINOR(v) ((uint32_t)(v)&0xFFFFu)

#ifdef __cplusplus
#define AEROGPU_STATIC_ASSERT(cond, text) static_assert(cond, text)
#else
#define AEROGPU_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif
