/* SPDX-License-Identifier: MIT */
/* ddmin.h: delta debugging: the smallest subset of n things for which something still happens.
 *
 *   all n ──▶ halves ──▶ quarters ──▶ … ──▶ single things ──▶ no single thing can go ──▶ done
 *               └── a subset still does it: go on with that ──┘
 *
 * The caller tests candidates, each a set of things that are kept. Several can be tested at a time: those that were handed
 * out and not answered are independent of each other, and when one of them succeeds the others are forgotten.
 *
 * Invariants:
 *  1. The current set always still does it: it is the whole set, or a candidate that was answered with true.
 *  2. When ddmin_next gives nothing and nothing is out, no single thing can be removed from the current set.
 *  3. The same answers give the same candidates: a run can be repeated from its list of answers (see ddmin_answers).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ddmin;

/* A set that is to be tested. */
struct ddmin_candidate {
    const uint8_t *keep; /* keep[i] of n; valid until it is answered */
    uint32_t num_kept;
    uint64_t ticket;
};

/* NULL without memory. n may be 0. */
struct ddmin *ddmin_create(uint32_t n);
void ddmin_destroy(struct ddmin *d);

/* The next candidate; false if there is none now: all that can be asked is out, or it is done. */
bool ddmin_next(struct ddmin *d, struct ddmin_candidate *c);

/* Whether the candidate still does it. Answers to tickets that were forgotten meanwhile are ignored; true is returned if
 * the current set became smaller. */
bool ddmin_answer(struct ddmin *d, uint64_t ticket, bool still);

/* True if the ticket need not be answered any more: its test can be broken off. */
bool ddmin_is_stale(const struct ddmin *d, uint64_t ticket);

bool ddmin_is_done(const struct ddmin *d);
const uint8_t *ddmin_current(const struct ddmin *d); /* keep[n] */
uint32_t ddmin_num_kept(const struct ddmin *d);
