/* SPDX-License-Identifier: MIT */
/* dirty.h: which pages of a span were written since the last look. Two methods behind one interface:
 *
 *   DIRTY_KERNEL  userfaultfd write-protection that the kernel resolves itself, collected and re-armed by one
 *                 PAGEMAP_SCAN (Linux 6.7). System calls that write into the span count too. Once more than a quarter
 *                 of a span was written between two looks, that span is compared by hash instead until it calms down.
 *   DIRTY_HASH    a hash of every page, compared at every look. Works everywhere; costs the same however little changed.
 *
 * Protected pages and a handler of faults are no third: a system call that writes into such a page fails or writes less, be it
 * the C library's own (fread), and so the recorded program is another.
 *
 * Invariant: a page that was written after dirty_add() and before dirty_collect() is reported by that collect or, if it
 * was written while collect ran, by the next one. Pages may be reported that were not written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dirty_method { DIRTY_AUTO, DIRTY_KERNEL, DIRTY_HASH };

#define DIRTY_PAGE 4096

struct dirty;
struct dirty_span;

struct dirty_run {
    uintptr_t start, end; /* page aligned */
};

/* DIRTY_AUTO takes the kernel's if it has it, else hashing. 0 or a negative errno (-ENOSYS: not on this system). */
int dirty_create(struct dirty **out, enum dirty_method method);
void dirty_destroy(struct dirty *d);
enum dirty_method dirty_method(const struct dirty *d);
const char *dirty_method_name(enum dirty_method m);

/* Watches the pages that [p, p+n) touches. Several spans may share pages only with DIRTY_HASH or in one span. */
int dirty_add(struct dirty *d, struct dirty_span **out, void *p, size_t n);
void dirty_remove(struct dirty *d, struct dirty_span *s);

/* Calls `fn` for every run of written pages and re-arms them. 0 or a negative errno. */
int dirty_collect(struct dirty *d, struct dirty_span *s, void (*fn)(void *ctx, struct dirty_run r),
                  void *ctx);
