/* SPDX-License-Identifier: MIT */
/* text.h: figures as people read them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* "1.25 ms" and the like. */
const char *cpu_ns_text(uint64_t ns, char *buf, size_t cap);
/* The same, and 1234567 as "1,234,567"; each thread's last sixteen results of each live. */
const char *cpu_ns(uint64_t ns);
const char *cpu_num(uint64_t v);
const char *cpu_mask_text(const uint64_t *mask, uint32_t num_cpus, char *buf, size_t cap); /* "0-2,5" */
