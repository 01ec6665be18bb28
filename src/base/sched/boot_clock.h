/* SPDX-License-Identifier: MIT */
/* boot_clock.h: whose clock a time is of.
 *
 * CLOCK_MONOTONIC counts from the boot of the machine, and in a time namespace (time_namespaces(7)) from elsewhere; the kernel's
 * traces know no namespaces. Times of two places can be compared only if both are of one boot and on the machine's own clock.
 */
#pragma once

#include <stdint.h>

#define BOOT_CLOCK_UNKNOWN INT64_MIN

/* Nanoseconds by which CLOCK_MONOTONIC of this process is ahead of the machine's: 0 but in a time namespace.
 * BOOT_CLOCK_UNKNOWN where /proc does not say. */
int64_t boot_clock_offset(void);

/* CLOCK_MONOTONIC of the machine, in nanoseconds; of this process where the offset is not known. */
uint64_t boot_clock_now(void);

/* The boot of this machine, as the kernel names it (/proc/sys/kernel/random/boot_id); "" if it does not. */
void boot_id(char out[40]);

/* As a dump says it: the number; "not known". */
void boot_clock_text(int64_t offset_ns, char out[24]);
