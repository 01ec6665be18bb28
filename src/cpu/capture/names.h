/* SPDX-License-Identifier: MIT */
/* names.h: names for the kernel addresses and threads that a recording mentions, found on the machine that recorded. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cpu/model/event.h"

struct cpu_names; /* the sets of addresses and threads that were seen */

struct cpu_names *cpu_names_create(void);
void cpu_names_destroy(struct cpu_names *n);
void cpu_names_event(struct cpu_names *n, const struct cpu_event *ev);

/* {"symbols": {"0x...": "name+0x12"}, "threads": {"123": "comm"}}. `kallsyms` is /proc/kallsyms but in tests, or NULL;
 * `saved_cmdlines` is tracefs' own list ("PID COMM" lines) for threads that are gone, or NULL; `proc`: /proc has
 * the same numbers for threads, and is asked, too. */
json_t *cpu_names_resolve(const struct cpu_names *n, FILE *kallsyms, const char *saved_cmdlines, bool proc);
