/* SPDX-License-Identifier: MIT */
/* crashes.h: what many dumps share.
 *
 *   dumps ──add──▶ index (one SQLite file): one row per dump, its features with how many commands have them
 *   index ──▶ places (the shaders that were bound, or else the command), each with its kinds (the same path and cause);
 *             features ranked by how much more often they stand in the crashing region than elsewhere, factors by chance
 *
 * Invariants:
 *  1. A dump is read once: again only if its size or time changed. A dump that cannot be read has a row that says why;
 *     one whose tables meta, finding or usage are damaged counts in no group, and is named each time it is given.
 *  2. What stands everywhere ranks nowhere: a feature's score is its share of crashes times the logarithm of its lift over
 *     its share of all other commands of the same dumps. Factors (settings, devices, programs, versions) are compared with the dumps
 *     of other places, by Fisher's exact test: one ranks if among all that were compared chance would not bring forth its like
 *     (5 %).
 *  3. A ratio stands with its counts; where there is nothing to compare with, nothing is said about elsewhere.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

struct bb_crashes;

/* `path` is made if missing. */
int bb_crashes_open(struct bb_crashes **out, const char *path, struct error *e);
void bb_crashes_close(struct bb_crashes *c);

struct bb_crashes_added {
    uint64_t added, known, bad;
    uint64_t copies;                    /* of dumps that are counted already */
    void (*found_bad)(const char *why); /* for each, also if it is known; NULL: nobody asks */
};

/* A dump, or a folder of dumps (*.aerogpudump, at any depth). */
int bb_crashes_add(struct bb_crashes *c, const char *path, struct bb_crashes_added *added, struct error *e);

/* The groups, largest first, and the ranked features of each and of all. */
int bb_crashes_text(struct bb_crashes *c, struct strbuf *out, struct error *e);
int bb_crashes_json(struct bb_crashes *c, struct strbuf *out, struct error *e);
int bb_crashes_html(struct bb_crashes *c, struct strbuf *out, struct error *e);
