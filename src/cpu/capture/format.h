/* SPDX-License-Identifier: MIT */
/* format.h: the kernel's event `format` files.
 *
 * A format file is text: "name:", "ID:", then one "field:TYPE NAME; offset:N; size:N; signed:N;" a line.
 * Field order and offsets differ between events and kernels (cpu_idle is {state, cpu_id}, cpu_idle_miss is
 * {cpu_id, state, below}), so nothing about a layout is assumed: names are looked up here, once, and the page
 * decoder gets offsets.
 *
 * Source: Documentation/trace/events.rst of the Linux kernel.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CPU_FORMAT_MAX_FIELDS 48

struct cpu_field {
    char name[40];
    char type[56];
    uint32_t offset, size;
    bool is_signed;
    bool is_data_loc; /* a u32 {offset:16, length:16} that points to the bytes */
};

struct cpu_format {
    char name[64]; /* "" in header_page */
    uint32_t id;
    uint32_t num_fields;
    struct cpu_field fields[CPU_FORMAT_MAX_FIELDS];
};

/* Parses `text` (not NUL-terminated). 0, or -EINVAL with the line named. A file with no "ID:" line
 * (header_page) is fine. */
int cpu_format_parse(struct cpu_format *f, const char *text, size_t size, struct error *e);

const struct cpu_field *cpu_format_field(const struct cpu_format *f, const char *name);
